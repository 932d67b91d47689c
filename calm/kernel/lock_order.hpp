// lock_order.hpp — what one logical thread has locked, and a check that it locks in the order B, A ascending, C.
// Laws:    SHD-1, SHD-3
// Threads: one order for each logical thread, a member of its worker; a fiber is a logical thread as well
// Cancel:  not applicable
//
// With CALM_SLOW_CHECKS every lock and unlock is looked at before it happens: a wrong order is found in the first run
// that takes it, not in the one that deadlocks. Without them an order is empty and its calls are nothing; with
// CALM_LOCK_METRICS it knows its worker. The choices must be the same for the whole program; the class has another name
// under each, so that a mixed program does not link.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "calm/check/require.hpp"
#include "calm/kernel/shard.hpp"

namespace calm::kernel {

#if defined(CALM_SLOW_CHECKS) && CALM_SLOW_CHECKS
inline namespace order_checked {

class LockOrder {
 public:
  static constexpr bool active = true;

  /// `worker` is whose locks these are, for reports and metrics.
  constexpr explicit LockOrder(std::uint16_t worker = 0) noexcept : worker_(worker) {}
  LockOrder(const LockOrder&) = delete;
  LockOrder& operator=(const LockOrder&) = delete;

  [[nodiscard]] constexpr std::uint16_t worker() const noexcept { return worker_; }

  /// Needs: for tasks the worker's index, else 0. To be called before the lock is taken.
  /// Fails: when this or a later shard is held; then nothing is noted.
  void note_lock(Shard shard, std::uint16_t index = 0) {
    require_place(shard, index);
    const Shard last = last_shard();
    const std::uint16_t last_index = last_task();
    CALM_INVARIANT(SHD_3, !holds(shard, index), shard, index, worker_);
    CALM_INVARIANT(SHD_3, nothing() || last < shard || (last == shard && last_index < index), shard, index, last,
                   last_index, worker_);
    set(shard, index, true);
  }

  /// Fails: when it is not held; then nothing is noted.
  void note_unlock(Shard shard, std::uint16_t index = 0) {
    require_place(shard, index);
    CALM_INVARIANT(SHD_3, holds(shard, index), shard, index, worker_);
    set(shard, index, false);
  }

  [[nodiscard]] bool holds(Shard shard, std::uint16_t index = 0) const noexcept {
    switch (shard) {
      case Shard::regions:
        return regions_;
      case Shard::tasks:
        return (tasks_[index / 64U] >> (index % 64U) & 1U) != 0;
      case Shard::obligations:
        return obligations_;
    }
    return false;
  }

  /// Gives: true when this thread holds no shard, as it must whenever task code runs.
  [[nodiscard]] bool nothing() const noexcept { return !regions_ && task_count_ == 0 && !obligations_; }

  /// Whether this thread may hold guards now; see Shards::keep_among().
  [[nodiscard]] bool is_member() const noexcept { return member_; }
  void set_member(bool member) noexcept { member_ = member; }

 private:
  static void require_place(Shard shard, std::uint16_t index) {
    CALM_REQUIRE(SHD_1, shard == Shard::tasks ? index < workers_max : index == 0, shard, index);
  }

  /// The last in the order among those held; only of use when something is.
  Shard last_shard() const noexcept {
    if (obligations_) return Shard::obligations;
    return task_count_ != 0 ? Shard::tasks : Shard::regions;
  }
  std::uint16_t last_task() const noexcept {
    if (task_count_ == 0) return 0;
    std::size_t word = task_words_ - 1;
    while (tasks_[word] == 0) --word;
    return static_cast<std::uint16_t>((word * 64) + static_cast<std::size_t>(std::bit_width(tasks_[word])) - 1);
  }

  void set(Shard shard, std::uint16_t index, bool held) noexcept {
    switch (shard) {
      case Shard::regions:
        regions_ = held;
        return;
      case Shard::tasks:
        tasks_[index / 64U] ^= std::uint64_t{1} << (index % 64U);
        task_count_ = static_cast<std::uint16_t>(held ? task_count_ + 1 : task_count_ - 1);
        return;
      case Shard::obligations:
        obligations_ = held;
        return;
    }
  }

  static constexpr std::size_t task_words_ = workers_max / 64;
  static_assert(workers_max % 64 == 0);

  std::uint64_t tasks_[task_words_]{};  // one bit for each A
  std::uint16_t task_count_ = 0;        // how many of them are set
  std::uint16_t worker_;
  bool regions_ = false;
  bool obligations_ = false;
  bool member_ = false;
};

}  // namespace order_checked
#elif defined(CALM_LOCK_METRICS)
inline namespace order_named {

class LockOrder {
 public:
  static constexpr bool active = false;

  constexpr explicit LockOrder(std::uint16_t worker = 0) noexcept : worker_(worker) {}
  LockOrder(const LockOrder&) = delete;
  LockOrder& operator=(const LockOrder&) = delete;

  [[nodiscard]] constexpr std::uint16_t worker() const noexcept { return worker_; }

  void note_lock(Shard /*shard*/, std::uint16_t /*index*/ = 0) noexcept {}
  void note_unlock(Shard /*shard*/, std::uint16_t /*index*/ = 0) noexcept {}

  /// Nothing is noted here, so nothing speaks against it.
  [[nodiscard]] static constexpr bool nothing() noexcept { return true; }
  [[nodiscard]] static constexpr bool is_member() noexcept { return true; }
  static constexpr void set_member(bool /*member*/) noexcept {}

 private:
  std::uint16_t worker_;
};

}  // namespace order_named
#else
inline namespace order_unchecked {

class LockOrder {
 public:
  static constexpr bool active = false;

  constexpr explicit LockOrder(std::uint16_t /*worker*/ = 0) noexcept {}
  LockOrder(const LockOrder&) = delete;
  LockOrder& operator=(const LockOrder&) = delete;

  [[nodiscard]] static constexpr std::uint16_t worker() noexcept { return 0; }

  void note_lock(Shard /*shard*/, std::uint16_t /*index*/ = 0) noexcept {}
  void note_unlock(Shard /*shard*/, std::uint16_t /*index*/ = 0) noexcept {}

  /// Nothing is noted here, so nothing speaks against it.
  [[nodiscard]] static constexpr bool nothing() noexcept { return true; }
  [[nodiscard]] static constexpr bool is_member() noexcept { return true; }
  static constexpr void set_member(bool /*member*/) noexcept {}
};

}  // namespace order_unchecked
#endif

}  // namespace calm::kernel
