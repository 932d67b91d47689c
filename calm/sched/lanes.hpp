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
//     cancel, timed, ready, oldest_ready   → take(that)
//     quick                                → from the quick queue, any end;      ran_quick() or ran_newer()
//     oldest_quick                         → the oldest of the quick queue;      ran_quick()
//     elsewhere                            → steal, and ran_newer(); nothing there: take(elsewhere), the fallback of SCH-6
//
// A host without a quick queue pushes all tasks here; those of priority 0 then stand last in the ready lane.
//
// One record, one queue: from push() to take() a task's link is the lanes' own. TSK-6 gives a task to one queue at a time;
// who takes a task otherwise than through its queue (a join that polls it in place) may do so with plain tasks only, and only
// where their queue does not link them. So no entry of a lane is ever stale.
//
// Fairness (SCH-4), with passed(e) the number of dispatches since e became the oldest of its queue:
//   [F1] while other work waits, at most limit() dispatches of the cancel lane in a row: one of other work within limit() + 1
//   [F2] the oldest of the ready lane, and the oldest of the quick queue, run when passed = 64. Both may come due at once;
//        then one of them runs a dispatch late, but what comes after it is counted as if it had been in time. So the k-th of
//        either queue is dispatch 64 k + 2 at the latest, and that is within ready_bound(). The lanes do not see the quick
//        queue between dispatches: when it was empty for a moment, its oldest may run a dispatch early.
//   [F3] with meet-deadlines, at most 16 dispatches of the timed lane in a row while cancel work waits
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "calm/check/probe.hpp"
#include "calm/check/require.hpp"
#include "calm/sched/bands.hpp"
#include "calm/sched/certificate.hpp"
#include "calm/sched/lane.hpp"
#include "calm/sched/ranked.hpp"
#include "calm/sched/suggestion.hpp"

namespace calm::sched {

/// What a worker dispatches next.
enum class Pick : std::uint8_t {
  none,          ///< nothing waits here
  cancel,        ///< the first of the cancel lane
  timed,         ///< the earliest deadline
  ready,         ///< the highest priority
  oldest_ready,  ///< the one of the ready lane that waits longest: it was passed over often enough
  quick,         ///< from the quick queue
  oldest_quick,  ///< the one of the quick queue that waits longest, for the same reason
  elsewhere,     ///< only cancel work waits here and its streak is over: other work, if there is any at other workers
};

template <lockfree::AtomicsPolicy Atomics>
class Lanes {
 public:
  using Task = kernel::TaskRecord<Atomics>;

  /// Puts a task into its lane. Needs: it became runnable and is in no queue.
  void push(Task& task) noexcept {
    if (waiting_++ == 0) start();
    switch (lane_of(task)) {
      case Lane::cancel:
        cancel_.push(task, task.priority.get());
        break;
      case Lane::timed:
        timed_.push(task);
        break;
      case Lane::ready:
        if (ready_.empty()) ready_since_ = dispatches_;
        ready_.push(task);
        break;
    }
  }

  /// Gives: true when the lanes have no say in what is next.
  [[nodiscard]] bool empty() const noexcept { return waiting_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return waiting_; }
  [[nodiscard]] std::size_t size(Lane lane) const noexcept {
    switch (lane) {
      case Lane::cancel:
        return cancel_.size();
      case Lane::timed:
        return timed_.size();
      case Lane::ready:
        return ready_.size();
    }
    return 0;
  }

  /// Gives: what to dispatch next. `quick` says that the quick queue has entries. Asking again gives the same answer until
  ///        something was dispatched, pushed or suggested.
  [[nodiscard]] Pick choose(bool quick) noexcept {
    if (waiting_ == 0) [[likely]]
      return quick ? Pick::quick : Pick::none;
    return choose_from_lanes(quick);
  }

  /// choose() and take() in one, for a worker that has nothing but cancelled tasks. Gives: the next of them where choose()
  ///        gives `cancel` and there is nothing else to be fair to; nullptr otherwise, and nothing was done.
  [[nodiscard]] Task* take_if_all_cancelled(bool quick) noexcept {
    if (quick || waiting_ == 0 || waiting_ != cancel_.size()) return nullptr;
    catch_up();
    had_quick_ = false;
    if (cancel_streak_ >= limit_) return nullptr;
    --waiting_;
    return &take_cancel(false);
  }

  /// Gives: the task to dispatch now, which counts as dispatched. Needs: what choose() has just given, and that is no pick of
  ///        the quick queue.
  [[nodiscard]] Task& take(Pick pick) noexcept;

  /// Gives all tasks to `push`, and none of them counts as dispatched: their worker cannot get to them.
  template <class Push>
  void give_away(Push push) noexcept {
    waiting_ = 0;
    while (!cancel_.empty()) push(cancel_.take());
    while (!timed_.empty()) push(timed_.take_best().entry);
    while (!ready_.empty()) push(ready_.take_best().entry);
  }

  /// The oldest entry of the quick queue is dispatched now.
  void ran_quick() noexcept { ++dispatches_; }
  /// Ready work from somewhere else is dispatched now: from the young end of the quick queue, or stolen.
  void ran_newer() noexcept {
    catch_up();
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
    return timed_.empty() ? Deadline::none() : Deadline::from_raw(timed_.best_rank());
  }

  /// Gives: how many tasks it has put there: the next ones of the cancel lane, as many as there is room.
  [[nodiscard]] std::size_t peek_cancel(std::span<Task*> next) const noexcept { return cancel_.peek(next); }

