// builds.hpp — the two kernels that are compared, and what each operation of a worker goes through.
// Laws:    SHD-2, SHD-4
// Threads: call() anywhere; the rest alone
// Cancel:  not applicable
//
// Sharded is BasicKernel<RealAtomics>: shards, gate words, task words. OneMutex is the same code over words that are plain
// values, so neither its gates nor its words nor its shards cost an atomic step; instead one lock, of the kind that the shards
// have, is held for the length of every operation. That is the strongest kernel with one mutex that these sources make.
// Both write the same events, and both number them with one atomic counter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/contention/records.hpp"
#include "calm/kernel/kernel.hpp"
#include "calm/kernel/lock_metrics.hpp"
#include "calm/lockfree/atomics.hpp"
#include "calm/lockfree/local_atomics.hpp"
#include "calm/lockfree/lock.hpp"

namespace calm::contention {

/// The operations of the kernel that a run uses: who held the one mutex.
enum class Call : std::uint8_t {
  wake,
  begin_poll,
  checkpoint,
  end_poll,
  spawn,
  complete,
  reserve,
  commit,
  create_region,
  cancel,
  close_region,
  look,
  snapshot,
};
inline constexpr std::string_view call_names[] = {"wake",         "begin poll", "checkpoint", "end poll",      "spawn",
                                                  "complete",     "reserve",    "commit",     "create region", "cancel",
                                                  "close region", "look",       "snapshot"};
inline constexpr std::size_t call_count = sizeof(call_names) / sizeof(call_names[0]);
static_assert(call_count == static_cast<std::size_t>(Call::snapshot) + 1);

class Sharded {
 public:
  using Atomics = lockfree::RealAtomics;

  explicit Sharded(std::uint16_t workers) : records_(workers) {}

  [[nodiscard]] kernel::LockObserver observer() noexcept { return records_.observer(); }
  template <class Operation>
  [[gnu::always_inline]] decltype(auto) call(Call /*call*/, const kernel::Worker& /*worker*/, Operation&& operation) {
    return std::forward<Operation>(operation)();
  }

  /// Gives: a row for each shard and caller, from what the kernel counted.
  [[nodiscard]] std::vector<std::string> rows(const std::vector<kernel::LockRow>& counted) const {
    std::vector<std::string> rows;
    rows.reserve(counted.size());
    for (const kernel::LockRow& row : counted) {
      rows.push_back(json_row(letter_of(row.shard, row.index), to_string(row.caller), row.wait, row.held));
    }
    return rows;
  }
  [[nodiscard]] const Records& records() const noexcept { return records_; }

 private:
  Records records_;
};

/// Words without atomic steps for a kernel with several workers of which one at a time is inside.
struct GuardedAtomics : lockfree::LocalAtomics {
  static constexpr bool shared = true;
};
static_assert(lockfree::AtomicsPolicy<GuardedAtomics>);

class OneMutex {
 public:
  using Atomics = GuardedAtomics;

  explicit OneMutex(std::uint16_t workers) : records_(workers) {}

  [[nodiscard]] static kernel::LockObserver observer() noexcept { return {}; }  // its shards have nobody to wait for
  template <class Operation>
  [[gnu::always_inline]] decltype(auto) call(Call call, const kernel::Worker& worker, Operation&& operation) {
    const Hold hold(*this, call, worker.index());
    return std::forward<Operation>(operation)();
  }

  [[nodiscard]] std::vector<std::string> rows(const std::vector<kernel::LockRow>& /*counted*/) const {
    std::vector<std::string> rows;
    for (std::size_t i = 0; i < call_count; ++i) {
      if (wait_[i].total() != 0) rows.push_back(json_row("M", call_names[i], wait_[i], held_[i]));
    }
    return rows;
  }
  [[nodiscard]] const Records& records() const noexcept { return records_; }

 private:
  class Hold {
   public:
    Hold(OneMutex& build, Call call, std::uint16_t worker) noexcept : build_(build), call_(call), worker_(worker) {
      if constexpr (kernel::lock_metrics_on) {
        const std::uint64_t from_ns = Records::now_ns();
        const bool waits = !build_.lock_.try_lock();
        if (waits) build_.lock_.lock();
        taken_ns_ = Records::now_ns();
        note(kernel::LockAction::lock, waits ? taken_ns_ - from_ns : 0, 0);
      } else {
        build_.lock_.lock();
      }
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold() {
      if constexpr (kernel::lock_metrics_on) note(kernel::LockAction::unlock, 0, Records::now_ns() - taken_ns_);
      build_.lock_.unlock();
    }

   private:
    /// Needs: the lock is held.
    void note(kernel::LockAction action, std::uint64_t wait_ns, std::uint64_t held_ns) noexcept {
      const bool lock = action == kernel::LockAction::lock;
      kernel::LockHistogram& counts = (lock ? build_.wait_ : build_.held_)[static_cast<std::size_t>(call_)];
      ++counts.counts[kernel::LockHistogram::bucket_of(lock ? wait_ns : held_ns)];
      build_.records_.add({.at_ns = Records::now_ns(),
                           .lock = "M",
                           .action = action,
                           .worker = worker_,
                           .wait_ns = wait_ns,
                           .held_ns = held_ns,
                           .caller = call_names[static_cast<std::size_t>(call_)]});
    }

    OneMutex& build_;
    Call call_;
    std::uint16_t worker_;
    std::uint64_t taken_ns_ = 0;
  };

  lockfree::Lock<lockfree::RealAtomics> lock_;
  kernel::LockHistogram wait_[call_count];  // under the lock
  kernel::LockHistogram held_[call_count];  // under the lock
  Records records_;
};

}  // namespace calm::contention
