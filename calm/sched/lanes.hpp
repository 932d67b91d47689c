// lanes.hpp — what one worker chooses from: three lanes, who is next, and that nobody waits for ever.
// Laws:    SCH-1..5; HND-3 (a push is never refused)
// Threads: the owner's; what others wake comes to the owner first
// Cancel:  tasks under cancellation have the first lane, in streaks that end while other work waits
//
// Plain tasks (is_plain) need no order but that of a queue. A worker keeps them in a quick queue of its own, and tells the
// lanes of it in three ways: whether it is empty, when its oldest entry ran, when another of its entries ran. As long as the
// lanes hold nothing that costs one test before a dispatch and one count after it:
//
//   if (lanes.empty()) [[likely]] → take from the quick queue, or look elsewhere, or park
//   else switch (lanes.choose(quick queue has entries))
//     cancel, timed, ready, oldest_…       → take(that)
//     quick                                → from the quick queue, any end;      ran_quick() or ran_newer()
//     oldest_quick                         → the oldest of the quick queue;      ran_quick()
//     elsewhere                            → steal, and ran_newer(); nothing there: take(elsewhere), the fallback of SCH-6
//
// A host without a quick queue pushes all tasks here; those of priority 0 then stand last in the ready lane.
//
// Where workers have queues in common (commons.hpp), a worker that visits those shows them to its lanes: from share() on, until
// share(nullptr), the lanes choose among both, and what was taken may have come from either. Of equals its own go first.
//
// One record, one queue: from push() to take() a task's link is the lanes' own. TSK-6 gives a task to one queue at a time;
// who takes a task otherwise than through its queue (a join that polls it in place) may do so with plain tasks only, and only
// where their queue does not link them. So no entry of a lane is ever stale.
//
// Fairness (SCH-4), with passed(e) the number of dispatches since e became the oldest of its queue:
//   [F1] while other work waits, at most limit() dispatches of the cancel lane in a row: one of other work within limit() + 1
//   [F2] the oldest of the ready lane, the oldest of the quick queue, and the oldest of the ready lane that workers have in
//        common, run when passed = 64. All may come due at once; then one of them runs a dispatch late, or two, but what comes
//        after it is counted as if it had been in time. So the k-th of any of them is dispatch 64 k + 3 at the latest, and that
//        is within ready_bound(). The lanes do not see the quick queue between dispatches: when it was empty for a moment, its
//        oldest may run a dispatch early. What is in common each worker counts for itself.
//        What another worker wakes and must stay with its owner counts from when that takes it out of its inbox: a host says how
//        many dispatches later that is at the most, see machine_choice.hpp.
//   [F3] with meet-deadlines, at most 16 dispatches of the timed lane in a row while cancel work waits
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "calm/check/probe.hpp"
#include "calm/check/require.hpp"
#include "calm/sched/certificate.hpp"
#include "calm/sched/lane.hpp"
#include "calm/sched/lane_queues.hpp"
#include "calm/sched/suggestion.hpp"

namespace calm::sched {

/// What a worker dispatches next.
enum class Pick : std::uint8_t {
  none,           ///< nothing waits here
  cancel,         ///< the first of the cancel lane
  timed,          ///< the earliest deadline
  ready,          ///< the highest priority
  oldest_ready,   ///< the one of the ready lane that waits longest: it was passed over often enough
  quick,          ///< from the quick queue
  oldest_quick,   ///< the one of the quick queue that waits longest, for the same reason
  elsewhere,      ///< only cancel work waits here and its streak is over: other work, if there is any at other workers
  oldest_common,  ///< the one of the ready lane in common that waits longest, for the same reason
};

template <lockfree::AtomicsPolicy Atomics>
class Lanes {
 public:
  using Task = kernel::TaskRecord<Atomics>;
  using Queues = LaneQueues<Atomics>;

  /// Puts a task into its lane. Needs: it became runnable and is in no queue.
  void push(Task& task) noexcept {
    if (own_.empty()) start();
    if (own_.push(task) == Lane::ready && own_.size(Lane::ready) == 1) ready_since_ = dispatches_;
  }

  /// Gives: true when the lanes have no say in what is next. Here and in what follows: its own.
  [[nodiscard]] bool empty() const noexcept { return own_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return own_.size(); }
  [[nodiscard]] std::size_t size(Lane lane) const noexcept { return own_.size(lane); }

