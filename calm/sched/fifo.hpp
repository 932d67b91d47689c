// fifo.hpp — tasks in line, first come, first served: the places are the records' own links, so there is always one.
// Laws:    HND-3 (a place is never refused), SCH-2 (the order of coming)
// Threads: one thread at a time
// Cancel:  not applicable
//
// A record stands in one line at a time: its link is written by the one who made the task runnable, and read by the one
// who takes it out.
#pragma once

#include <cstdint>

#include "calm/kernel/task_record.hpp"

namespace calm::sched {

template <lockfree::AtomicsPolicy Atomics>
class Fifo {
 public:
  using Task = kernel::TaskRecord<Atomics>;

  Fifo() noexcept = default;
  Fifo(const Fifo&) = delete;
  Fifo& operator=(const Fifo&) = delete;

  void push(Task& task) noexcept {
    task.queue_link = nullptr;
    (first_ == nullptr ? first_ : last_->queue_link) = &task;
    last_ = &task;
    ++size_;
  }
  /// Before all others: one that was taken out and cannot be used yet.
  void push_first(Task& task) noexcept {
    task.queue_link = first_;
    if (first_ == nullptr) last_ = &task;
    first_ = &task;
    ++size_;
  }
  /// Gives: who came first; nullptr when nobody is there.
  [[nodiscard]] Task* pop() noexcept {
    Task* const task = first_;
    if (task == nullptr) return nullptr;
    first_ = task->queue_link;
    --size_;
    return task;
  }
  /// push() and pop() in one. Gives: who came first, which may be the task itself.
  [[nodiscard]] Task& rotate(Task& task) noexcept {
    if (first_ == nullptr) return task;
    task.queue_link = nullptr;
    last_->queue_link = &task;
    last_ = &task;
    Task* const next = first_;
    first_ = next->queue_link;
    return *next;
  }
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

 private:
  // Not the last one: beside a count of whoever has this both would be changed at once, and what was stored in pieces is not
  // read as a whole before all of it is in the cache.
  std::uint64_t size_ = 0;
  Task* first_ = nullptr;
  Task* last_ = nullptr;
};

}  // namespace calm::sched
