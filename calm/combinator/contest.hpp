// contest.hpp — how the branches of one combinator stand, and when the others are not wanted any more.
// Laws:    COM-2, COM-3, I5, CAN-5
// Threads: all of it on the worker of the task that waits: branches are fibers
// Cancel:  the branch whose end decides cancels the others with RaceLost in the same step, and what a race among them runs
//
// A race that is the whole of a branch of a race is one with it (COM-3): what decides it decides the one around it, and
// when that one is decided without it, its branches hear of it at once, not when their fiber is polled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "calm/cx/context.hpp"
#include "calm/cx/port.hpp"
#include "calm/cx/task_root.hpp"
#include "calm/model/fold.hpp"
#include "calm/model/id.hpp"
#include "calm/trace/event.hpp"
#include "calm/trace/resource.hpp"

namespace calm::combinator {

/// What the branches come together for.
enum class Wanted : std::uint8_t {
  all_ends,    ///< nothing decides before the last of them
  first_end,   ///< of any kind
  enough_oks,  ///< so many values, or so many failures that there cannot be enough
};

class Ticket;

/// It lives in the frame that waits for the branches.
class Contest {
 public:
  static constexpr std::size_t nobody = SIZE_MAX;

  /// Needs: `oks` from 1 to `branches` for enough_oks. Fails: std::bad_alloc.
  Contest(const cx::Context& owner, Wanted wanted, std::size_t branches, std::size_t oks = 0);
  Contest(const Contest&) = delete;
  Contest& operator=(const Contest&) = delete;
  ~Contest();

  [[nodiscard]] RegionId region() const noexcept { return region_; }
  /// Gives: the branch whose end decided; nobody before that.
  [[nodiscard]] std::size_t decided_by() const noexcept { return decided_by_; }
  /// Gives: true for a branch that came to a value before it was decided. Needs: enough_oks.
  [[nodiscard]] bool counts(std::size_t branch) const noexcept { return counted_[branch]; }
  /// Gives: how the region of the branches ended, with the error when one of them could not be started (OUT-4).
  [[nodiscard]] const ChildEnd& fold() const noexcept { return fold_; }
  /// Gives: why a branch could not be started; Ok when all were.
  [[nodiscard]] const ChildEnd& refusal() const noexcept { return refusal_; }

  // --- for those who run the branches ---

  void begin(RegionId region) noexcept { region_ = region; }
  /// A branch runs as this task. Needs: called for the branches in their order.
  void started(TaskId task) noexcept { runners_.push_back({task}); }
  /// A branch has ended: its frames are gone, and its last step is under way. Or a race that is the whole of it is decided.
  void arrive(std::size_t branch, bool ok) noexcept;
  /// A branch could not be started: the others end.
  void call_off(const ChildEnd& refusal) noexcept;
  void end(ChildEnd fold) noexcept { fold_ = std::move(fold); }

 private:
  /// Who runs a branch, and the race that is the whole of it.
  struct Runner {
    TaskId task;
    Contest* race = nullptr;
  };

  void decide(std::size_t branch) noexcept;
  void stop(kernel::Worker& worker, const Runner& loser) noexcept;
  void touch(trace::Access access) const noexcept;

  cx::Port& port_;
  trace::ResourceId resource_;
  RegionId region_{};
  std::size_t decided_by_ = nobody;
  std::size_t oks_left_;
  std::size_t failures_left_;  ///< that it can still bear
  std::vector<bool> counted_;
  std::vector<Runner> runners_;  ///< with room for all branches
  Ticket* around_ = nullptr;     ///< of the branch of a race that this race is the whole of
  ChildEnd fold_ = ok();
  ChildEnd refusal_ = ok();
  Wanted wanted_;
};

/// Goes into a branch and arrives with its end, however that comes: a value, a failure, or a frame that was dropped.
class Ticket {
 public:
  Ticket(Contest& contest, std::size_t branch) noexcept : contest_(&contest), branch_(branch) {}
  Ticket(Ticket&& other) noexcept
      : contest_(std::exchange(other.contest_, nullptr)), branch_(other.branch_), ok_(other.ok_) {}
  Ticket& operator=(Ticket&&) = delete;
  ~Ticket() {
    if (contest_ != nullptr) contest_->arrive(branch_, ok_);
  }

  /// The branch has come to a value.
  void succeed() noexcept { ok_ = true; }

 private:
  friend class Contest;

  Contest* contest_;
  std::size_t branch_;
  bool ok_ = false;
};

/// A branch that nobody waited for has ended so: what there is to say of it, for the notes of the outcome (COM-2).
/// `what` and the number say who it was, `all` whether failures are told that are no panic.
void note_loser(Notes& notes, const char* what, std::size_t number, const ChildEnd& end, RegionId region,
                bool all = false) noexcept;

}  // namespace calm::combinator