  /// Has it choose from these too, until it is told otherwise. Needs: nobody else touches them meanwhile.
  void share(Queues* common) noexcept { common_ = common; }

  /// Gives: what to dispatch next. `quick` says that the quick queue has entries. Asking again gives the same answer until
  ///        something was dispatched, pushed or suggested.
  [[nodiscard]] Pick choose(bool quick) noexcept {
    if (own_.empty() && (common_ == nullptr || common_->empty())) [[likely]]
      return quick ? Pick::quick : Pick::none;
    return choose_from_lanes(quick);
  }

  /// choose() and take() in one, for a worker that has nothing but cancelled tasks. Gives: the next of them where choose()
  ///        gives `cancel` and there is nothing else to be fair to; nullptr otherwise, and nothing was done.
  [[nodiscard]] Task* take_if_all_cancelled(bool quick) noexcept {
    if (quick || common_ != nullptr || !own_.is_all_cancelled()) return nullptr;
    catch_up();
    had_quick_ = false;
    if (cancel_streak_ >= limit_) return nullptr;
    return &take_cancel(own_, false);
  }

  /// Gives: the task to dispatch now, which counts as dispatched. Needs: what choose() has just given, and that is no pick of
  ///        the quick queue.
  [[nodiscard]] Task& take(Pick pick) noexcept { return take_equal(pick, 0); }

  // Among equals who came first is first. Who explores orders may choose otherwise (SCH-7), see seeded_ties.hpp.

  /// Gives: how many equals take() might give but for that. Needs: as take().
  [[nodiscard]] std::size_t equals(Pick pick) noexcept;
  /// As take(). Gives: of the equals the one that came as number `nth`, from 0. Needs: a number below equals().
  [[nodiscard]] Task& take_equal(Pick pick, std::size_t nth) noexcept;

  /// Gives all tasks to `push`, and none of them counts as dispatched: others get to them sooner.
  template <class Push>
  void give_away(Push push) noexcept {
    own_.give_away(push);
  }

  /// The oldest entry of the quick queue is dispatched now, or so many were, one after the other.
  void ran_quick(std::uint64_t times = 1) noexcept { dispatches_ += times; }
  /// Ready work from somewhere else is dispatched now, or so much of it was: from the young end of the quick queue, or stolen.
  void ran_newer(std::uint64_t times = 1) noexcept {
    catch_up();
    dispatches_ += times - 1;
    count();
  }

  /// The worker parks: streaks are over.
  void parked() noexcept { cancel_streak_ = timed_streak_ = 0; }

  /// Follows a governor until it says something else.
  void follow(Suggestion suggestion) noexcept {
    suggestion_ = suggestion;
    limit_ = describe(suggestion).cancel_limit;
    largest_limit_ = std::max<std::uint64_t>(largest_limit_, limit());
  }
  [[nodiscard]] Suggestion suggestion() const noexcept { return suggestion_; }
  /// Gives: how many dispatches of the cancel lane in a row may pass over other work.
  [[nodiscard]] std::uint32_t limit() const noexcept { return limit_; }

  /// Gives: the earliest deadline in the timed lane, or none.
  [[nodiscard]] Deadline next_deadline() noexcept {
    return own_.empty(Lane::timed) ? Deadline::none() : Deadline::from_raw(own_.first_rank(Lane::timed));
  }

  /// Gives: how many tasks it has put there: the next ones of the cancel lane, as many as there is room.
  [[nodiscard]] std::size_t peek_cancel(std::span<Task*> next) const noexcept { return own_.peek_cancel(next); }

  /// Makes places in the timed and the ready lane ahead of pushes, for tasks that are admitted.
  /// Gives: false without memory: pushes are not refused for it, but what has no place is searched for.
  [[nodiscard]] bool reserve(std::size_t timed, std::size_t ready) noexcept { return own_.reserve(timed, ready); }

  /// So much ready work was dispatched that ran_quick() and ran_newer() were not told of.
  [[nodiscard]] Certificate certificate(std::uint64_t untold = 0) const noexcept {
    return {.cancel = cancels_,
            .timed = timeds_,
            .ready = dispatches_ + untold - cancels_ - timeds_ - fallbacks_,
            .fallback_cancel = fallbacks_,
            .base_exceedances = base_exceedances_,
            .effective_exceedances = effective_exceedances_,
            .largest_limit = largest_limit_};
  }

