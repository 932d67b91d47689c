// ready_queue.hpp — the ordinary runnable tasks of one worker, in the order in which they became so; others may take half.
// Laws:    SCH-1 (the ready lane without priorities), SCH-6, SCH-7 (the one place that is last in, first out), HND-3
// Threads: by the worker whose queue it is; steal_from() of another worker reads it, and backlog() anywhere
// Cancel:  not applicable
//
//   ring    what others may take, bounded; of a queue that is open
//   line    those behind: all who come to a closed queue, and who came while the ring was full, for a million spawns fill any.
//           As long as somebody stands here all who come stand behind, so the order is that of coming; an open queue fills the
//           ring from here when it is empty
//   newborn what the running poll has spawned: behind all others, and to be taken back by who joins it before it has begun
//   pinned  fibers, and tasks with open fibers: they stay on this worker (TSK-4). They take turns with the others
//   next    of a queue that is open, one task that a running one has just woken: it runs at once, here, where its data is, at
//           most `streak_max` times in a row. Nobody takes it away, so two tasks that talk to each other stay together.
//           In a closed queue they do so anyway, and who is woken stands behind the others
#pragma once

#include <bit>
#include <cstdint>
#include <utility>

#include "calm/check/require.hpp"
#include "calm/lockfree/local_atomics.hpp"
#include "calm/lockfree/work_ring.hpp"
#include "calm/sched/fifo.hpp"
#include "calm/sched/newborns.hpp"

namespace calm::sched {

template <lockfree::AtomicsPolicy Atomics>
class ReadyQueue {
 public:
  using Task = kernel::TaskRecord<Atomics>;
  static constexpr std::uint32_t ring_size = 256;
  static constexpr std::uint32_t streak_max = 16;

  ReadyQueue() noexcept = default;
  ReadyQueue(const ReadyQueue&) = delete;
  ReadyQueue& operator=(const ReadyQueue&) = delete;

  /// Others may take from it from now on, or not any more: where nobody does, a line is quicker than a ring. It begins closed.
  void set_open(bool open) noexcept {
    open_ = open;
    if (!open) return;
    in_line_ = false;
    fill_ring();
  }

  /// Behind all others.
  void push(Task& task) noexcept {
    if (!newborns_.empty()) [[unlikely]]
      return push_newborn(task);
    push_old(task);
  }
  /// The same for one that the running poll has spawned.
  void push_newborn(Task& task) noexcept {
    in_line_ = false;
    if (newborns_.full()) settle();
    newborns_.push(task);
  }
  /// Takes the one with this frame back, to be polled in place. Gives: nullptr when it is not there any more, or not easily
  /// found.
  [[nodiscard]] Task* take_back(const void* frame) noexcept { return newborns_.take_back(frame); }
  /// The poll is over: what it has spawned is for all.
  void settle() noexcept {
    newborns_.move_to([this](Task& task) { push_old(task); });
  }
  void push_pinned(Task& task) noexcept {
    in_line_ = false;
    pinned_.push(task);
  }
  /// Before all others where others may take those, unless that has gone on for too long; who stood there goes behind all.
  void push_next(Task& task) noexcept {
    if (!open_) return push(task);
    Task* const before = std::exchange(next_, &task);
    if (before != nullptr) push(*before);
  }

  /// The same where that is one step. Gives: false where it is not; nothing is done then.
  [[nodiscard]] bool try_push_next(Task& task) noexcept {
    if (in_line_) [[likely]] {
      line_.push(task);
      return true;
    }
    if (!open_ || next_ != nullptr) return false;
    next_ = &task;
    return true;
  }

  /// Gives: who is to run; nullptr when nobody is there. `oldest` says whether that is who waits longest. With `alone` nobody
  ///        takes anything from here meanwhile.
  [[nodiscard]] Task* pop(bool& oldest, bool alone = false) noexcept {
    oldest = next_ == nullptr || streak_ == streak_max;
    if (oldest) return pop_oldest(alone);
    ++streak_;
    return std::exchange(next_, nullptr);
  }
  /// The same where all there are stand in the line. Gives: nullptr where they do not; nothing is done then.
  [[nodiscard]] Task* pop_from_line() noexcept {
    if (!is_all_in_line()) return nullptr;
    return line_.pop();
  }
  /// push() and pop() in one, of who waits longest. Needs: as for `alone`.
  /// Gives: nullptr where it is not as simple as that; nothing is done then.
  [[nodiscard]] Task* rotate(Task& task) noexcept {
    if (is_all_in_line()) [[likely]]
      return &line_.rotate(task);
    if (!line_.empty() || !has_only_old()) [[unlikely]]
      return nullptr;
    streak_ = 0;
    return &ring_.rotate_alone(task);
  }
  /// Gives: who waits longest, or nullptr.
  [[nodiscard]] Task* pop_oldest(bool alone = false) noexcept {
    if (!newborns_.empty()) settle();
    streak_ = 0;
    if (next_ != nullptr) push(*std::exchange(next_, nullptr));
    turn_ = !turn_;
    if (turn_ && !pinned_.empty()) return pinned_.pop();
    if (Task* const task = alone ? ring_.pop_alone() : ring_.pop()) return task;
    if (Task* const task = line_.pop()) {
      if (open_) fill_ring();
      return task;
    }
    return pinned_.pop();
  }