  /// Makes places in the timed and the ready lane ahead of pushes, for tasks that are admitted.
  /// Gives: false without memory: pushes are not refused for it, but what has no place is searched for.
  [[nodiscard]] bool reserve(std::size_t timed, std::size_t ready) noexcept {
    return timed_.reserve(timed) && ready_.reserve(ready);
  }

  [[nodiscard]] Certificate certificate() const noexcept {
    return {.cancel = cancels_,
            .timed = timeds_,
            .ready = dispatches_ - cancels_ - timeds_ - fallbacks_,
            .fallback_cancel = fallbacks_,
            .base_exceedances = base_exceedances_,
            .effective_exceedances = effective_exceedances_,
            .largest_limit = largest_limit_};
  }

  /// Stops when the counts of the lanes do not agree.
  void verify() const noexcept {
    CALM_INVARIANT(SCH_1, waiting_ == cancel_.size() + timed_.size() + ready_.size(), waiting_);
    CALM_INVARIANT(SCH_5, certificate().dispatches() == dispatches_ && counted_ <= dispatches_, dispatches_, counted_);
    CALM_INVARIANT(SCH_4, effective_exceedances_ == 0, effective_exceedances_, cancel_streak_);
  }

 private:
  struct ByDeadline {
    static std::uint64_t of(const Task& task) noexcept { return rank_of(task.deadline()); }
  };
  struct ByPriority {
    static std::uint64_t of(const Task& task) noexcept { return rank_of(task.priority.get()); }
  };

  [[nodiscard]] Pick choose_from_lanes(bool quick) noexcept;
  [[nodiscard]] bool is_due(std::uint64_t since) const noexcept { return dispatches_ - since >= aging_limit; }
  /// Gives: since when the next in a queue is its oldest, when the one before it was dispatched just now: the dispatch has
  ///        passed it over; one that came late is counted as if it had been in time (F2).
  [[nodiscard]] std::uint64_t next_since(std::uint64_t since) const noexcept {
    const bool late = dispatches_ - 1 > since + aging_limit;
    return dispatches_ - (late ? 2 : 1);
  }
  [[gnu::always_inline]] Task& take_cancel(bool fallback) noexcept;
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

  std::size_t waiting_ = 0;        // in all lanes
  std::uint64_t dispatches_ = 0;   // of this worker, wherever the tasks came from
  std::uint64_t counted_ = 0;      // dispatches_ when catch_up() was last done; less: the last one was ran_quick()
  std::uint64_t quick_since_ = 0;  // dispatches_ when the oldest of the quick queue became that
  std::uint64_t ready_since_ = 0;  // the same for the ready lane
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

  Ranked<Task, ByDeadline> timed_;
  Ranked<Task, ByPriority> ready_;
  Bands<Task> cancel_;
};

template <lockfree::AtomicsPolicy Atomics>
Pick Lanes<Atomics>::choose_from_lanes(bool quick) noexcept {
  catch_up();
  if (quick && !had_quick_) quick_since_ = dispatches_;
  had_quick_ = quick;

  const bool ready_due = !ready_.empty() && is_due(ready_since_);
  const bool quick_due = quick && is_due(quick_since_);
  if (ready_due && (!quick_due || ready_since_ <= quick_since_)) return Pick::oldest_ready;
  if (quick_due) return Pick::oldest_quick;

  const bool bounded = !cancel_.empty();
  if (!timed_.empty() && bounded && timed_streak_ < describe(suggestion_).timed_limit) return Pick::timed;
  const bool others = quick || !timed_.empty() || !ready_.empty();
  if (bounded && cancel_streak_ < limit()) return Pick::cancel;
  if (!others) return Pick::elsewhere;
  if (bounded) CALM_PROBE("lanes: a streak of cancel work ends for other work");
  if (!timed_.empty()) return Pick::timed;
  return ready_.empty() ? Pick::quick : Pick::ready;
}

template <lockfree::AtomicsPolicy Atomics>
typename Lanes<Atomics>::Task& Lanes<Atomics>::take(Pick pick) noexcept {
  catch_up();
  CALM_REQUIRE(SCH_1, waiting_ != 0, static_cast<std::uint8_t>(pick));
  --waiting_;
  switch (pick) {
    case Pick::cancel:
      return take_cancel(false);
    case Pick::elsewhere:
      return take_cancel(true);
    case Pick::timed: {
      const std::uint32_t streak = timed_streak_;
      count();
      timed_streak_ = streak + 1;
      ++timeds_;
      return timed_.take_best().entry;
    }
    case Pick::ready: {
      count();
      const auto taken = ready_.take_best();
      if (taken.oldest) ready_since_ = next_since(ready_since_);
      return taken.entry;
    }
    case Pick::oldest_ready:
      CALM_PROBE("lanes: the oldest ready entry runs whatever its priority");
      count();
      ready_since_ = next_since(ready_since_);
      return ready_.take_oldest();
    case Pick::none:
    case Pick::quick:
    case Pick::oldest_quick:
      break;
  }
  CALM_REQUIRE(SCH_1, false, static_cast<std::uint8_t>(pick));
  return cancel_.take();
}

template <lockfree::AtomicsPolicy Atomics>
inline typename Lanes<Atomics>::Task& Lanes<Atomics>::take_cancel(bool fallback) noexcept {
  const std::uint32_t streak = fallback ? 0 : cancel_streak_;  // there was nothing to be fair to: it begins anew
  count();
  cancel_streak_ = streak + 1;
  ++(fallback ? fallbacks_ : cancels_);
  if (cancel_streak_ > cancel_limit) ++base_exceedances_;
  if (cancel_streak_ > limit()) ++effective_exceedances_;
  return cancel_.take();
}

}  // namespace calm::sched
