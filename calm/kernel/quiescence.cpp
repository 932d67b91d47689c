#include "calm/kernel/quiescence.hpp"

#include <algorithm>
#include <string_view>

#include "calm/kernel/explain.hpp"
#include "calm/kernel/snapshot_index.hpp"
#include "calm/kernel/view_text.hpp"

namespace calm::kernel {
namespace {

struct Clause {
  Errc error;
  bool (*fails)(const Snapshot& snapshot) noexcept;
};

bool a_task_is_alive(const Snapshot& snapshot) noexcept {
  return std::any_of(snapshot.tasks.begin(), snapshot.tasks.end(), is_alive);
}

bool a_promise_is_open(const Snapshot& snapshot) noexcept {
  const auto reserved = [](const ObligationView& promise) { return promise.state == ObligationState::reserved; };
  const auto counts = [](const TaskView& task) { return counted_total(task) != 0; };
  return std::any_of(snapshot.obligations.begin(), snapshot.obligations.end(), reserved) ||
         std::any_of(snapshot.tasks.begin(), snapshot.tasks.end(), counts);
}

bool a_region_is_not_closed(const Snapshot& snapshot) noexcept {
  return std::any_of(snapshot.regions.begin(), snapshot.regions.end(),
                     [](const RegionView& region) { return region.state != RegionState::closed; });
}

bool a_timer_is_armed(const Snapshot& snapshot) noexcept { return snapshot.pending_timers != 0; }
bool a_channel_holds_messages(const Snapshot& snapshot) noexcept { return snapshot.undrained_channels != 0; }

bool a_poll_is_due(const Snapshot& snapshot) noexcept {
  return std::any_of(snapshot.tasks.begin(), snapshot.tasks.end(), is_runnable);
}

bool a_service_works(const Snapshot& snapshot) noexcept {
  return std::any_of(snapshot.obligations.begin(), snapshot.obligations.end(), [](const ObligationView& promise) {
    return promise.state == ObligationState::reserved && promise.holder.service != Service::none;
  });
}

constexpr Clause idle_clauses[] = {
    {Errc::tasks_still_active, a_poll_is_due},
    {Errc::obligations_unresolved, a_service_works},
    {Errc::timers_pending, a_timer_is_armed},
};

// QUI-1, in the order in which the check names them.
constexpr Clause quiet_clauses[] = {
    {Errc::tasks_still_active, a_task_is_alive},           {Errc::obligations_unresolved, a_promise_is_open},
    {Errc::regions_not_closed, a_region_is_not_closed},    {Errc::timers_pending, a_timer_is_armed},
    {Errc::channel_not_drained, a_channel_holds_messages},
};

std::string headline(const Snapshot& snapshot, const std::vector<Errc>& failing) {
  std::string text = "calm: not quiet at " + to_string(snapshot.now);
  std::string_view before = ": ";
  for (const Errc error : failing) {
    text.append(before).append(to_string(error));
    before = ", ";
  }
  return text;
}

void add_tasks(std::string& text, const Snapshot& snapshot, const SnapshotIndex& index) {
  for (const TaskView& task : snapshot.tasks) {
    if (is_alive(task)) text.append("\n  live: ").append(straggler_text(snapshot, index, task));
  }
}

void add_promises_of_no_task(std::string& text, const Snapshot& snapshot) {
  for (const ObligationView& promise : snapshot.obligations) {
    if (promise.state != ObligationState::reserved || promise.holder.is_task()) continue;
    text.append("\n  held: ").append(obligation_text(promise)).append(" of ").append(snapshot.path_of(promise.region));
    text.append(" by ").append(to_string(promise.holder));
  }
}

void add_regions(std::string& text, const Snapshot& snapshot, const SnapshotIndex& index) {
  for (const RegionView& region : snapshot.regions) {
    if (region.state == RegionState::closed) continue;
    text.append("\n  open: ").append(snapshot.path_of(region.id)).append(" ").append(to_string(region.state));
    text.append(", ").append(waits_text(index, region));
  }
}

void add_host_counts(std::string& text, const Snapshot& snapshot) {
  if (snapshot.pending_timers != 0) {
    text.append("\n  time: ").append(counted_noun(snapshot.pending_timers, "timer")).append(" pending");
  }
  if (snapshot.undrained_channels != 0) {
    text.append("\n  chan: ").append(counted_noun(snapshot.undrained_channels, "channel")).append(" not drained");
  }
}

}  // namespace

Status idle(const Snapshot& snapshot) noexcept {
  for (const Clause& clause : idle_clauses) {
    if (clause.fails(snapshot)) return clause.error;
  }
  return {};
}

Status quiescent(const Snapshot& snapshot) noexcept {
  for (const Clause& clause : quiet_clauses) {
    if (clause.fails(snapshot)) return clause.error;
  }
  return {};
}

std::vector<Errc> failing_clauses(const Snapshot& snapshot) {
  std::vector<Errc> failing;
  for (const Clause& clause : quiet_clauses) {
    if (clause.fails(snapshot)) failing.push_back(clause.error);
  }
  return failing;
}

std::string diagnose(const Snapshot& snapshot) {
  const std::vector<Errc> failing = failing_clauses(snapshot);
  if (failing.empty()) return "calm: quiet at " + to_string(snapshot.now);
  const SnapshotIndex index(snapshot);
  std::string text = headline(snapshot, failing);
  add_tasks(text, snapshot, index);
  add_promises_of_no_task(text, snapshot);
  add_regions(text, snapshot, index);
  add_host_counts(text, snapshot);
  text.append(
      "\n  law:  QUI-1 quiet is: no active task, no reserved obligation, all regions Closed, no timer, no message");
  text.append(idle(snapshot) ? "\n  next: nothing here moves by itself; wake, cancel or resolve what is named above"
                             : "\n  next: something is still on its way; look again, or cancel what is named above");
  return text;
}

}  // namespace calm::kernel
