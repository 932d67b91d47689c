// shards.hpp — the locks of the kernel and the guards that are the only way to them.
// Laws:    SHD-1, SHD-2, SHD-3, SHD-4
// Threads: guards anywhere; init() before a second thread knows the shards
// Cancel:  not applicable; nothing suspends under a guard
//
// A function that needs locks takes the proof that its caller has them: `void fold(AllHeld, Region&)`. A guard is a proof
// of what its operation locks, and a wider proof is a narrower one; there is no way to make one without a guard.
//
//   const Guard<Operation::close_region, Atomics> held(shards, worker.order);
//   fold(held, region);
//
// Where those who may hold guards are a company (lockfree/company.hpp), one that is alone in it takes no locks: a guard is two
// plain writes then, and keeps everybody out all the same.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "calm/check/require.hpp"
#include "calm/kernel/lock_metrics.hpp"
#include "calm/kernel/lock_order.hpp"
#include "calm/kernel/operation.hpp"
#include "calm/kernel/shard.hpp"
#include "calm/lockfree/atomics.hpp"
#include "calm/lockfree/company.hpp"
#include "calm/model/error_code.hpp"

namespace calm::kernel {

// As in lock_metrics.hpp: another name for another choice.
#if defined(CALM_LOCK_METRICS)
inline namespace metered {
#else
inline namespace unmetered {
#endif

template <Operation operation, lockfree::AtomicsPolicy Atomics>
class Guard;

/// The proof for `part` can be had from the proof for `set`.
template <ShardSet set, ShardSet part>
concept Covers = contains(set, part);

/// Proof that the caller holds these shards. Empty; good for as long as the guard that it comes from.
template <ShardSet set>
class Held {
 public:
  template <ShardSet wider>
    requires Covers<wider, set>
  constexpr Held(Held<wider> /*proof*/) noexcept {}  // NOLINT(google-explicit-constructor): a wider proof is a narrower

 private:
  template <Operation operation, lockfree::AtomicsPolicy Atomics>
  friend class Guard;
  constexpr Held() noexcept = default;
};

using RegionsHeld = Held<ShardSet::regions>;
using TaskHeld = Held<ShardSet::home_tasks>;  ///< one A: the caller says whose
using TasksHeld = Held<ShardSet::all_tasks>;
using ObligationsHeld = Held<ShardSet::obligations>;
using AllHeld = Held<ShardSet::everything>;

template <lockfree::AtomicsPolicy Atomics>
class Shards {
 public:
  Shards() noexcept = default;
  Shards(const Shards&) = delete;
  Shards& operator=(const Shards&) = delete;

  /// Needs: new shards. The observer is for lock metrics, without them nobody looks at it.
  /// Fails: invalid_argument for no worker or more than workers_max; resource_exhausted without memory. Then it may be
  ///        tried again.
  [[nodiscard]] Status init(std::uint16_t workers, const LockObserver& observer = {}) noexcept {
    CALM_REQUIRE(SHD_1, workers_ == 0, workers_);
    if (workers == 0 || workers > workers_max) return Errc::invalid_argument;
    tasks_.reset(new (std::nothrow) PaddedLock[workers]);
    if (tasks_ == nullptr) return Errc::resource_exhausted;
    regions_.place(Shard::regions, 0, observer);
    obligations_.place(Shard::obligations, 0, observer);
    for (std::uint16_t i = 0; i < workers; ++i) tasks_[i].place(Shard::tasks, i, observer);
    workers_ = workers;
    return {};
  }

  [[nodiscard]] std::uint16_t workers() const noexcept { return workers_; }

  /// Only members of this company hold guards from now on, one at a time each, and are in it when they do. With lock metrics
  /// all locks are taken all the same. Needs: no guard is held; the company outlives this.
  void keep_among(lockfree::Company<Atomics>& company) noexcept {
    if constexpr (!lock_metrics_on) company_ = &company;
  }

  /// Gives: that company; nullptr where there is none. Needs: as for a guard.
  [[nodiscard]] lockfree::Company<Atomics>* company(const LockOrder& order) const noexcept {
    CALM_SLOW(SHD_3, company_ == nullptr || order.is_member(), order.worker());
    return company_;
  }

  /// Gives: what was counted so far, in the order of the shards; nothing without lock metrics. Takes no lock.
  [[nodiscard]] std::vector<LockRow> lock_metrics() const {
    std::vector<LockRow> rows;
    regions_.read(rows);
    for (std::uint16_t i = 0; i < workers_; ++i) tasks_[i].read(rows);
    obligations_.read(rows);
    return rows;
  }

 private:
  template <Operation operation, lockfree::AtomicsPolicy Policy>
  friend class Guard;

  using Company = lockfree::Company<Atomics>;
  struct alignas(128) PaddedLock : ShardLock<Atomics> {};
  static_assert(lock_metrics_on || sizeof(PaddedLock) == 128, "a cache line pair for each lock, and no more");

  PaddedLock regions_;
  PaddedLock obligations_;
  std::unique_ptr<PaddedLock[]> tasks_;
  std::uint16_t workers_ = 0;
  Company* company_ = nullptr;
};

/// Holds what its operation needs, from its first to its last line. With LocalAtomics there is nobody to keep out, and
/// a guard is its type and, with CALM_SLOW_CHECKS, its place in the order.
template <Operation operation, lockfree::AtomicsPolicy Atomics>
class Guard {
 public:
  static constexpr ShardSet shards = shards_of(operation);

  /// Needs: initialised shards; the order of the calling thread, which holds nothing that comes later.
  [[nodiscard("the locks would be left at once")]] Guard(Shards<Atomics>& locks,
                                                         LockOrder& order) noexcept(!LockOrder::active)
    requires(shards != ShardSet::home_tasks)
      : locks_(locks), order_(order) {
    take();
  }

  /// Needs: as the other; `home` is a worker's index.
  [[nodiscard("the locks would be left at once")]] Guard(Shards<Atomics>& locks, LockOrder& order,
                                                         std::uint16_t home) noexcept(!LockOrder::active)
    requires(shards == ShardSet::home_tasks)
      : locks_(locks), order_(order), first_task_(home) {
    CALM_SLOW(SHD_1, home < locks.workers_, home, locks.workers_);
    take();
  }

  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  ~Guard() {
    if constexpr (Atomics::shared) {
      if (alone_) {
        note_all(false);
        locks_.company_->end_alone(lockfree::AloneIn::guard);
        return;
      }
    }
    if constexpr (takes(shards, Shard::obligations)) leave(locks_.obligations_, Shard::obligations, 0);
    if constexpr (takes(shards, Shard::tasks)) {
      for (std::uint16_t i = end_task(); i-- != first_task_;) leave(locks_.tasks_[i], Shard::tasks, i);
    }
    if constexpr (takes(shards, Shard::regions)) leave(locks_.regions_, Shard::regions, 0);
  }

  /// Gives: true when nobody else is at work, nor comes before this guard ends: see BasicKernel::is_alone_in_guard().
  [[nodiscard]] bool is_alone() const noexcept { return alone_; }

  /// Gives: the proof of what this guard holds, or of a part of it.
  template <ShardSet part>
    requires Covers<shards, part>
  constexpr operator Held<part>() const noexcept {  // NOLINT(google-explicit-constructor): a guard is a proof
    return {};
  }

 private:
  using PaddedLock = typename Shards<Atomics>::PaddedLock;

  void take() noexcept(!LockOrder::active) {
    if constexpr (Atomics::shared) {
      if (locks_.company_ != nullptr) {
        CALM_SLOW(SHD_3, order_.is_member() && order_.nothing(), order_.worker());
        alone_ = locks_.company_->begin_alone(lockfree::AloneIn::guard);
        if (alone_) return note_all(true);
      }
    }
    if constexpr (takes(shards, Shard::regions)) enter(locks_.regions_, Shard::regions, 0);
    if constexpr (takes(shards, Shard::tasks)) {
      for (std::uint16_t i = first_task_; i != end_task(); ++i) enter(locks_.tasks_[i], Shard::tasks, i);
    }
    if constexpr (takes(shards, Shard::obligations)) enter(locks_.obligations_, Shard::obligations, 0);
  }

  /// For who checks the order, where there are no locks to take.
  void note_all(bool taken) {
    if constexpr (LockOrder::active) {
      const auto note = [&](Shard shard, std::uint16_t index) {
        if (taken) {
          order_.note_lock(shard, index);
        } else {
          order_.note_unlock(shard, index);
        }
      };
      if constexpr (takes(shards, Shard::regions)) note(Shard::regions, 0);
      if constexpr (takes(shards, Shard::tasks)) {
        for (std::uint16_t i = first_task_; i != end_task(); ++i) note(Shard::tasks, i);
      }
      if constexpr (takes(shards, Shard::obligations)) note(Shard::obligations, 0);
    }
  }

  void enter(PaddedLock& padded, Shard shard, std::uint16_t index) noexcept(!LockOrder::active) {
    order_.note_lock(shard, index);
    padded.lock({operation, order_.worker()});
  }
  void leave(PaddedLock& padded, Shard shard, std::uint16_t index) noexcept {
    padded.unlock({operation, order_.worker()});
    order_.note_unlock(shard, index);
  }

  std::uint16_t end_task() const noexcept {
    if constexpr (shards == ShardSet::home_tasks) {
      return static_cast<std::uint16_t>(first_task_ + 1);
    } else {
      return locks_.workers_;
    }
  }

  Shards<Atomics>& locks_;
  LockOrder& order_;
  std::uint16_t first_task_ = 0;
  bool alone_ = false;
};

}  // inline namespace metered or unmetered
}  // namespace calm::kernel
