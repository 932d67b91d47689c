// Compiled with lock metrics whatever the build says; shards and guards of this file have other names than those of the
// others. lock_metrics_on.cpp has the other half.
#undef CALM_LOCK_METRICS
#define CALM_LOCK_METRICS 1
#include "calm/kernel/lock_metrics.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "calm/kernel/shards.hpp"
#include "calm/lockfree/local_atomics.hpp"

namespace calm::kernel {
namespace {

static_assert(lock_metrics_on);

using lockfree::LocalAtomics;
using lockfree::RealAtomics;

/// A clock that the test sets, and what was recorded.
std::uint64_t now_ns = 0;
std::uint64_t read_clock() noexcept { return now_ns; }

void keep(void* records, const LockRecord& record) noexcept {
  static_cast<std::vector<LockRecord>*>(records)->push_back(record);
}

LockRecord record_of(Shard shard, std::uint16_t index, LockAction action, std::uint64_t held_ns, Operation caller) {
  return {.shard = shard,
          .index = index,
          .action = action,
          .worker = 5,
          .wait_ns = 0,
          .held_ns = held_ns,
          .caller = caller};
}

template <class Atomics>
void expect_one_record_per_operation() {
  std::vector<LockRecord> records;
  Shards<Atomics> shards;
  ASSERT_TRUE(shards.init(2, {.clock_ns = read_clock, .record = keep, .context = &records}));
  LockOrder order(5);
  {
    const Guard<Operation::start_finalizers, Atomics> guard(shards, order);
    now_ns += 100;
  }
  constexpr Operation caller = Operation::start_finalizers;
  EXPECT_EQ(records, (std::vector{record_of(Shard::regions, 0, LockAction::lock, 0, caller),
                                  record_of(Shard::tasks, 0, LockAction::lock, 0, caller),
                                  record_of(Shard::tasks, 1, LockAction::lock, 0, caller),
                                  record_of(Shard::tasks, 1, LockAction::unlock, 100, caller),
                                  record_of(Shard::tasks, 0, LockAction::unlock, 100, caller),
                                  record_of(Shard::regions, 0, LockAction::unlock, 100, caller)}));
}

TEST(LockMetrics, SHD_4_one_record_is_emitted_per_operation) {
  expect_one_record_per_operation<RealAtomics>();
  expect_one_record_per_operation<LocalAtomics>();
}

template <class Atomics>
void expect_counts_by_caller() {
  Shards<Atomics> shards;
  ASSERT_TRUE(shards.init(1, {.clock_ns = read_clock}));
  LockOrder order(0);
  for (int i = 0; i < 3; ++i) {
    const Guard<Operation::create_obligation, Atomics> guard(shards, order);
    now_ns += 1000;
  }
  {
    const Guard<Operation::snapshot, Atomics> guard(shards, order);
    EXPECT_EQ(shards.lock_metrics().size(), 4U) << "reading takes no lock";
  }
  const std::vector<LockRow> rows = shards.lock_metrics();
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].shard, Shard::regions);
  EXPECT_EQ(rows[1].shard, Shard::tasks);
  EXPECT_EQ(rows[2].shard, Shard::obligations);
  EXPECT_EQ(rows[2].caller, Operation::create_obligation);
  EXPECT_EQ(rows[2].wait.counts[0], 3U) << "it was free";
  EXPECT_EQ(rows[2].held.counts[LockHistogram::bucket_of(1000)], 3U);
  EXPECT_EQ(rows[2].held.total(), 3U);
  EXPECT_EQ(rows[3].shard, Shard::obligations);
  EXPECT_EQ(rows[3].caller, Operation::snapshot);
  EXPECT_EQ(rows[3].held.counts[0], 1U);
}

TEST(LockMetrics, SHD_4_each_shard_counts_waits_and_holds_by_caller) {
  expect_counts_by_caller<RealAtomics>();
  expect_counts_by_caller<LocalAtomics>();
}

