#include <optional>
#include <string>

#include "apps/calm/scenario/steps.hpp"
#include "apps/calm/scenario/words.hpp"

namespace calm::scenario {
namespace {

template <class Optional>
std::string word_or(const Optional& value, std::string_view otherwise) {
  return std::string(value ? to_string(*value) : otherwise);
}

std::string chain_of(const Reason& reason) {
  std::string text;
  for (const ReasonLevel& level : reason.levels()) text.append(text.empty() ? "" : ", ").append(to_string(level.kind));
  return text;
}

/// What a look can ask of a cancellation, of a region or of a task.
struct CancelLook {
  Reason reason{};
  Epoch epoch{};
  Budget cleanup{};
};

void look_at_cancellation(World& world, const Step& step, const CancelLook& cancellation) {
  const Reason& reason = cancellation.reason;
  world.expect(step, "epoch", cancellation.epoch.value);
  world.expect(step, "reason", std::string(reason ? to_string(reason.kind()) : "none"));
  for (const std::string_view key :
       {"severity", "message", "chain", "truncated", "by_region", "by_task", "at", "cleanup"}) {
    if (!reason && step.find(key) != nullptr) world.expect(step, key, std::string("none, it was not cancelled"));
  }
  if (!reason) return;
  world.expect(step, "severity", std::uint64_t{reason.severity()});
  world.expect(step, "message", std::string(reason.message()));
  world.expect(step, "chain", chain_of(reason));
  world.expect(step, "truncated", reason.truncated());
  world.expect(step, "by_region", world.name_of(reason.region()));
  world.expect(step, "by_task", world.name_of(reason.task()));
  world.expect(step, "at", to_string(reason.at()));
  world.expect(step, "cleanup", to_string(cancellation.cleanup));
}

std::string ledger_text(const Ledger& ledger) {
  std::string text;
  for (const Word& kind : words_of(WordSet::obligation_kind)) {
    const std::uint32_t open = ledger.open(static_cast<ObligationKind>(kind.number));
    if (open == 0) continue;
    text.append(text.empty() ? "" : ", ").append(kind.name).append(" ").append(std::to_string(open));
  }
  return text.empty() ? "(none)" : text;
}

std::string counted_text(const kernel::TaskView& task) {
  Ledger ledger;
  for (std::size_t i = 0; i < kernel::counted_kind_count; ++i) {
    for (std::uint16_t n = 0; n < task.counted[i]; ++n) (void)ledger.reserve(kernel::counted_kinds[i]);
  }
  return ledger_text(ledger);
}

void look_at_end(World& world, const Step& step, const std::optional<ChildEnd>& end) {
  world.expect(step, "outcome", std::string(end ? to_string(end->kind()) : "none"));
  world.expect(step, "error", end && end->is_err() ? std::string(to_string(end->error().code())) : "no error");
  world.expect(step, "ends_by",
               end && end->is_cancelled() ? std::string(to_string(end->reason().kind())) : "no reason");
}

void look_at_view(World& world, const Step& step, const kernel::RegionView& view) {
  world.expect(step, "live_tasks", view.live_tasks);
  world.expect(step, "live_regions", view.live_regions);
  world.expect(step, "live_cleanup", view.live_cleanup);
  world.expect(step, "finalizers", view.waiting_finalizers);
  world.expect(step, "body", view.body);
  world.expect(step, "budget", to_string(view.budget));
  world.expect(step, "ledger", ledger_text(view.ledger));
  world.expect(step, "leaked", view.leaked);
  world.expect(step, "heap_bytes", view.heap_bytes);
}

void look_at_view(World& world, const Step& step, const kernel::TaskView& view) {
  world.expect(step, "started", view.started);
  world.expect(step, "forced", view.forced);
  world.expect(step, "mask_depth", std::uint64_t{view.mask_depth});
  world.expect(step, "counted", counted_text(view));
  for (const Word& word : words_of(WordSet::wake_state)) {
    if (word.number == static_cast<std::uint64_t>(view.wake)) world.expect(step, "wake", std::string(word.name));
  }
}

// A look at a record that is gone: what only the record knows cannot be as the step says.
void look_at_nothing(World& world, const Step& step, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) world.expect(step, key, std::string("the record is gone"));
}

std::string holder_text(const World& world, const kernel::Holder& holder) {
  switch (holder.service) {
    case kernel::Service::none:
      break;
    case kernel::Service::reactor:
      return "reactor";
    case kernel::Service::lease_keeper:
      return "lease keeper";
  }
  return holder.task ? world.name_of(holder.task) : "nobody";
}

}  // namespace

void look_at_region(World& world, const Step& step) {
  const RegionId id = world.region(step.subject.text);
  const kernel::Snapshot snapshot = world.kernel().snapshot(world.worker());
  const kernel::RegionView* view = snapshot.find(id);
  world.expect(step, "state", std::string(to_string(world.kernel().state(id))));
  look_at_end(world, step, world.kernel().end_of(world.worker(), id));
  const Reason reason = world.kernel().reason_of(world.worker(), id);
  look_at_cancellation(world, step,
                       {reason, view == nullptr ? Epoch() : view->epoch, reason ? reason.cleanup() : Budget()});
  if (view != nullptr) return look_at_view(world, step, *view);
  look_at_nothing(
      world, step,
      {"live_tasks", "live_regions", "live_cleanup", "finalizers", "body", "budget", "ledger", "leaked", "heap_bytes"});
}

void look_at_task(World& world, const Step& step) {
  const TaskId id = world.task(step.subject.text);
  const kernel::Snapshot snapshot = world.kernel().snapshot(world.worker());
  const auto left = world.kernel().budget_of(id);
  const auto witness = world.kernel().witness_of(world.worker(), id);
  const auto cancellation = world.kernel().cancellation_of(world.worker(), id);
  world.expect(step, "state", std::string(to_string(world.kernel().state(id))));
  world.expect(step, "outcome", word_or(world.kernel().outcome_of(id), "none"));
  world.expect(step, "left", left ? to_string(*left) : "the record is gone");
  world.expect(step, "requested", world.kernel().is_cancel_requested(id));
  world.expect(step, "witness", std::string(witness ? to_string(witness->phase) : "none"));
  look_at_cancellation(
      world, step,
      cancellation ? CancelLook{cancellation->reason, cancellation->epoch, cancellation->cleanup} : CancelLook{});
  if (const kernel::TaskView* view = snapshot.find(id)) return look_at_view(world, step, *view);
  look_at_nothing(world, step, {"started", "forced", "mask_depth", "counted", "wake"});
}

void look_at_obligation(World& world, const Step& step) {
  const ObligationId id = world.obligation(step.subject.text);
  const kernel::Snapshot snapshot = world.kernel().snapshot(world.worker());
  world.expect(step, "state", word_or(world.kernel().state(world.worker(), id), "gone"));
  const kernel::ObligationView* view = snapshot.find(id);
  if (view == nullptr) return look_at_nothing(world, step, {"kind", "holder"});
  world.expect(step, "kind", std::string(to_string(view->kind)));
  world.expect(step, "holder", holder_text(world, view->holder));
}

}  // namespace calm::scenario
