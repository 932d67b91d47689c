// lock_metrics.hpp — how long each shard was waited for and held, by whom: counted with CALM_LOCK_METRICS, else not there.
// Laws:    SHD-4
// Threads: a lock anywhere; its counts are written by its holder and read anywhere at any time
// Cancel:  not applicable
//
// Without CALM_LOCK_METRICS a ShardLock is a Lock and nothing else: no member, no instruction (a test counts them). The
// choice must be one for the whole program; everything here has another name under each choice, so that a mixed program
// does not link. The kernel never reads a clock: whoever makes the shards brings one.
//
// Counts are words of the real world also under a model: they must not add steps to what is explored.
//   relaxed: a reader may miss the newest counts. Writers hold the shard's lock, so a plain read and write adds up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calm/kernel/operation.hpp"
#include "calm/kernel/shard.hpp"
#include "calm/lockfree/atomics.hpp"
#include "calm/lockfree/lock.hpp"

namespace calm::kernel {

#if defined(CALM_LOCK_METRICS)
inline namespace metered {
inline constexpr bool lock_metrics_on = true;
#else
inline namespace unmetered {
inline constexpr bool lock_metrics_on = false;
#endif

/// Guards lock and unlock; the others are for shards that can be tried or shared.
enum class LockAction : std::uint8_t { lock, unlock, try_lock, read_lock, read_unlock };

std::string_view to_string(LockAction action) noexcept;

/// One operation on a lock.
struct LockRecord {
  Shard shard;
  std::uint16_t index;  ///< of tasks: whose; else 0
  LockAction action;
  std::uint16_t worker;   ///< who did it
  std::uint64_t wait_ns;  ///< of lock: until it was taken
  std::uint64_t held_ns;  ///< of unlock: since it was taken
  Operation caller;

  friend constexpr bool operator==(const LockRecord&, const LockRecord&) noexcept = default;
};

/// What the shards are given to measure with.
struct LockObserver {
  std::uint64_t (*clock_ns)() noexcept = nullptr;  ///< never goes back; without it all times are 0
  /// Called once per operation, for `lock` while the shard is held: it takes no guard and does not wait. May be nullptr.
  void (*record)(void* context, const LockRecord& record) noexcept = nullptr;
  void* context = nullptr;
};

/// How many durations were how long. Bucket 0 counts 0 ns, bucket n those from 2^(n-1) to below 2^n, the last all longer.
struct LockHistogram {
  static constexpr std::size_t buckets = 40;

  static std::size_t bucket_of(std::uint64_t ns) noexcept;
  [[nodiscard]] std::uint64_t total() const noexcept;

  /// Needs: percent from 0 to 100.
  /// Gives: a power of two that at least this part of all durations is below, 0 when there are none.
  [[nodiscard]] std::uint64_t below_ns(unsigned percent) const noexcept;

  std::uint64_t counts[buckets]{};
};

/// What one caller did with one lock.
struct LockRow {
  Shard shard;
  std::uint16_t index;
  Operation caller;
  LockHistogram wait;
  LockHistogram held;
};

/// Gives: a line for each row, with how often, and half, 99 of 100 and all of the waits and holds.
std::string lock_report(std::span<const LockRow> rows);

/// Who takes a lock, and what for.
struct LockCaller {
  Operation operation;
  std::uint16_t worker;
};

#if defined(CALM_LOCK_METRICS)

/// The counts of one lock. All but the reading needs the lock.
class LockMeter {
 public:
  void place(Shard shard, std::uint16_t index, const LockObserver& observer) noexcept;
  [[nodiscard]] std::uint64_t now_ns() const noexcept;
  void note_lock(LockCaller caller, std::uint64_t wait_ns, std::uint64_t now_ns) noexcept;

  /// Gives: how long it was held; told later with tell(), when it is no longer.
  std::uint64_t note_unlock(LockCaller caller) noexcept;
  void tell(LockAction action, LockCaller caller, std::uint64_t wait_ns, std::uint64_t held_ns) const noexcept;

  /// Adds a row for each caller that locked at least once.
  void read(std::vector<LockRow>& rows) const;

 private:
  struct Counts {
    void add(std::uint64_t ns) noexcept;
    LockHistogram read() const noexcept;

    lockfree::RealAtomics::Atomic<std::uint64_t> counts[LockHistogram::buckets]{};
  };

  LockObserver observer_;
  Shard shard_ = Shard::regions;
  std::uint16_t index_ = 0;
  std::uint64_t taken_ns_ = 0;  // when the holder took it
  Counts wait_[operation_count];
  Counts held_[operation_count];
};

template <lockfree::AtomicsPolicy Atomics>
class ShardLock {
 public:
  /// To be called once, before the first lock.
  void place(Shard shard, std::uint16_t index, const LockObserver& observer) noexcept {
    meter_.place(shard, index, observer);
  }

  void lock(LockCaller caller) noexcept {
    if (!Atomics::shared || lock_.try_lock()) {
      meter_.note_lock(caller, 0, meter_.now_ns());
      return;
    }
    const std::uint64_t from_ns = meter_.now_ns();
    lock_.lock();
    const std::uint64_t now_ns = meter_.now_ns();
    meter_.note_lock(caller, now_ns - from_ns, now_ns);
  }

  void unlock(LockCaller caller) noexcept {
    const std::uint64_t held_ns = meter_.note_unlock(caller);
    if constexpr (Atomics::shared) lock_.unlock();
    meter_.tell(LockAction::unlock, caller, 0, held_ns);
  }

  void read(std::vector<LockRow>& rows) const { meter_.read(rows); }

 private:
  lockfree::Lock<Atomics> lock_;
  LockMeter meter_;
};

#else

/// The lock of one shard; nothing where there is nobody to keep out.
template <lockfree::AtomicsPolicy Atomics>
class ShardLock {
 public:
  void place(Shard /*shard*/, std::uint16_t /*index*/, const LockObserver& /*observer*/) noexcept {}

  void lock(LockCaller /*caller*/) noexcept {
    if constexpr (Atomics::shared) lock_.lock();
  }
  void unlock(LockCaller /*caller*/) noexcept {
    if constexpr (Atomics::shared) lock_.unlock();
  }

  void read(std::vector<LockRow>& /*rows*/) const {}

 private:
  lockfree::Lock<Atomics> lock_;
};

#endif

}  // inline namespace metered or unmetered
}  // namespace calm::kernel
