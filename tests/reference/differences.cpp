#include "differences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "calm/kernel/view_text.hpp"

namespace calm::reference {
namespace {

using kernel::wake_text;

template <class T>
std::string show(const T& value) {
  if constexpr (std::is_same_v<T, lockfree::WakeState>) {
    return std::string(wake_text(value));
  } else if constexpr (requires { std::string(to_string(value)); }) {
    return std::string(to_string(value));
  } else if constexpr (std::is_integral_v<T>) {
    return fmt::format("{}", value);
  } else if constexpr (std::is_enum_v<T>) {
    return fmt::format("{}", static_cast<int>(value));
  } else if constexpr (requires { value.has_value(); }) {
    return value ? show(*value) : "none";
  } else {
    return "another value";
  }
}

std::string show(const Reason& reason) { return reason ? reason.explain() : "none"; }

std::string show(const Ledger& ledger) {
  std::string text;
  for (const ObligationKindRow& row : obligation_kind_table) {
    if (ledger.open(row.kind) > 0) text += fmt::format("{} {} ", ledger.open(row.kind), row.name);
  }
  return text.empty() ? "zero" : text;
}

/// Collects the fields that differ in one record.
class Fields {
 public:
  explicit Fields(std::string& out) : out_(out) {}

  template <class T, class Id>
  void check(Id id, const char* field, const T& kernel, const T& model) {
    if (kernel == model) [[likely]]
      return;
    out_ += fmt::format("  {} {}: kernel {}, model {}\n", to_string(id), field, show(kernel), show(model));
  }

