// poll_watch.hpp — what a worker says of the poll it is in, for who watches that polls end.
// Laws:    GHO-3, IO-4, QUI-3
// Threads: written by the worker, read anywhere
// Cancel:  not applicable
#pragma once

#include <atomic>
#include <cstdint>
#include <source_location>

#include "calm/model/id.hpp"

namespace calm::runtime {

/// In one line of a cache, so that what a poll says of itself is written there at once.
class alignas(32) PollWatch {
 public:
  /// A poll begins; the task went on from this await point.
  void begin(TaskId task, std::source_location after) noexcept {
    // Relaxed: who looks wants to see the same poll twice, and what it sees is as good as a moment old.
    after_.store(after, std::memory_order_relaxed);
    task_.store(task.bits(), std::memory_order_relaxed);
    // [P1] releases what the worker did before this poll -> look() acquires: what it left alone since can be read.
    polls_.store(polls_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  /// The poll inside this task's poll is over.
  void go_on(TaskId task) noexcept {
    task_.store(task.bits(), std::memory_order_relaxed);
    polls_.store(polls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// The worker begins to look for something to poll, or sleeps from here on.
  // seq_cst: who falls asleep for want of work to watch says so first, and looks here after that.
  void wake() noexcept { awake_.store(true, std::memory_order_seq_cst); }
  void rest() noexcept {
    task_.store(0, std::memory_order_relaxed);
    awake_.store(false, std::memory_order_seq_cst);
  }
  [[nodiscard]] bool is_awake() const noexcept { return awake_.load(std::memory_order_seq_cst); }

  /// Gives: how many polls the worker has begun, or gone on with.
  [[nodiscard]] std::uint64_t polls() const noexcept { return polls_.load(std::memory_order_relaxed); }

  struct Poll {
    TaskId task{};  ///< none before the first one, and while it sleeps
    std::source_location after{};
    std::uint64_t number = 0;  ///< of this poll: how many the worker has begun
  };
  [[nodiscard]] Poll look() const noexcept {
    const std::uint64_t number = polls_.load(std::memory_order_acquire);  // [P1]
    return {TaskId::from_bits(task_.load(std::memory_order_relaxed)), after_.load(std::memory_order_relaxed), number};
  }

 private:
  std::atomic<std::uint64_t> task_{0};
  std::atomic<std::source_location> after_{};
  std::atomic<std::uint64_t> polls_{0};
  std::atomic<bool> awake_{false};
};
static_assert(std::atomic<std::source_location>::is_always_lock_free);

}  // namespace calm::runtime
