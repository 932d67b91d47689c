// fold.hpp — how the ends of a region's children become the end of the region.
// Laws:    OUT-4
// Threads: pure functions
// Cancel:  decides which end makes a region cancel the others with FailFast
#pragma once

#include <cstdint>
#include <utility>

#include "calm/model/cancel_kind.hpp"
#include "calm/model/id.hpp"
#include "calm/model/outcome.hpp"

namespace calm {

/// What a region does when a child fails. The fold is the same under all of them, so each is monotone.
enum class FoldPolicy : std::uint8_t {
  fail_fast,   ///< the first failure cancels the other children (default)
  collect,     ///< wait for all
  supervised,  ///< as collect; a supervisor restarts children and gives the end of the last life as the child's end
};

/// The end of one child with its value dropped: the body, a task or a child region.
using ChildEnd = Outcome<void>;

/// Gives: true when a child of `region` ended because the region itself stopped it with FailFast or RaceLost, directly or
/// through ParentCancelled. Such an end says nothing new and is left out of the fold.
inline bool stopped_by_own_region(const ChildEnd& end, RegionId region) noexcept {
  if (!end.is_cancelled()) return false;
  for (const ReasonLevel& level : end.reason().levels()) {
    if (level.kind == CancelKind::parent_cancelled) continue;
    return level.region == region && (level.kind == CancelKind::fail_fast || level.kind == CancelKind::race_lost);
  }
  return false;
}

/// Who a child is, as a reason that the child itself gave would name its origin: (its region, the task), or for a child
/// region (that region, no task).
struct ChildOrigin {
  RegionId region{};
  TaskId task{};
};

/// Gives: true when this end is the child's own failure: Err, Panicked, or Cancelled by its own Timeout, Deadline, PollQuota
/// or CostBudget.
inline bool is_failure(const ChildEnd& end, ChildOrigin child) noexcept {
  if (end.is_err() || end.is_panicked()) return true;
  if (!end.is_cancelled()) return false;
  const Reason& reason = end.reason();
  const bool own = reason.region() == child.region && reason.task() == child.task;
  switch (reason.kind()) {
    case CancelKind::timeout:
    case CancelKind::deadline:
    case CancelKind::poll_quota:
    case CancelKind::cost_budget:
      return own;
    case CancelKind::user:
    case CancelKind::fail_fast:
    case CancelKind::race_lost:
    case CancelKind::linked_exit:
    case CancelKind::parent_cancelled:
    case CancelKind::resource_unavailable:
    case CancelKind::shutdown:
      break;
  }
  return false;
}

/// Gives: true when the region must now cancel its other children with FailFast.
inline bool cancels_siblings(FoldPolicy policy, const ChildEnd& end, ChildOrigin child) noexcept {
  return policy == FoldPolicy::fail_fast && is_failure(end, child);
}

/// Gives: the region's outcome after one more child; start from Ok and go in creation order. A finalizer that throws is
/// added as a child that panicked. Fails: std::bad_alloc as join does.
inline ChildEnd fold_child(ChildEnd so_far, const ChildEnd& end, RegionId region) {
  if (!stopped_by_own_region(end, region)) return join(std::move(so_far), end);
  Notes notes = so_far.notes();
  notes.merge(end.notes());
  return std::move(so_far).with_notes(std::move(notes));
}

}  // namespace calm
