#include "calm/mem/slab.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "calm/lockfree/local_atomics.hpp"

namespace calm::mem {
namespace {

template <std::size_t bytes>
struct alignas(64) Sized {
  Sized* free_link = nullptr;
  std::uint64_t value = 7;
  std::array<std::uint8_t, bytes - 16> rest{};
};
template <std::size_t bytes, lockfree::AtomicsPolicy Atomics = lockfree::RealAtomics>
using SlabOf = Slab<Sized<bytes>, &Sized<bytes>::free_link, Atomics>;

using Record = Sized<256>;
using Records = SlabOf<256>;
constexpr std::uint32_t in_chunk = Records::slots_per_chunk - 1;  // without the describing slot

template <class Slab>
std::vector<std::uint32_t> indexes_of(const Slab& slab) {
  std::vector<std::uint32_t> indexes;
  slab.for_each([&](auto& record) { indexes.push_back(slab.index_of(record)); });
  return indexes;
}

TEST(Slab, without_reserve_there_is_nothing_to_find) {
  const Records slab(2, 100);
  EXPECT_EQ(slab.find(1), nullptr);
  EXPECT_EQ(slab.made(), 0U);
  EXPECT_TRUE(indexes_of(slab).empty());
  EXPECT_EQ(slab.records_max(), 100U);
  EXPECT_EQ(slab.workers(), 2U);
}

TEST(Slab, reserving_again_changes_nothing) {
  Records slab(1, 100);
  ASSERT_TRUE(slab.reserve());
  Record* const record = slab.take(0);
  ASSERT_TRUE(slab.reserve());
  EXPECT_EQ(slab.find(Records::index_of(*record)), record);
}

TEST(Slab, fresh_records_are_default_constructed_and_come_by_ascending_index) {
  Records slab(1, 3 * in_chunk);
  ASSERT_TRUE(slab.reserve());
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < 3 * in_chunk; ++i) {
    Record* const record = slab.take(0);
    ASSERT_NE(record, nullptr);
    EXPECT_EQ(record->value, 7U);
    EXPECT_GT(Records::index_of(*record), last);
    last = Records::index_of(*record);
  }
  EXPECT_EQ(last, 3 * Records::slots_per_chunk - 1);
}

TEST(Slab, a_record_is_found_by_its_index_and_knows_its_home) {
  Records slab(3, 1000);
  ASSERT_TRUE(slab.reserve());
  for (std::uint32_t i = 0; i < 900; ++i) {
    Record* const record = slab.take(i % 3);
    ASSERT_NE(record, nullptr);
    EXPECT_EQ(slab.find(Records::index_of(*record)), record);
    EXPECT_EQ(Records::home_of(*record), i % 3);
  }
}

TEST(Slab, what_was_never_made_is_not_found) {
  Records slab(1, 1000);
  ASSERT_TRUE(slab.reserve());
  EXPECT_EQ(slab.find(1), nullptr);
  ASSERT_NE(slab.take(0), nullptr);
  EXPECT_NE(slab.find(1), nullptr);
  EXPECT_EQ(slab.find(0), nullptr) << "the describing slot";
  EXPECT_NE(slab.find(in_chunk), nullptr);
  EXPECT_EQ(slab.find(Records::slots_per_chunk), nullptr) << "of a chunk that is not made";
  EXPECT_EQ(slab.find(Records::slots_per_chunk + 1), nullptr);
  EXPECT_EQ(slab.find(UINT32_MAX), nullptr);
}

TEST(Slab, a_record_given_back_is_still_found_with_its_content) {
  Records slab(1, 10);
  ASSERT_TRUE(slab.reserve());
  Record* const record = slab.take(0);
  const std::uint32_t index = Records::index_of(*record);
  record->value = 42;
  slab.give_back(0, *record);
  ASSERT_EQ(slab.find(index), record);
  EXPECT_EQ(record->value, 42U);
  EXPECT_EQ(slab.take(0), record);
  EXPECT_EQ(record->value, 42U);
}

TEST(Slab, the_newest_own_record_comes_first_then_the_newest_of_the_others_then_a_fresh_one) {
  Records slab(2, 10);
  ASSERT_TRUE(slab.reserve());
  std::array<Record*, 4> taken{};
  for (Record*& record : taken) record = slab.take(0);
  slab.give_back(1, *taken[0]);
  slab.give_back(0, *taken[1]);
  slab.give_back(1, *taken[2]);
  slab.give_back(0, *taken[3]);
  EXPECT_EQ(slab.take(0), taken[3]);
  EXPECT_EQ(slab.take(0), taken[1]);
  EXPECT_EQ(slab.take(0), taken[2]);
  EXPECT_EQ(slab.take(0), taken[0]);
  EXPECT_EQ(slab.made(), 4U);
  EXPECT_EQ(Records::index_of(*slab.take(0)), 5U);
  EXPECT_EQ(slab.made(), 5U);
}

TEST(Slab, a_record_given_back_by_another_goes_home) {
  Records slab(2, 10);
  ASSERT_TRUE(slab.reserve());
  Record* const record = slab.take(0);
  slab.give_back(1, *record);
  EXPECT_NE(slab.take(1), record);
  EXPECT_EQ(slab.take(0), record);
}

TEST(Slab, the_ceiling_is_exact_over_all_workers) {
  Records slab(3, 10);
  ASSERT_TRUE(slab.reserve());
  std::set<Record*> taken;
  for (std::uint32_t i = 0; i < 10; ++i) taken.insert(slab.take(i % 3));
  EXPECT_EQ(taken.size(), 10U);
  EXPECT_FALSE(taken.contains(nullptr));
  EXPECT_EQ(slab.made(), 10U);

  const std::vector<std::uint32_t> before = indexes_of(slab);
  for (std::uint32_t worker = 0; worker < 3; ++worker) EXPECT_EQ(slab.take(worker), nullptr);
  EXPECT_EQ(slab.made(), 10U);
  EXPECT_EQ(indexes_of(slab), before);

  Record* const record = *taken.begin();
  slab.give_back(Records::home_of(*record), *record);
  EXPECT_EQ(slab.take(Records::home_of(*record)), record);
}

TEST(Slab, a_worker_without_a_chunk_is_refused_at_the_ceiling) {
  Records slab(2, in_chunk + 1);
  ASSERT_TRUE(slab.reserve());
  for (std::uint32_t i = 0; i < in_chunk + 1; ++i) ASSERT_NE(slab.take(0), nullptr);
  EXPECT_EQ(slab.take(0), nullptr);
  EXPECT_EQ(slab.take(1), nullptr);
  EXPECT_EQ(slab.find(2 * Records::slots_per_chunk + 1), nullptr) << "no chunk was made for it";
}

TEST(Slab, a_ceiling_of_nothing_refuses_everything) {
  Records slab(1, 0);
  ASSERT_TRUE(slab.reserve());
  EXPECT_EQ(slab.take(0), nullptr);
  EXPECT_EQ(slab.find(1), nullptr);
}

TEST(Slab, a_high_ceiling_costs_nothing_before_it_is_used) {
  Records slab(64, 400'000'000);  // a directory of 25 MB, of which one page is touched
  ASSERT_TRUE(slab.reserve());
  Record* const record = slab.take(63);
  ASSERT_NE(record, nullptr);
  EXPECT_EQ(slab.find(Records::index_of(*record)), record);
}

TEST(Slab, every_record_ever_taken_is_visited_by_ascending_index_and_no_other) {
  Records slab(2, 1000);
  ASSERT_TRUE(slab.reserve());
  std::set<std::uint32_t> expected;
  std::vector<Record*> taken;
  for (std::uint32_t i = 0; i < 2 * in_chunk; ++i) {
    taken.push_back(slab.take(i % 3 == 0 ? 1 : 0));
    expected.insert(Records::index_of(*taken.back()));
  }
  for (std::size_t i = 0; i < taken.size(); i += 2) slab.give_back(0, *taken[i]);
  EXPECT_EQ(indexes_of(slab), std::vector<std::uint32_t>(expected.begin(), expected.end()));
}

struct alignas(64) Counted {
  Counted() noexcept { ++alive; }
  ~Counted() { --alive; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  Counted* free_link = nullptr;
  static inline int alive = 0;
};

TEST(Slab, the_end_of_the_slab_ends_every_record_once) {
  {
    Slab<Counted, &Counted::free_link> slab(2, 2000);
    ASSERT_TRUE(slab.reserve());
    for (int i = 0; i < 1200; ++i) {
      Counted* const record = slab.take(0);
      if (i % 2 == 0) slab.give_back(1, *record);
    }
    EXPECT_GT(Counted::alive, 0);
    EXPECT_EQ(Counted::alive % 511, 0) << "whole chunks";
  }
  EXPECT_EQ(Counted::alive, 0);
}

TEST(Slab, starting_over_ends_every_record_and_hands_out_new_ones_by_the_same_indexes) {
  using Plain = SlabOf<256, lockfree::LocalAtomics>;
  for (const std::uint32_t count : {0U, 5U, in_chunk, 3 * in_chunk}) {
    Plain slab(1, 3 * in_chunk);
    ASSERT_TRUE(slab.reserve());
    std::vector<std::uint32_t> first;
    for (std::uint32_t i = 0; i < count; ++i) {
      auto* const record = slab.take(0);
      ASSERT_NE(record, nullptr);
      record->value = i;
      first.push_back(Plain::index_of(*record));
      if (i % 3 == 0) slab.give_back(0, *record);
    }
    slab.start_over();
    EXPECT_EQ(slab.made(), 0U);
    EXPECT_TRUE(indexes_of(slab).empty());
    std::set<std::uint32_t> again;
    for (std::uint32_t i = 0; i < 3 * in_chunk; ++i) {
      auto* const record = slab.take(0);
      ASSERT_NE(record, nullptr) << i << " after " << count;
      EXPECT_EQ(record->value, 7U);
      again.insert(Plain::index_of(*record));
    }
    EXPECT_EQ(slab.take(0), nullptr) << "the ceiling is what it was";
    EXPECT_EQ(again.size(), 3 * in_chunk);
    for (const std::uint32_t index : first) EXPECT_TRUE(again.contains(index));
  }
}

TEST(Slab, starting_over_ends_what_the_records_own) {
  Slab<Counted, &Counted::free_link, lockfree::LocalAtomics> slab(1, 2000);
  ASSERT_TRUE(slab.reserve());
  for (int i = 0; i < 1200; ++i) (void)slab.take(0);
  slab.start_over();
  EXPECT_EQ(Counted::alive, 0);
  (void)slab.take(0);
  const int one_chunk = Counted::alive;
  slab.start_over();
  EXPECT_EQ(Counted::alive, one_chunk);
}

/// What lies aside of a record.
struct alignas(64) Besides {
  std::uint64_t value = 0;
  std::shared_ptr<int> shared;
};
using Small = Sized<64>;
template <lockfree::AtomicsPolicy Atomics>
using BesidesSlab = Slab<Small, &Small::free_link, Atomics, Besides>;

TEST(Slab, what_lies_aside_begins_as_zeros_and_stays_with_its_record) {
  using Asides = BesidesSlab<lockfree::RealAtomics>;
  constexpr std::uint32_t count = 4 * Asides::slots_per_chunk;
  Asides slab(2, count);
  ASSERT_TRUE(slab.reserve());
  std::set<const Besides*> places;
  std::vector<Small*> records;
  for (std::uint32_t i = 0; i < count; ++i) {
    records.push_back(slab.take(i % 2));
    ASSERT_NE(records.back(), nullptr) << i;
    Besides& besides = Asides::aside_of(*records.back());
    EXPECT_EQ(besides.value, 0U);
    EXPECT_EQ(besides.shared, nullptr);
    EXPECT_TRUE(places.insert(&besides).second) << "each has its own";
    besides.value = Asides::index_of(*records.back());
  }
  for (const Small* record : records) EXPECT_EQ(Asides::aside_of(*record).value, Asides::index_of(*record));
  Small& again = *records.front();
  slab.give_back(0, again);
  EXPECT_EQ(slab.take(0), &again);
  EXPECT_EQ(Asides::aside_of(again).value, Asides::index_of(again)) << "as its last holder left it";
}

TEST(Slab, what_lies_aside_ends_with_the_slab_and_is_new_when_it_starts_over) {
  using Asides = BesidesSlab<lockfree::LocalAtomics>;
  const auto shared = std::make_shared<int>(1);
  {
    Asides slab(1, 2000);
    ASSERT_TRUE(slab.reserve());
    Asides::aside_of(*slab.take(0)).shared = shared;
    slab.start_over();
    EXPECT_EQ(shared.use_count(), 1) << "in the one chunk that it keeps";
    for (int i = 0; i < 1200; ++i) {
      Besides& besides = Asides::aside_of(*slab.take(0));
      EXPECT_EQ(besides.shared, nullptr);
      besides.shared = shared;
    }
    EXPECT_EQ(shared.use_count(), 1201);
    slab.start_over();
    EXPECT_EQ(shared.use_count(), 1) << "in several that it frees";
    Asides::aside_of(*slab.take(0)).shared = shared;
  }
  EXPECT_EQ(shared.use_count(), 1);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if !defined(__has_feature)
#define CALM_TEST_OWN_PAGES_ 1
#elif !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
#define CALM_TEST_OWN_PAGES_ 1
#endif
#endif

#if defined(CALM_TEST_OWN_PAGES_)  // where memory comes from the system as it is
TEST(Slab, what_nobody_writes_aside_takes_no_memory) {
  using Asides = BesidesSlab<lockfree::RealAtomics>;
  constexpr std::uint32_t count = 31 * (Asides::slots_per_chunk - 1);  // runs of 1, 2, 4, 8 and 16 chunks
  Asides slab(1, count);
  ASSERT_TRUE(slab.reserve());
  for (std::uint32_t i = 1; i < count; ++i) ASSERT_NE(slab.take(0), nullptr);
  const Small* const last = slab.take(0);
  ASSERT_NE(last, nullptr);

  constexpr std::size_t page = 4096;
  const auto end = (reinterpret_cast<std::uintptr_t>(&Asides::aside_of(*last)) + 1) / page * page;
  std::array<unsigned char, 64> there{};  // of the pages of half a run, before its last record
  const auto begin = end - there.size() * page;
  ASSERT_EQ(mincore(reinterpret_cast<void*>(begin), there.size() * page, there.data()), 0);  // NOLINT
  EXPECT_EQ(std::count_if(there.begin(), there.end(), [](unsigned char of) { return (of & 1) != 0; }), 0);
}
#endif

TEST(Slab, a_slab_that_was_never_reserved_ends) { const Records slab(4, 100); }

template <class S>
void walk_two_chunks() {
  S slab(1, 2000);
  ASSERT_TRUE(slab.reserve());
  std::set<std::uint32_t> indexes;
  for (std::uint32_t i = 0; i < S::slots_per_chunk + 3; ++i) {
    auto* const record = slab.take(0);
    ASSERT_NE(record, nullptr);
    record->rest.fill(0xFF);
    record->value = i;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(record) % sizeof(*record), 0U);
    EXPECT_TRUE(indexes.insert(S::index_of(*record)).second);
  }
  std::uint64_t next = 0;
  slab.for_each([&](auto& record) {
    EXPECT_EQ(record.value, next++);
    EXPECT_EQ(slab.find(S::index_of(record)), &record);
    EXPECT_EQ(S::home_of(record), 0U);
  });
}

TEST(Slab, records_of_every_size_lie_apart) {
  walk_two_chunks<SlabOf<64>>();
  walk_two_chunks<SlabOf<128>>();
  walk_two_chunks<SlabOf<256>>();
  walk_two_chunks<SlabOf<512>>();
  walk_two_chunks<SlabOf<1024>>();
}

TEST(Slab, it_works_with_plain_words_too) {
  walk_two_chunks<SlabOf<64, lockfree::LocalAtomics>>();
  SlabOf<256, lockfree::LocalAtomics> slab(1, 2);
  ASSERT_TRUE(slab.reserve());
  Record* const record = slab.take(0);
  ASSERT_NE(slab.take(0), nullptr);
  EXPECT_EQ(slab.take(0), nullptr);
  slab.give_back(0, *record);
  EXPECT_EQ(slab.take(0), record);
}

// Against a list of who holds what: a record is never in two hands, and none is made while one is free for the worker.
RC_GTEST_PROP(Slab, any_sequence_of_takes_and_returns_keeps_the_count,
              (std::vector<std::pair<bool, std::uint8_t>> steps)) {
  constexpr std::uint32_t workers = 3;
  constexpr std::uint32_t records_max = 12;
  Records slab(workers, records_max);
  RC_ASSERT(slab.reserve());
  std::vector<Record*> held;
  std::array<std::size_t, workers> free{};
  std::uint32_t made = 0;
  for (const auto& [is_take, number] : steps) {
    const std::uint32_t worker = number % workers;
    if (is_take) {
      Record* const record = slab.take(worker);
      const bool expected = free[worker] > 0 || made < records_max;
      RC_ASSERT((record != nullptr) == expected);
      if (record == nullptr) continue;
      RC_ASSERT(std::find(held.begin(), held.end(), record) == held.end());
      RC_ASSERT(Records::home_of(*record) == worker);
      if (free[worker] > 0) {
        --free[worker];
      } else {
        ++made;
      }
      held.push_back(record);
    } else if (!held.empty()) {
      std::swap(held[number % held.size()], held.back());
      ++free[Records::home_of(*held.back())];
      slab.give_back(worker, *held.back());
      held.pop_back();
    }
    RC_ASSERT(slab.made() == made);
  }
  RC_ASSERT(indexes_of(slab).size() == made);
}

TEST(SlabDeathTest, a_slab_needs_a_worker_and_indexes_that_fit) {
  EXPECT_DEATH(Records(0, 1), "law: +HND-1");
  EXPECT_DEATH((SlabOf<256, lockfree::LocalAtomics>(2, 1)), "law: +HND-1") << "plain words are one thread's";
  EXPECT_DEATH(Records(1, UINT32_MAX), "law: +HND-1");
}

#if defined(CALM_SLOW_CHECKS) && CALM_SLOW_CHECKS
TEST(SlabDeathTest, giving_back_twice_is_caught) {
  Records slab(2, 10);
  ASSERT_TRUE(slab.reserve());
  Record* const record = slab.take(0);
  slab.give_back(1, *record);
  EXPECT_DEATH(slab.give_back(0, *record), "index_of\\(record\\) = 1(.|\n)*law: +HND-1");
  EXPECT_DEATH(slab.give_back(1, *record), "law: +HND-1");
}

TEST(SlabDeathTest, a_record_of_another_slab_and_an_unknown_worker_are_caught) {
  Records slab(2, 10);
  Records other(2, 10);
  ASSERT_TRUE(slab.reserve() && other.reserve());
  Record* const record = other.take(0);
  EXPECT_DEATH(slab.give_back(0, *record), "chunk.slab == this");
  EXPECT_DEATH(other.give_back(2, *record), "worker < workers_");
  EXPECT_DEATH(static_cast<void>(slab.take(2)), "worker < workers_");
  Records unreserved(2, 10);
  EXPECT_DEATH(static_cast<void>(unreserved.take(0)), "caches_ != nullptr");
}
#endif

struct alignas(64) Shared {
  Shared* free_link = nullptr;
  std::uint64_t value = 0;                     // plain: ThreadSanitizer sees whether two hold the record
  std::atomic<std::uint64_t> generation{100};  // what a finder may read at any time
};

// Workers take records and leave them in a common place, where any of them finds and gives them back. Meanwhile one
// thread finds records by index and walks over all of them.
TEST(Slab, workers_that_give_back_each_others_records_never_hold_one_twice) {
  using Slab = Slab<Shared, &Shared::free_link>;
  constexpr std::uint32_t workers = 3;
  constexpr std::uint32_t records_max = 2000;
  constexpr int rounds = 500'000;
  Slab slab(workers, records_max);
  ASSERT_TRUE(slab.reserve());
  std::array<std::atomic<Shared*>, 64> places{};
  std::atomic<std::uint32_t> wrong{0};
  std::atomic<bool> stop{false};
  std::latch start(workers + 1);

  const auto let_go = [&](std::uint32_t worker, Shared& record) {
    if (record.value != Slab::index_of(record)) wrong.fetch_add(1, std::memory_order_relaxed);
    record.value = 0;
    record.generation.fetch_add(1, std::memory_order_relaxed);
    slab.give_back(worker, record);
  };
  std::vector<std::thread> threads;
  for (std::uint32_t worker = 0; worker < workers; ++worker) {
    threads.emplace_back([&, worker] {
      start.arrive_and_wait();
      std::uint32_t random = worker + 1;
      for (int i = 0; i < rounds; ++i) {
        random = random * 1664525U + 1013904223U;
        Shared* const record = slab.take(worker);
        if (record != nullptr) {
          if (record->value != 0 || Slab::home_of(*record) != worker) wrong.fetch_add(1, std::memory_order_relaxed);
          record->value = Slab::index_of(*record);
        }
        Shared* const left = places[(random >> 16U) % places.size()].exchange(record, std::memory_order_acq_rel);
        if (left != nullptr) let_go(worker, *left);
      }
    });
  }
  std::thread finder([&] {
    start.arrive_and_wait();
    while (!stop.load(std::memory_order_acquire)) {
      for (std::uint32_t index = 0; index < 4 * Slab::slots_per_chunk; ++index) {
        Shared* const record = slab.find(index);
        if (record == nullptr) continue;
        if (record->generation.load(std::memory_order_relaxed) < 100 || Slab::index_of(*record) != index)
          wrong.fetch_add(1, std::memory_order_relaxed);
      }
      slab.for_each([&](Shared& record) {
        if (record.generation.load(std::memory_order_relaxed) < 100) wrong.fetch_add(1, std::memory_order_relaxed);
      });
    }
  });
  for (std::thread& thread : threads) thread.join();
  stop.store(true, std::memory_order_release);
  finder.join();
  for (std::atomic<Shared*>& place : places) {
    if (Shared* const record = place.load()) let_go(0, *record);
  }
  EXPECT_EQ(wrong.load(), 0U);
  EXPECT_LE(slab.made(), records_max);

  std::set<Shared*> all;
  for (std::uint32_t worker = 0; worker < workers; ++worker) {
    while (Shared* const record = slab.take(worker)) EXPECT_TRUE(all.insert(record).second);
  }
  EXPECT_EQ(all.size(), records_max) << "nothing was lost, and the rest could be made";
}

// value and what index_of() reads are plain: ThreadSanitizer sees whether the chunk was published with them.
TEST(Slab, a_record_found_while_its_chunk_is_new_is_whole) {
  using Slab = SlabOf<1024>;
  constexpr std::uint32_t chunks = 200;
  Slab slab(1, chunks * (Slab::slots_per_chunk - 1));
  ASSERT_TRUE(slab.reserve());
  std::thread worker([&] {
    while (slab.take(0) != nullptr) continue;
  });
  std::uint32_t wrong = 0;
  for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
    const std::uint32_t index = (chunk + 1) * Slab::slots_per_chunk - 1;
    const Sized<1024>* record = nullptr;
    while ((record = slab.find(index)) == nullptr) std::this_thread::yield();
    if (record->value != 7 || Slab::index_of(*record) != index || Slab::home_of(*record) != 0) ++wrong;
  }
  worker.join();
  EXPECT_EQ(wrong, 0U);
}

TEST(Slab, workers_that_meet_at_the_ceiling_make_exactly_so_many) {
  using Slab = Slab<Shared, &Shared::free_link>;
  constexpr std::uint32_t workers = 4;
  for (std::uint32_t round = 0; round < 100; ++round) {
    const std::uint32_t records_max = 1 + 37 * round;
    Slab slab(workers, records_max);
    ASSERT_TRUE(slab.reserve());
    std::atomic<std::uint32_t> taken{0};
    std::latch start(workers);
    std::vector<std::thread> threads;
    for (std::uint32_t worker = 0; worker < workers; ++worker) {
      threads.emplace_back([&, worker] {
        start.arrive_and_wait();
        std::uint32_t mine = 0;
        while (slab.take(worker) != nullptr) ++mine;
        taken.fetch_add(mine, std::memory_order_relaxed);
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(taken.load(), records_max);
    ASSERT_EQ(slab.made(), records_max);
    ASSERT_EQ(indexes_of(slab).size(), records_max);
  }
}

}  // namespace
}  // namespace calm::mem