TEST(LockMetrics, SHD_4_the_report_has_a_line_for_each_shard_and_caller) {
  Shards<RealAtomics> shards;
  ASSERT_TRUE(shards.init(2, {.clock_ns = read_clock}));
  LockOrder order(0);
  for (int i = 0; i < 2; ++i) {
    const Guard<Operation::acknowledge, RealAtomics> guard(shards, order, 1);
    now_ns += i == 0 ? 3 : 100;
  }
  {
    const Guard<Operation::region_heap, RealAtomics> guard(shards, order);
  }
  EXPECT_EQ(lock_report(shards.lock_metrics()),
            "regions     region heap        1         wait ns p50 <1          p99 <1          max <1         "
            "held ns p50 <1          p99 <1          max <1\n"
            "tasks 1     acknowledge        2         wait ns p50 <1          p99 <1          max <1         "
            "held ns p50 <4          p99 <128        max <128\n");
}

TEST(LockMetrics, actions_have_names) {
  EXPECT_EQ(to_string(LockAction::lock), "lock");
  EXPECT_EQ(to_string(LockAction::unlock), "unlock");
  EXPECT_EQ(to_string(LockAction::try_lock), "try_lock");
  EXPECT_EQ(to_string(LockAction::read_lock), "read_lock");
  EXPECT_EQ(to_string(LockAction::read_unlock), "read_unlock");
}

TEST(LockHistogram, buckets_are_powers_of_two) {
  EXPECT_EQ(LockHistogram::bucket_of(0), 0U);
  EXPECT_EQ(LockHistogram::bucket_of(1), 1U);
  EXPECT_EQ(LockHistogram::bucket_of(2), 2U);
  EXPECT_EQ(LockHistogram::bucket_of(3), 2U);
  EXPECT_EQ(LockHistogram::bucket_of(4), 3U);
  EXPECT_EQ(LockHistogram::bucket_of(~std::uint64_t{0}), LockHistogram::buckets - 1);
}

TEST(LockHistogram, a_percentile_is_the_end_of_its_bucket) {
  LockHistogram histogram;
  EXPECT_EQ(histogram.below_ns(100), 0U);
  histogram.counts[LockHistogram::bucket_of(5)] = 99;
  histogram.counts[LockHistogram::bucket_of(1000)] = 1;
  EXPECT_EQ(histogram.below_ns(0), 8U);
  EXPECT_EQ(histogram.below_ns(99), 8U);
  EXPECT_EQ(histogram.below_ns(100), 1024U);
}

// A lock that is taken already: its holder lets go only when the waiter has read the clock.
TEST(LockMetrics, SHD_4_a_wait_is_measured_from_the_first_look) {
  static std::atomic<std::uint64_t> reads;
  reads = 0;
  const auto clock = []() noexcept -> std::uint64_t { return 1000 * ++reads; };
  Shards<RealAtomics> shards;
  ASSERT_TRUE(shards.init(1, {.clock_ns = clock}));
  LockOrder order(1);
  std::thread waiter;
  {
    const Guard<Operation::create_region, RealAtomics> guard(shards, order);  // reads 1
    waiter = std::thread([&shards] {
      LockOrder own(2);
      const Guard<Operation::region_heap, RealAtomics> held(shards, own);  // reads 2, then 4
    });
    while (reads != 2) std::this_thread::yield();
  }  // reads 3
  waiter.join();
  const auto rows = shards.lock_metrics();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[1].caller, Operation::region_heap);
  EXPECT_EQ(rows[1].wait.counts[LockHistogram::bucket_of(2000)], 1U);
}

TEST(LockMetrics, without_a_clock_operations_are_counted_all_the_same) {
  Shards<RealAtomics> shards;
  ASSERT_TRUE(shards.init(1));
  LockOrder order(0);
  {
    const Guard<Operation::cancel, RealAtomics> guard(shards, order);
  }
  const auto rows = shards.lock_metrics();
  ASSERT_EQ(rows.size(), 3U);
  for (const LockRow& row : rows) EXPECT_EQ(row.wait.total(), 1U);
}

}  // namespace
}  // namespace calm::kernel