  /// Stops when the counts of the lanes do not agree.
  void verify() const noexcept {
    CALM_INVARIANT(SCH_1, own_.size() == own_.size(Lane::cancel) + own_.size(Lane::timed) + own_.size(Lane::ready),
                   own_.size());
    CALM_INVARIANT(SCH_5, certificate().dispatches() == dispatches_ && counted_ <= dispatches_, dispatches_, counted_);
    CALM_INVARIANT(SCH_4, effective_exceedances_ == 0, effective_exceedances_, cancel_streak_);
  }

 private:
  [[nodiscard]] Pick choose_from_lanes(bool quick) noexcept;
  [[nodiscard]] Pick overdue(bool quick) noexcept;
  [[nodiscard]] bool has(Lane lane) const noexcept {
    return !own_.empty(lane) || (common_ != nullptr && !common_->empty(lane));
  }
  /// Gives: the queues that have the first of a lane. Needs: has().
  [[nodiscard]] Queues& first_in(Lane lane) noexcept {
    if (common_ == nullptr || common_->empty(lane)) [[likely]]
      return own_;
    return own_.empty(lane) || common_->first_rank(lane) < own_.first_rank(lane) ? *common_ : own_;
  }
  [[nodiscard]] bool is_due(std::uint64_t since) const noexcept { return dispatches_ - since >= aging_limit; }
  /// Gives: since when the next in a queue is its oldest, when the one before it was dispatched just now: the dispatch has
  ///        passed it over; one that came late is counted as if it had been in time (F2).
  [[nodiscard]] std::uint64_t next_since(std::uint64_t since) const noexcept {
    const std::uint64_t last = dispatches_ - 1;
    const std::uint64_t in_time = since + aging_limit;
    return in_time >= last ? last : std::max(in_time, last - 2);
  }
  [[gnu::always_inline]] Task& take_cancel(Queues& from, bool fallback, std::size_t nth = 0) noexcept;
  void count() noexcept {
    counted_ = ++dispatches_;
    cancel_streak_ = timed_streak_ = 0;
  }

  /// The first entry comes: while there was none, the oldest of the quick queue ran with every dispatch that is not counted.
  void start() noexcept {
    if (counted_ == dispatches_) return;
    cancel_streak_ = timed_streak_ = 0;
    counted_ = dispatches_;
    quick_since_ = dispatches_ - 1;
    had_quick_ = true;
  }
  /// What ran_quick() left to do.
  void catch_up() noexcept {
    if (counted_ == dispatches_) return;
    quick_since_ = next_since(quick_since_);
    cancel_streak_ = timed_streak_ = 0;
    counted_ = dispatches_;
  }

  std::uint64_t dispatches_ = 0;    // of this worker, wherever the tasks came from
  std::uint64_t counted_ = 0;       // dispatches_ when catch_up() was last done; less: the last one was ran_quick()
  std::uint64_t quick_since_ = 0;   // dispatches_ when the oldest of the quick queue became that
  std::uint64_t ready_since_ = 0;   // the same for the ready lane
  std::uint64_t common_since_ = 0;  // the same for the one in common, since it
  std::uint64_t common_spell_ = 0;  // came to have entries for this time
  std::uint32_t cancel_streak_ = 0;
  std::uint32_t timed_streak_ = 0;
  std::uint32_t limit_ = cancel_limit;  // as the suggestion says
  bool had_quick_ = false;              // the quick queue had entries when choose() was last asked
  Suggestion suggestion_ = Suggestion::none;

  std::uint64_t cancels_ = 0;
  std::uint64_t timeds_ = 0;
  std::uint64_t fallbacks_ = 0;
  std::uint64_t base_exceedances_ = 0;
  std::uint64_t effective_exceedances_ = 0;
  std::uint64_t largest_limit_ = cancel_limit;

