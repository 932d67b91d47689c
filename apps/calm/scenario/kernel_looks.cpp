#include <string>
#include <vector>

#include "apps/calm/scenario/spec_fields.hpp"
#include "apps/calm/scenario/steps.hpp"
#include "calm/kernel/quiescence.hpp"
#include "calm/model/text.hpp"
#include "calm/trace/argument.hpp"

namespace calm::scenario {
namespace {

// The diagnostic must have every text that the step names.
void look_at_diagnostic(World& world, const Step& step, const kernel::Snapshot& snapshot) {
  if (step.find("says") == nullptr) return;
  const std::string text = kernel::diagnose(snapshot);
  for (const std::string& part : step.value<std::vector<std::string>>("says")) {
    if (text.find(part) == std::string::npos) world.differ(step, "says", part, text);
  }
}

// A witness like another one, with the parts that the step names.
Witness changed_witness(const World& world, const Step& step) {
  const auto like = world.witnesses.find(step.text("like"));
  if (like == world.witnesses.end()) {
    throw Problem(step.place, "a witness is taken \"of\" a task or made \"like\" another");
  }
  Witness witness = like->second;
  if (step.find("task") != nullptr) witness.task = world.task_in(step, "task");
  if (step.find("region") != nullptr) witness.region = world.region_in(step, "region");
  witness.epoch = {step.number("epoch", witness.epoch.value)};
  witness.phase = step.word("phase", witness.phase);
  if (const Reason* reason = reason_in(world, step, "reason")) witness.reason = *reason;
  return witness;
}

}  // namespace

void look_idle(World& world, const Step& step) {
  const kernel::Snapshot snapshot = world.kernel().snapshot(world.worker());
  world.expect_subject(step, std::string(to_string(kernel::idle(snapshot))));
  look_at_diagnostic(world, step, snapshot);
}

void look_quiescent(World& world, const Step& step) {
  const kernel::Snapshot snapshot = world.kernel().snapshot(world.worker());
  world.expect_subject(step, std::string(to_string(kernel::quiescent(snapshot))));
  look_at_diagnostic(world, step, snapshot);
}

void look_at_leaks(World& world, const Step& step) {
  world.expect_subject(step, std::to_string(world.kernel().leaks(world.worker())));
}

void look_at_dropped_tokens(World& world, const Step& step) {
  world.expect_subject(step, std::to_string(world.kernel().dropped_tokens(world.worker())));
}

void look_at_lost_events(World& world, const Step& step) {
  world.expect_subject(step, std::to_string(world.worker().lost_events()));
}

void look_at_overwritten(World& world, const Step& step) {
  world.read_trace();
  world.expect_subject(step, std::to_string(world.trace().overwritten));
}

void look_at_trace(World& world, const Step& step) {
  world.read_trace();
  const auto kind = static_cast<trace::EventKind>(std::get<std::uint64_t>(step.subject.value));
  std::string found;
  for (const trace::Event& event : world.trace().events) {
    if (event.kind == kind) append(found, event.task ? world.name_of(event.task) : world.name_of(event.region));
  }
  world.expect(step, "of", found.empty() ? "(none)" : found);
}

void look_at_moves(World& world, const Step& step) {
  world.read_trace();
  const RegionId region = world.region(step.subject.text);
  std::string found;
  for (const trace::Event& event : world.trace().events) {
    if (event.kind != trace::EventKind::region_move || event.region != region) continue;
    const auto move = trace::region_move_in(event.argument);
    if (!move) continue;
    if (found.empty()) append(found, std::string(to_string(move->from)));
    append(found, std::string(to_string(move->to)));
  }
  world.expect(step, "through", found.empty() ? "(none)" : found);
}

void mark_state(World& world, const Step& step) { world.marks[step.subject.text] = world.digest(); }

void look_same_state(World& world, const Step& step) {
  if (world.marks[step.subject.text] == world.digest()) return;
  world.differ(step, "state", "as at the mark", "another state digest");
}

void take_witness(World& world, const Step& step) {
  if (step.find("of") == nullptr) {
    world.witnesses[step.subject.text] = changed_witness(world, step);
    return;
  }
  const auto taken = world.kernel().witness_of(world.worker(), world.task_in(step, "of"));
  if (!taken) return world.differ(step, "of", "a witness of " + std::string(step.text("of")), "none");
  world.witnesses[step.subject.text] = *taken;
  world.expect(step, "task", world.name_of(taken->task));
  world.expect(step, "region", world.name_of(taken->region));
  world.expect(step, "epoch", taken->epoch.value);
  world.expect(step, "phase", std::string(to_string(taken->phase)));
}

Status check_witness(World& world, const Step& step) {
  const auto before = world.witnesses.find(step.subject.text);
  const auto after = world.witnesses.find(step.text("then"));
  if (before == world.witnesses.end() || after == world.witnesses.end()) {
    throw Problem(step.place, "one of the witnesses was not taken");
  }
  return check_step(before->second, after->second);
}

}  // namespace calm::scenario