  /// Takes half of what others may take from the victim. Needs: it is empty.
  [[nodiscard]] Task* steal_from(ReadyQueue& victim) noexcept {
    in_line_ = false;
    return ring_.steal_from(victim.ring_);
  }

  [[nodiscard]] bool empty() const noexcept {
    return next_ == nullptr && newborns_.empty() && line_.empty() && pinned_.empty() && ring_.size() == 0;
  }
  /// Gives: how many others may take, a moment ago.
  [[nodiscard]] std::uint32_t backlog() const noexcept { return ring_.size(); }

 private:
  void push_old(Task& task) noexcept {
    if (!open_ || !line_.empty() || !ring_.push(task)) line_.push(task);
  }
  /// Needs: who stands in the ring came before those in the line.
  void fill_ring() noexcept {
    // There may be no room even now: what a thief has begun to copy, and all that came after it, stays taken up until it is
    // done, and it may have been interrupted.
    for (std::uint32_t i = 0; i < ring_size / 2 && !line_.empty(); ++i) {
      Task& next = *line_.pop();
      if (ring_.push(next)) continue;
      line_.push_first(next);
      break;
    }
  }
  /// Gives: true when nobody stands but in the ring and in the line.
  [[nodiscard]] bool has_only_old() const noexcept {
    // Asked at once, which is less than one after the other.
    return (std::bit_cast<std::uintptr_t>(next_) | newborns_.size() | pinned_.size()) == 0;
  }
  /// Gives: true when nobody stands but in the line, as in a queue that has been closed for a while. That is known until somebody
  /// is put elsewhere.
  [[nodiscard]] bool is_all_in_line() noexcept {
    CALM_SLOW(SCH_6, !in_line_ || (!open_ && has_only_old() && ring_.size() == 0 && streak_ == 0));
    return in_line_ || looks_in_line();
  }
  [[nodiscard]] bool looks_in_line() noexcept {
    if (open_ || !has_only_old() || ring_.size() != 0) return false;
    streak_ = 0;
    return in_line_ = true;
  }

  Task* next_ = nullptr;
  std::uint32_t streak_ = 0;
  bool turn_ = false;
  bool open_ = false;
  bool in_line_ = false;  // it is closed, and nobody stands but in line_
  Newborns<Atomics> newborns_;
  Fifo<Atomics> line_;
  Fifo<Atomics> pinned_;
  lockfree::WorkRing<Task, ring_size, Atomics> ring_;
};

/// With one worker nobody takes anything away: one line.
template <>
class ReadyQueue<lockfree::LocalAtomics> {
 public:
  using Task = kernel::TaskRecord<lockfree::LocalAtomics>;

  void push(Task& task) noexcept {
    if (!newborns_.empty()) [[unlikely]]
      return push_newborn(task);
    line_.push(task);
  }
  void push_newborn(Task& task) noexcept {
    if (newborns_.full()) settle();
    newborns_.push(task);
  }
  [[nodiscard]] Task* take_back(const void* frame) noexcept { return newborns_.take_back(frame); }
  void settle() noexcept {
    newborns_.move_to([this](Task& task) { line_.push(task); });
  }
  static void set_open(bool /*open*/) noexcept {}
  void push_pinned(Task& task) noexcept { push(task); }
  void push_next(Task& task) noexcept { push(task); }
  [[nodiscard]] Task* pop(bool& oldest, bool /*alone*/ = true) noexcept {
    oldest = true;
    return pop_oldest();
  }
  [[nodiscard]] Task* pop_from_line() noexcept { return newborns_.empty() ? line_.pop() : nullptr; }
  [[nodiscard]] Task* rotate(Task& task) noexcept {
    if (!newborns_.empty()) [[unlikely]]
      return nullptr;
    return &line_.rotate(task);
  }
  [[nodiscard]] Task* pop_oldest() noexcept {
    if (!newborns_.empty()) settle();
    return line_.pop();
  }
  [[nodiscard]] bool empty() const noexcept { return newborns_.empty() && line_.empty(); }
  [[nodiscard]] std::uint64_t backlog() const noexcept { return line_.size(); }

 private:
  Newborns<lockfree::LocalAtomics> newborns_;
  Fifo<lockfree::LocalAtomics> line_;
};

}  // namespace calm::sched
