// lane_queues.hpp — runnable tasks in their lanes, each lane in its own order. Who is next among the lanes others decide.
// Laws:    SCH-1 (priority or deadline, then first come), HND-3 (a push is never refused)
// Threads: the owner's
// Cancel:  tasks under cancellation have a lane of their own
//
// From push() until it is taken a task's link is the queue's: nobody else may link the task anywhere, or free it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "calm/sched/bands.hpp"
#include "calm/sched/lane.hpp"
#include "calm/sched/ranked.hpp"

namespace calm::sched {

template <lockfree::AtomicsPolicy Atomics>
class LaneQueues {
 public:
  using Task = kernel::TaskRecord<Atomics>;

  /// Needs: it became runnable and is in no queue. Gives: its lane.
  Lane push(Task& task) noexcept {
    ++size_;
    const Lane lane = lane_of(task);
    switch (lane) {
      case Lane::cancel:
        cancel_.push(task, task.priority());
        break;
      case Lane::timed:
        timed_.push(task);
        break;
      case Lane::ready:
        if (ready_.empty()) ++spells_;
        ready_.push(task);
        break;
    }
    return lane;
  }

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty(Lane lane) const noexcept { return size(lane) == 0; }
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
  /// Gives: true when all that waits is under cancellation, and something is.
  [[nodiscard]] bool is_all_cancelled() const noexcept { return size_ != 0 && size_ == cancel_.size(); }
  /// Gives: the how manieth time this is that the ready lane has entries.
  [[nodiscard]] std::uint64_t ready_spell() const noexcept { return spells_; }

  /// Gives: the rank (Key) of the first of a lane. Needs: the lane is not empty.
  [[nodiscard]] std::uint64_t first_rank(Lane lane) noexcept {
    if (lane == Lane::cancel) return rank_of(cancel_.highest_priority());
    return lane == Lane::timed ? timed_.best_rank() : ready_.best_rank();
  }

  /// Gives: how many are equal to the first of a lane: nothing but who came first is between them. Needs: the lane is not empty.
  [[nodiscard]] std::size_t equals(Lane lane) noexcept {
    if (lane == Lane::cancel) return cancel_.equals();
    return lane == Lane::timed ? timed_.equals() : ready_.equals();
  }

  // The first of a lane, or its equal that came as number `nth`, from 0. Needs: the lane is not empty, and has so many equals.
  [[nodiscard, gnu::always_inline]] Task& take_cancel(std::size_t nth = 0) noexcept {
    --size_;
    return cancel_.take(nth);
  }
  [[nodiscard]] Task& take_timed(std::size_t nth = 0) noexcept {
    --size_;
    return timed_.take_best(nth).entry;
  }
  /// With it: whether nobody in the lane waited longer.
  [[nodiscard]] auto take_ready(std::size_t nth = 0) noexcept {
    --size_;
    return ready_.take_best(nth);
  }
  /// Gives: who waits longest in the ready lane. Needs: the lane is not empty.
  [[nodiscard]] Task& take_oldest_ready() noexcept {
    --size_;
    return ready_.take_oldest();
  }

  /// Gives all of them to `push`, each lane in its order.
  template <class Push>
  void give_away(Push push) noexcept {
    size_ = 0;
    while (!cancel_.empty()) push(cancel_.take());
    while (!timed_.empty()) push(timed_.take_best().entry);
    while (!ready_.empty()) push(ready_.take_best().entry);
  }

  /// Gives: how many tasks it has put there: the next ones of the cancel lane, as many as there is room.
  [[nodiscard]] std::size_t peek_cancel(std::span<Task*> next) const noexcept { return cancel_.peek(next); }

  /// Makes places in the timed and the ready lane ahead of pushes, for tasks that are admitted.
  /// Gives: false without memory: pushes are not refused for it, but what has no place is searched for.
  [[nodiscard]] bool reserve(std::size_t timed, std::size_t ready) noexcept {
    return timed_.reserve(timed) && ready_.reserve(ready);
  }

 private:
  struct ByDeadline {
    static std::uint64_t of(const Task& task) noexcept { return rank_of(task.deadline()); }
  };
  struct ByPriority {
    static std::uint64_t of(const Task& task) noexcept { return rank_of(task.priority()); }
  };

  std::size_t size_ = 0;      // in all lanes
  std::uint64_t spells_ = 0;  // times that the ready lane came to have entries
  Ranked<Task, ByDeadline> timed_;
  Ranked<Task, ByPriority> ready_;
  Bands<Task> cancel_;
};

}  // namespace calm::sched
