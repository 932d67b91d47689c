// newborns.hpp — tasks that the running poll has spawned: last in the line of their worker, and its own to take back.
// Laws:    SCH-1 (they stand behind all who came before), HND-3
// Threads: by the worker whose poll it is
// Cancel:  not applicable
//
// Who joins a task that has not begun polls it in place: it is taken out here, where that costs nothing. When the poll is over
// they go to the queue, where others may take them.
#pragma once

#include <algorithm>
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
  [[nodiscard]] bool full() const noexcept { return count_ == size_max; }

  /// Needs: not full.
  void push(Task& task) noexcept { tasks_[count_++] = &task; }

  /// Takes it out, if it is among the last. Gives: false when it is not.
  [[nodiscard]] bool take_back(const Task& task) noexcept {
    if (count_ == 0 || tasks_[count_ - 1] != &task) return take_back_further(task);
    --count_;
    return true;
  }

  /// Gives all of them to `push`, oldest first.
  template <class Push>
  void move_to(Push push) noexcept {
    for (std::uint32_t i = 0; i < count_; ++i) push(*tasks_[i]);
    count_ = 0;
  }

 private:
  [[nodiscard, gnu::noinline]] bool take_back_further(const Task& task) noexcept {
    const std::uint32_t end = count_ > reach ? count_ - reach : 0;
    for (std::uint32_t i = count_; i > end; --i) {
      if (tasks_[i - 1] != &task) continue;
      std::copy(tasks_ + i, tasks_ + count_, tasks_ + i - 1);
      --count_;
      return true;
    }
    return false;
  }

  std::uint32_t count_ = 0;
  Task* tasks_[size_max];
};

}  // namespace calm::sched
