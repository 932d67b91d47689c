// records.hpp — lock operations of a run, in the order in which each worker did them, with their times.
// Laws:    SHD-4
// Threads: each worker adds to its own list; reading when the workers are gone
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "calm/kernel/lock_metrics.hpp"

namespace calm::contention {

/// One operation on a lock, as SHD-4 has it, and when.
struct Record {
  std::uint64_t at_ns;  ///< when it was done
  std::string lock;     ///< `B`, `A0`, `A1`, …, `C`; `M` for the one mutex
  kernel::LockAction action;
  std::uint16_t worker;
  std::uint64_t wait_ns;
  std::uint64_t held_ns;
  std::string_view caller;
};

class Records {
 public:
  /// Each worker keeps this many, the first ones.
  static constexpr std::size_t kept_per_worker = 4096;

  explicit Records(std::uint16_t workers);

  /// The clock of waits, holds and records.
  static std::uint64_t now_ns() noexcept;
  /// Gives: what a kernel takes that is to tell its lock operations. Needs: this outlives it.
  [[nodiscard]] kernel::LockObserver observer() noexcept;
  void add(const Record& record) noexcept;

  /// Gives: all records as a JSON array, by worker, times from the first of all on.
  [[nodiscard]] std::string json() const;

 private:
  std::vector<std::vector<Record>> lists_;  // one per worker, made before they run
};

/// Gives: `B`, `A0`, `C`: the letters that SHD-1 has for the shards.
std::string letter_of(kernel::Shard shard, std::uint16_t index);

/// Gives: what one caller did with one lock, as a JSON object. The counts are those of LockHistogram.
std::string json_row(std::string_view lock, std::string_view caller, const kernel::LockHistogram& wait,
                     const kernel::LockHistogram& held);

}  // namespace calm::contention
