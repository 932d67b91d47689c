#include "calm/lab/lane_choice.hpp"

#include <algorithm>
#include <array>

#include "calm/check/require.hpp"
#include "calm/cx/context.hpp"

namespace calm::lab {
namespace {

constexpr std::string_view suggestion_mark = "governor suggestion";
constexpr std::string_view constraint_mark = "governor constraint";
constexpr std::string_view term_marks[] = {"governor potential of tasks", "governor potential of obligations",
                                           "governor potential of finalizers", "governor potential of deadlines"};
constexpr std::string_view candidate_marks[] = {"governor candidate none", "governor candidate meet-deadlines",
                                                "governor candidate drain-obligations",
                                                "governor candidate drain-regions"};
static_assert(std::size(candidate_marks) == sched::suggestion_count);

/// The terms in the order of their marks.
template <class P>
auto terms_of(P& potential) noexcept {
  return std::array{&potential.tasks, &potential.obligations, &potential.finalizers, &potential.deadlines};
}

}  // namespace

std::uint32_t LaneChoice::next(const std::deque<Ready>& ready) {
  const OwnMemory own;
  let_in(ready);
  const sched::Decision* const decision = steering_.steer(lanes_, [this] {
    kernel::Worker& worker = kernel_.worker(0);
    sched::Outlook outlook = sched::outlook_of(kernel_.snapshot(worker));
    sched::add_lanes(outlook, lanes_, 0, worker.now());
    return outlook;
  });
  if (decision != nullptr) record(*decision);

  const bool others = lanes_.size() != lanes_.size(sched::Lane::cancel);
  const sched::Pick pick = lanes_.choose(false);
  const TaskId task = (ties_ ? ties_->take(lanes_, pick) : lanes_.take(pick)).id();
  lanes_.verify();
  const auto waited = waiting_.find(task);
  CALM_INVARIANT(SCH_1, waited != waiting_.end(), task.bits());
  dispatches_.push_back({.task = task,
                         .lane = waited->second.lane,
                         .waited = dispatches_.size() - waited->second.since,
                         .bound = waited->second.bound,
                         .limit = lanes_.limit(),
                         .others = others});
  waiting_.erase(waited);
  known_ = ready.size() - 1;
  const auto at = std::find_if(ready.begin(), ready.end(), [task](const Ready& one) { return one.task == task; });
  return static_cast<std::uint32_t>(at - ready.begin());
}

void LaneChoice::let_in(const std::deque<Ready>& ready) {
  for (; known_ != ready.size(); ++known_) {
    auto* const task = kernel_.find(ready[known_].task);
    CALM_INVARIANT(TSK_6, task != nullptr, ready[known_].task.bits());
    lanes_.push(*task);
    waiting_[ready[known_].task] = {.lane = sched::lane_of(*task),
                                    .since = dispatches_.size(),
                                    .bound = sched::ready_bound(lanes_.size(sched::Lane::ready))};
  }
}

void LaneChoice::record(const sched::Decision& decision) {
  mark(suggestion_mark, static_cast<std::uint8_t>(decision.suggestion));
  mark(constraint_mark, static_cast<std::uint8_t>(decision.constraint));
  const auto terms = terms_of(decision.potential);
  for (std::size_t i = 0; i < terms.size(); ++i) mark(term_marks[i], *terms[i]);
  if (!decision.compared) return;
  for (std::size_t i = 0; i < decision.candidates.size(); ++i) mark(candidate_marks[i], decision.candidates[i]);
}

void LaneChoice::mark(std::string_view name, std::uint64_t value) {
  const trace::ResourceId resource = cx::mark_resource(name);
  kernel_.worker(0).record({.kind = trace::EventKind::mark, .resource = resource, .argument = value});
  port_.marked(resource, name);
}

std::vector<sched::Decision> decisions_of(const trace::Trace& trace) {
  std::vector<sched::Decision> decisions;
  for (const trace::Event& event : trace.events) {
    if (event.kind != trace::EventKind::mark || event.task) continue;
    const auto is = [&event](std::string_view name) { return event.resource == cx::mark_resource(name); };
    if (is(suggestion_mark)) {
      decisions.emplace_back().suggestion = static_cast<sched::Suggestion>(event.argument);
      continue;
    }
    if (decisions.empty()) continue;
    sched::Decision& decision = decisions.back();
    if (is(constraint_mark)) decision.constraint = static_cast<sched::Constraint>(event.argument);
    const auto terms = terms_of(decision.potential);
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (is(term_marks[i])) *terms[i] = event.argument;
    }
    for (std::size_t i = 0; i < decision.candidates.size(); ++i) {
      if (!is(candidate_marks[i])) continue;
      decision.candidates[i] = event.argument;
      decision.compared = true;
    }
  }
  return decisions;
}

}  // namespace calm::lab