 private:
  std::string& out_;
};

void compare(Fields fields, const kernel::RegionView& a, const kernel::RegionView& b, std::string& out) {
  fields.check(a.id, "parent", a.parent, b.parent);
  fields.check(a.id, "state", a.state, b.state);
  fields.check(a.id, "creation", a.creation, b.creation);
  fields.check(a.id, "children_made", a.children_made, b.children_made);
  fields.check(a.id, "live_tasks", a.live_tasks, b.live_tasks);
  fields.check(a.id, "live_regions", a.live_regions, b.live_regions);
  fields.check(a.id, "live_cleanup", a.live_cleanup, b.live_cleanup);
  fields.check(a.id, "waiting_finalizers", a.waiting_finalizers, b.waiting_finalizers);
  fields.check(a.id, "body", a.body, b.body);
  fields.check(a.id, "handle", a.handle, b.handle);
  fields.check(a.id, "owner", a.owner, b.owner);
  fields.check(a.id, "budget", a.budget, b.budget);
  fields.check(a.id, "policy", a.policy, b.policy);
  fields.check(a.id, "reason", a.reason, b.reason);
  fields.check(a.id, "epoch", a.epoch, b.epoch);
  fields.check(a.id, "cleanup", a.cleanup, b.cleanup);
  fields.check(a.id, "ledger", a.ledger, b.ledger);
  fields.check(a.id, "leaked", a.leaked, b.leaked);
  fields.check(a.id, "heap_bytes", a.heap_bytes, b.heap_bytes);
  if (!same_end(a.end, b.end)) {
    out += fmt::format("  {} end: kernel {}, model {}\n", to_string(a.id), a.end.explain(), b.end.explain());
  }
}

void compare(Fields fields, const kernel::TaskView& a, const kernel::TaskView& b, std::string&) {
  fields.check(a.id, "region", a.region, b.region);
  fields.check(a.id, "state", a.state, b.state);
  fields.check(a.id, "wake", a.wake, b.wake);
  fields.check(a.id, "creation", a.creation, b.creation);
  fields.check(a.id, "left", a.left, b.left);
  fields.check(a.id, "cleanup", a.cleanup, b.cleanup);
  fields.check(a.id, "started", a.started, b.started);
  fields.check(a.id, "forced", a.forced, b.forced);
  fields.check(a.id, "mask_depth", a.mask_depth, b.mask_depth);
  fields.check(a.id, "cleanup_polls", a.cleanup_polls, b.cleanup_polls);
  fields.check(a.id, "cleanup_quota", a.cleanup_quota, b.cleanup_quota);
  fields.check(a.id, "reason", a.reason, b.reason);
  fields.check(a.id, "epoch", a.epoch, b.epoch);
  fields.check(a.id, "outcome", a.outcome, b.outcome);
  for (std::size_t kind = 0; kind < kernel::counted_kind_count; ++kind) {
    fields.check(a.id, "counted", a.counted[kind], b.counted[kind]);
  }
}

void compare(Fields fields, const kernel::ObligationView& a, const kernel::ObligationView& b, std::string&) {
  fields.check(a.id, "region", a.region, b.region);
  fields.check(a.id, "kind", a.kind, b.kind);
  fields.check(a.id, "state", a.state, b.state);
  fields.check(a.id, "holder", a.holder, b.holder);
  fields.check(a.id, "resource", a.resource, b.resource);
  fields.check(a.id, "since", a.since, b.since);
}

/// Both are sorted by id.
template <class View>
void compare_all(const std::vector<View>& kernel, const std::vector<View>& model, std::string& out) {
  std::size_t i = 0;
  std::size_t k = 0;
  while (i < kernel.size() || k < model.size()) {
    if (k == model.size() || (i < kernel.size() && kernel[i].id < model[k].id)) {
      out += fmt::format("  {}: only the kernel has it\n", to_string(kernel[i++].id));
    } else if (i == kernel.size() || model[k].id < kernel[i].id) {
      out += fmt::format("  {}: only the model has it\n", to_string(model[k++].id));
    } else {
      compare(Fields(out), kernel[i++], model[k++], out);
    }
  }
}

bool same_notes(const Notes& a, const Notes& b) {
  const auto within = [](const Notes& few, const Notes& many) {
    return std::all_of(few.begin(), few.end(),
                       [&](const Note& note) { return std::find(many.begin(), many.end(), note) != many.end(); });
  };
  if (a.empty() && b.empty()) return true;
  return a.size() == b.size() && a.incomplete() == b.incomplete() && within(a, b);
}

bool same_finding(const kernel::Finding& a, const kernel::Finding& b) {
  return a.kind == b.kind && a.region == b.region && a.task == b.task && a.obligation == b.obligation &&
         a.obligation_kind == b.obligation_kind && a.count == b.count && a.in_call == b.in_call &&
         a.must_fail == b.must_fail;
}

std::string show(const kernel::Finding& finding) {
  return fmt::format("{}{}: {} {} {} {} x{}{}", to_string(finding.kind), finding.in_call ? " in a call" : "",
                     to_string(finding.region), to_string(finding.task), to_string(finding.obligation),
                     to_string(finding.obligation_kind), finding.count, finding.must_fail ? " must fail" : "");
}

std::string show(const std::pair<TaskId, Time>& watch) {
  return fmt::format("{} until {}", to_string(watch.first), to_string(watch.second));
}

template <class List, class Same>
void compare_lists(const char* what, const List& kernel, const List& model, Same same, std::string& out) {
  if (kernel.size() == model.size() && std::equal(kernel.begin(), kernel.end(), model.begin(), same)) return;
  out += fmt::format("  {}: kernel [", what);
  for (const auto& entry : kernel) out += show(entry) + ", ";
  out += "], model [";
  for (const auto& entry : model) out += show(entry) + ", ";
  out += "]\n";
}

}  // namespace

bool same_end(const ChildEnd& a, const ChildEnd& b) {
  if (a.kind() != b.kind() || !same_notes(a.notes(), b.notes())) return false;
  switch (a.kind()) {
    case OutcomeKind::ok:
      return true;
    case OutcomeKind::err:
      return a.error().code() == b.error().code();
    case OutcomeKind::cancelled:
      return a.reason() == b.reason();
    case OutcomeKind::panicked:
      break;
  }
  return a.panic() == b.panic() || a.panic().what() == b.panic().what();
}

std::string differences(const kernel::Snapshot& kernel, const kernel::Snapshot& model) {
  std::string out;
  if (kernel.now != model.now) out += "  now differs\n";
  compare_all(kernel.regions, model.regions, out);
  compare_all(kernel.tasks, model.tasks, out);
  compare_all(kernel.obligations, model.obligations, out);
  return out;
}

std::string differences(const Told& kernel, const Told& model) {
  std::string out;
  compare_lists("scheduled", kernel.scheduled, model.scheduled, std::equal_to<>(), out);
  compare_lists("watched", kernel.watched, model.watched, std::equal_to<>(), out);
  compare_lists("found", kernel.found, model.found, same_finding, out);
  return out;
}

}  // namespace calm::reference