  Queues* common_ = nullptr;
  Queues own_;
};

/// Gives: the pick of who was passed over for long enough; of several, who was first in that. None: nobody was.
template <lockfree::AtomicsPolicy Atomics>
Pick Lanes<Atomics>::overdue(bool quick) noexcept {
  if (quick && !had_quick_) quick_since_ = dispatches_;
  had_quick_ = quick;
  const bool in_common = common_ != nullptr && !common_->empty(Lane::ready);
  if (in_common && common_spell_ != common_->ready_spell()) {
    common_spell_ = common_->ready_spell();
    common_since_ = dispatches_;
  }
  Pick pick = Pick::none;
  std::uint64_t since = UINT64_MAX;
  const auto look = [&](bool waits, std::uint64_t oldest_since, Pick oldest) {
    if (!waits || !is_due(oldest_since) || oldest_since >= since) return;
    pick = oldest;
    since = oldest_since;
  };
  look(!own_.empty(Lane::ready), ready_since_, Pick::oldest_ready);
  look(quick, quick_since_, Pick::oldest_quick);
  look(in_common, common_since_, Pick::oldest_common);
  return pick;
}

template <lockfree::AtomicsPolicy Atomics>
Pick Lanes<Atomics>::choose_from_lanes(bool quick) noexcept {
  catch_up();
  if (const Pick late = overdue(quick); late != Pick::none) return late;

  const bool bounded = has(Lane::cancel);
  const bool timed = has(Lane::timed);
  const bool ready = has(Lane::ready);
  if (timed && bounded && timed_streak_ < describe(suggestion_).timed_limit) return Pick::timed;
  if (bounded && cancel_streak_ < limit()) return Pick::cancel;
  if (!quick && !timed && !ready) return Pick::elsewhere;
  if (bounded) CALM_PROBE("lanes: a streak of cancel work ends for other work");
  if (timed) return Pick::timed;
  return ready ? Pick::ready : Pick::quick;
}

template <lockfree::AtomicsPolicy Atomics>
std::size_t Lanes<Atomics>::equals(Pick pick) noexcept {
  switch (pick) {
    case Pick::cancel:
    case Pick::elsewhere:
      return first_in(Lane::cancel).equals(Lane::cancel);
    case Pick::timed:
      return first_in(Lane::timed).equals(Lane::timed);
    case Pick::ready:
      return first_in(Lane::ready).equals(Lane::ready);
    case Pick::none:
    case Pick::quick:
    case Pick::oldest_quick:
    case Pick::oldest_ready:
    case Pick::oldest_common:
      break;
  }
  return 1;  // who waits longest has no equal
}

template <lockfree::AtomicsPolicy Atomics>
typename Lanes<Atomics>::Task& Lanes<Atomics>::take_equal(Pick pick, std::size_t nth) noexcept {
  catch_up();
  switch (pick) {
    case Pick::cancel:
      return take_cancel(first_in(Lane::cancel), false, nth);
    case Pick::elsewhere:
      return take_cancel(first_in(Lane::cancel), true, nth);
    case Pick::timed: {
      const std::uint32_t streak = timed_streak_;
      count();
      timed_streak_ = streak + 1;
      ++timeds_;
      return first_in(Lane::timed).take_timed(nth);
    }
    case Pick::ready: {
      count();
      Queues& from = first_in(Lane::ready);
      const auto taken = from.take_ready(nth);
      std::uint64_t& since = &from == &own_ ? ready_since_ : common_since_;
      if (taken.oldest) since = next_since(since);
      return taken.entry;
    }
    case Pick::oldest_ready:
      CALM_PROBE("lanes: the oldest ready entry runs whatever its priority");
      count();
      ready_since_ = next_since(ready_since_);
      return own_.take_oldest_ready();
    case Pick::oldest_common:
      CALM_PROBE("lanes: the oldest ready entry in common runs whatever its priority");
      count();
      common_since_ = next_since(common_since_);
      return common_->take_oldest_ready();
    case Pick::none:
    case Pick::quick:
    case Pick::oldest_quick:
      break;
  }
  CALM_REQUIRE(SCH_1, false, static_cast<std::uint8_t>(pick));
  return own_.take_cancel();
}

template <lockfree::AtomicsPolicy Atomics>
inline typename Lanes<Atomics>::Task& Lanes<Atomics>::take_cancel(Queues& from, bool fallback,
                                                                  std::size_t nth) noexcept {
  const std::uint32_t streak = fallback ? 0 : cancel_streak_;  // there was nothing to be fair to: it begins anew
  count();
  cancel_streak_ = streak + 1;
  ++(fallback ? fallbacks_ : cancels_);
  if (cancel_streak_ > cancel_limit) ++base_exceedances_;
  if (cancel_streak_ > limit()) ++effective_exceedances_;
  return from.take_cancel(nth);
}

}  // namespace calm::sched
