#include "calm/kernel/shards.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

#include "calm/lockfree/local_atomics.hpp"

namespace calm::kernel {
namespace {

using lockfree::LocalAtomics;
using lockfree::RealAtomics;

TEST(Shards, take_from_one_to_the_most_workers) {
  for (const std::uint16_t workers : {std::uint16_t{1}, std::uint16_t{2}, workers_max}) {
    Shards<RealAtomics> shards;
    EXPECT_EQ(shards.workers(), 0U);
    EXPECT_TRUE(shards.init(workers));
    EXPECT_EQ(shards.workers(), workers);
  }
}

TEST(Shards, refuse_no_worker_and_too_many_and_can_be_tried_again) {
  Shards<RealAtomics> shards;
  EXPECT_EQ(shards.init(0), Status(Errc::invalid_argument));
  EXPECT_EQ(shards.init(workers_max + 1), Status(Errc::invalid_argument));
  EXPECT_TRUE(shards.init(1));
}

TEST(Shards, have_names_for_their_parts_and_operations) {
  EXPECT_EQ(to_string(Shard::regions), "regions");
  EXPECT_EQ(to_string(Shard::tasks), "tasks");
  EXPECT_EQ(to_string(Shard::obligations), "obligations");
  EXPECT_EQ(to_string(Operation::create_region), "create region");
  EXPECT_EQ(to_string(Operation::region_heap), "region heap");
}

template <class Atomics>
struct Ledger {
  Shards<Atomics> shards;
  std::uint64_t regions = 0;
  std::uint64_t tasks[2] = {};
  std::uint64_t obligations = 0;

  Ledger() { EXPECT_TRUE(shards.init(2)); }

  void add_all(AllHeld held) {
    add_region(held);
    add_task(held, 0);
    add_task(held, 1);
    add_obligation(held);
  }
  void add_region(RegionsHeld /*held*/) { ++regions; }
  void add_task(TaskHeld /*held*/, std::uint16_t home) { ++tasks[home]; }
  void add_obligation(ObligationsHeld /*held*/) { ++obligations; }

  void work(std::uint16_t worker, int rounds) {
    LockOrder order(worker);
    for (int i = 0; i < rounds; ++i) {
      {
        const Guard<Operation::create_region, Atomics> held(shards, order);
        add_region(held);
      }
      {
        const Guard<Operation::acknowledge, Atomics> held(shards, order, worker);
        add_task(held, worker);
      }
      {
        const Guard<Operation::create_obligation, Atomics> held(shards, order);
        add_obligation(held);
      }
      const Guard<Operation::cancel, Atomics> held(shards, order);
      add_all(held);
    }
  }
};

// The numbers are plain: ThreadSanitizer sees a guard that does not lock.
TEST(Shards, guards_keep_workers_apart) {
  constexpr int rounds = 100'000;
  Ledger<RealAtomics> ledger;
  std::thread other([&ledger] { ledger.work(1, rounds); });
  ledger.work(0, rounds);
  other.join();
  EXPECT_EQ(ledger.regions, 4U * rounds);
  EXPECT_EQ(ledger.tasks[0], 3U * rounds);
  EXPECT_EQ(ledger.tasks[1], 3U * rounds);
  EXPECT_EQ(ledger.obligations, 4U * rounds);
}

TEST(Shards, one_worker_needs_no_lock) {
  Ledger<LocalAtomics> ledger;
  ledger.work(0, 10);
  EXPECT_EQ(ledger.regions, 20U);
}

TEST(Shards, without_metrics_there_is_nothing_to_report) {
  if (lock_metrics_on) GTEST_SKIP() << "this build measures";
  Ledger<RealAtomics> ledger;
  ledger.work(0, 1);
  EXPECT_TRUE(ledger.shards.lock_metrics().empty());
  EXPECT_EQ(lock_report(ledger.shards.lock_metrics()), "");
}

TEST(Shards, a_guard_stays_where_it_was_made) {
  using AnyGuard = Guard<Operation::cancel, RealAtomics>;
  static_assert(!std::is_copy_constructible_v<AnyGuard> && !std::is_move_constructible_v<AnyGuard>);
  static_assert(!std::is_copy_assignable_v<AnyGuard> && !std::is_move_assignable_v<AnyGuard>);
}

TEST(Shards, only_a_guard_of_one_task_shard_is_told_whose) {
  using Locks = Shards<RealAtomics>;
  using One = Guard<Operation::acknowledge, RealAtomics>;
  using All = Guard<Operation::cancel, RealAtomics>;
  static_assert(std::is_constructible_v<One, Locks&, LockOrder&, std::uint16_t>);
  static_assert(!std::is_constructible_v<One, Locks&, LockOrder&>);
  static_assert(std::is_constructible_v<All, Locks&, LockOrder&>);
  static_assert(!std::is_constructible_v<All, Locks&, LockOrder&, std::uint16_t>);
}

}  // namespace
}  // namespace calm::kernel
