// newborns.hpp — tasks that the running poll has spawned: last in the line of their worker, and its own to take back.
// Laws:    SCH-1 (they stand behind all who came before), HND-3
// Threads: by the worker whose poll it is
// Cancel:  not applicable
//
// Who joins a task that has not begun polls it in place: it is taken out here, where that costs nothing. When the poll is over
// they go to the queue, where others may take them.
#pragma once

#include <cstdint>

#include "calm/kernel/task_record.hpp"

namespace calm::sched {

template <lockfree::AtomicsPolicy Atomics>
class Newborns {
 public:
  using Task = kernel::TaskRecord<Atomics>;
  static constexpr std::uint32_t size_max = 128;
  /// How many of the last are looked through for one that is taken back.
  static constexpr std::uint32_t reach = 16;

  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  /// Gives: how many places are taken up, 0 when it is empty.
  [[nodiscard]] std::uint32_t size() const noexcept { return count_; }
  [[nodiscard]] bool full() const noexcept { return count_ == size_max; }

  /// Needs: not full.
  void push(Task& task) noexcept { tasks_[count_++] = &task; }

  /// Takes the task with this frame out, if it is among the last. Gives: nullptr when it is not.
  ///
  /// Who joins what it has spawned does so newest first, or in the order in which it spawned: then it is the one behind the
  /// last that was taken out of the middle. So these places are looked at first, and those that are taken out leave a gap.
  [[nodiscard]] Task* take_back(const void* frame) noexcept {
    if (count_ == 0) return nullptr;
    if (tasks_[count_ - 1]->frame == frame) {
      Task* const task = tasks_[--count_];
      if (has_gaps_) [[unlikely]]
        trim();
      return task;
    }
    return next_ < count_ && is_at(next_, frame) ? take_from(next_) : search(frame);
  }

  /// Gives all of them to `push`, oldest first.
  template <class Push>
  void move_to(Push push) noexcept {
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (tasks_[i] != nullptr) push(*tasks_[i]);
    }
    count_ = 0;
    has_gaps_ = false;
  }

 private:
  [[nodiscard, gnu::noinline]] Task* search(const void* frame) noexcept {
    const std::uint32_t end = count_ > reach ? count_ - reach : 0;
    for (std::uint32_t i = count_; i > end; --i) {
      if (is_at(i - 1, frame)) return take_from(i - 1);
    }
    return nullptr;
  }
  [[nodiscard]] bool is_at(std::uint32_t place, const void* frame) const noexcept {
    return tasks_[place] != nullptr && tasks_[place]->frame == frame;
  }
  Task* take_from(std::uint32_t place) noexcept {
    Task* const task = tasks_[place];
    tasks_[place] = nullptr;
    next_ = place + 1;
    has_gaps_ = true;
    if (next_ == count_) [[unlikely]]
      trim();
    return task;
  }
  /// The last one is a task.
  void trim() noexcept {
    while (count_ != 0 && tasks_[count_ - 1] == nullptr) --count_;
    if (count_ == 0) has_gaps_ = false;
  }

  std::uint32_t count_ = 0;  // gaps included; the last one is none
  std::uint32_t next_ = 0;   // behind the last that was taken out of the middle
  bool has_gaps_ = false;
  Task* tasks_[size_max];
};

}  // namespace calm::sched
