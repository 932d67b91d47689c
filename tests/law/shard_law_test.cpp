// Compiled with the order checker whatever the build says; the guards of this file are over atomics of its own, so that
// they are other classes than those of the library.
#undef CALM_SLOW_CHECKS
#define CALM_SLOW_CHECKS 1
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "calm/kernel/shards.hpp"
#include "calm/lockfree/local_atomics.hpp"
#include "tests/unit/check/thrown_report.hpp"

namespace calm::kernel {
namespace {

using check::Report;
using check::report_of;

/// Words that write down when a lock is taken and left.
struct ListedAtomics : lockfree::LocalAtomics {
  static constexpr bool shared = true;

  struct Step {
    const void* word;
    bool taken;

    friend bool operator==(const Step&, const Step&) = default;
  };
  static inline std::vector<Step> steps;

  template <class T>
  class Atomic : public lockfree::LocalAtomics::Atomic<T> {
   public:
    using Base = lockfree::LocalAtomics::Atomic<T>;
    using Base::Base;

    T exchange(T value, std::memory_order order) noexcept {
      steps.push_back({this, false});
      return Base::exchange(value, order);
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                 std::memory_order failure) noexcept {
      steps.push_back({this, true});
      return Base::compare_exchange_strong(expected, desired, success, failure);
    }
  };
};

constexpr std::uint16_t workers = 3;

/// A lock by its place in the order: 0 is B, then the A of each worker, last C.
struct Place {
  Shard shard;
  std::uint16_t index;
};
constexpr Place places[] = {
    {Shard::regions, 0}, {Shard::tasks, 0}, {Shard::tasks, 1}, {Shard::tasks, 2}, {Shard::obligations, 0}};
constexpr std::size_t place_count = std::size(places);
static_assert(place_count == workers + 2);

std::string show(const Place& place) { return std::string(to_string(place.shard)) + " " + std::to_string(place.index); }

class Shards : public testing::Test {
 protected:
  Shards() { EXPECT_TRUE(shards_.init(workers)); }

  template <Operation operation>
  using ListedGuard = Guard<operation, ListedAtomics>;

  /// Gives: the words that the guard takes, in order; it must leave them in reverse order.
  template <Operation operation>
  std::vector<const void*> words_of(std::uint16_t home = 0) {
    ListedAtomics::steps.clear();
    if constexpr (shards_of(operation) == ShardSet::home_tasks) {
      const ListedGuard<operation> guard(shards_, order_, home);
    } else {
      const ListedGuard<operation> guard(shards_, order_);
    }
    std::vector<const void*> taken;
    for (const auto& step : ListedAtomics::steps) {
      if (step.taken) taken.push_back(step.word);
    }
    std::vector<ListedAtomics::Step> expected;
    for (const void* word : taken) expected.push_back({word, true});
    for (auto word = taken.rbegin(); word != taken.rend(); ++word) expected.push_back({*word, false});
    EXPECT_EQ(ListedAtomics::steps, expected) << to_string(operation) << " leaves in reverse order";
    EXPECT_TRUE(order_.nothing());
    return taken;
  }

  /// Gives: the word of each place, in order.
  std::vector<const void*> all_words() {
    std::vector<const void*> words = words_of<Operation::create_region>();
    for (std::uint16_t i = 0; i < workers; ++i) words.push_back(words_of<Operation::acknowledge>(i).at(0));
    words.push_back(words_of<Operation::create_obligation>().at(0));
    return words;
  }

  template <Operation operation>
  void expect_its_row() {
    const std::vector<const void*> all = all_words();
    std::vector<const void*> expected;
    for (std::size_t i = 0; i < place_count; ++i) {
      const bool another_home = shards_of(operation) == ShardSet::home_tasks && places[i].index != 0;
      if (takes(shards_of(operation), places[i].shard) && !another_home) expected.push_back(all[i]);
    }
    EXPECT_EQ(words_of<operation>(), expected) << to_string(operation);
  }

  kernel::Shards<ListedAtomics> shards_;
  LockOrder order_;
};

TEST_F(Shards, SHD_1_there_is_one_lock_for_regions_one_for_obligations_and_one_per_worker_for_tasks) {
  std::vector<const void*> words = all_words();
  EXPECT_EQ(words.size(), place_count);
  std::sort(words.begin(), words.end());
  EXPECT_EQ(std::unique(words.begin(), words.end()), words.end()) << "they are different locks";
}

TEST_F(Shards, SHD_1_each_guard_takes_its_row_in_order_and_leaves_it_in_reverse) {
  [this]<std::size_t... row>(std::index_sequence<row...>) {
    (expect_its_row<static_cast<Operation>(row)>(), ...);
  }(std::make_index_sequence<operation_count>());
}

/// SHD-2 word by word: what each operation needs at most.
ShardSet needed_at_most(Operation operation) {
  constexpr ShardSet all = ShardSet::everything;
  switch (operation) {
    case Operation::create_region:  // the tree is B's; the law names no operation that needs less
    case Operation::region_heap:
      return ShardSet::regions;
    case Operation::start_finalizers:
      return ShardSet::regions | ShardSet::all_tasks;
    case Operation::create_obligation:
      return ShardSet::regions | ShardSet::obligations;
    case Operation::acknowledge:  // part of a poll: none or A
      return ShardSet::home_tasks;
    case Operation::resolve_obligation:
    case Operation::settle_obligations:
    case Operation::complete_task:
    case Operation::cancel:
    case Operation::close_region:
    case Operation::advance_region:
    case Operation::snapshot:
      return all;
  }
  return ShardSet::none;
}

TEST_F(Shards, SHD_2_no_operation_takes_more_than_it_needs) {
  for (const OperationRow& row : operation_table) {
    EXPECT_TRUE(contains(needed_at_most(row.operation), row.shards)) << row.name;
    const bool cheaper =
        row.operation == Operation::create_obligation || row.operation == Operation::resolve_obligation;
    EXPECT_EQ(needed_at_most(row.operation) != row.shards, cheaper) << row.name;
  }
}

TEST_F(Shards, SHD_2_what_is_decided_under_obligations_alone_excludes_the_close_of_a_region) {
  EXPECT_TRUE(contains(shards_of(Operation::close_region), shards_of(Operation::create_obligation)));
  EXPECT_TRUE(contains(shards_of(Operation::close_region), shards_of(Operation::resolve_obligation)));
}

TEST(LockOrder, SHD_3_the_second_of_two_locks_comes_later_in_the_order) {
  for (std::size_t first = 0; first < place_count; ++first) {
    for (std::size_t second = 0; second < place_count; ++second) {
      LockOrder order;
      order.note_lock(places[first].shard, places[first].index);
      const auto report = report_of([&] { order.note_lock(places[second].shard, places[second].index); });
      EXPECT_EQ(report.has_value(), second <= first) << show(places[first]) << " then " << show(places[second]);
      EXPECT_EQ(order.holds(places[second].shard, places[second].index), second >= first);
    }
  }
}

/// Gives: an order that holds the places in `set`, one bit for each.
void take_set(LockOrder& order, unsigned set) {
  for (std::size_t i = 0; i < place_count; ++i) {
    if ((set >> i & 1U) != 0) order.note_lock(places[i].shard, places[i].index);
  }
}

TEST(LockOrder, SHD_3_whatever_is_held_only_a_later_lock_may_follow) {
  for (unsigned set = 0; set < 1U << place_count; ++set) {
    for (std::size_t next = 0; next < place_count; ++next) {
      LockOrder order;
      take_set(order, set);
      const auto report = report_of([&] { order.note_lock(places[next].shard, places[next].index); });
      EXPECT_EQ(report.has_value(), set >> next != 0) << "held " << set << ", then " << show(places[next]);
    }
  }
}

TEST(LockOrder, SHD_3_only_what_is_held_can_be_left) {
  for (unsigned set = 0; set < 1U << place_count; ++set) {
    for (std::size_t left = 0; left < place_count; ++left) {
      LockOrder order;
      take_set(order, set);
      const bool held = (set >> left & 1U) != 0;
      const auto report = report_of([&] { order.note_unlock(places[left].shard, places[left].index); });
      EXPECT_EQ(report.has_value(), !held) << "held " << set << ", left " << show(places[left]);
      EXPECT_FALSE(order.holds(places[left].shard, places[left].index));
      EXPECT_EQ(order.nothing(), (set & ~(1U << left)) == 0);
    }
  }
}

TEST(LockOrder, SHD_3_a_refused_lock_leaves_the_order_as_it_was) {
  LockOrder order;
  order.note_lock(Shard::tasks, 1);
  EXPECT_TRUE(report_of([&] { order.note_lock(Shard::regions); }));
  EXPECT_TRUE(report_of([&] { order.note_lock(Shard::tasks, 0); }));
  EXPECT_FALSE(order.holds(Shard::regions));
  EXPECT_FALSE(order.holds(Shard::tasks, 0));
  order.note_lock(Shard::tasks, workers_max - 1);
  order.note_unlock(Shard::tasks, 1);
  EXPECT_TRUE(report_of([&] { order.note_lock(Shard::tasks, workers_max - 2); }));
  order.note_unlock(Shard::tasks, workers_max - 1);
  EXPECT_TRUE(order.nothing());
  order.note_lock(Shard::regions);
}

TEST(LockOrder, SHD_3_the_report_names_both_locks_the_worker_and_the_law) {
  LockOrder order(7);
  order.note_lock(Shard::obligations);
  const std::optional<Report> report = report_of([&] { order.note_lock(Shard::tasks, 2); });
  ASSERT_TRUE(report.has_value());
  const std::string text(report->text());
  for (const char* part : {"SHD-3", "shard = tasks", "index = 2", "last = obligations", "worker_ = 7"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  }
}

TEST(LockOrder, SHD_3_a_place_that_no_shard_has_is_the_callers_bug) {
  LockOrder order;
  EXPECT_TRUE(report_of([&] { order.note_lock(Shard::tasks, workers_max); }));
  EXPECT_TRUE(report_of([&] { order.note_lock(Shard::regions, 1); }));
  EXPECT_TRUE(report_of([&] { order.note_unlock(Shard::obligations, 1); }));
  EXPECT_TRUE(order.nothing());
}

// The forbidden ways as guards take them: A then B, C then A, C then B, a lower A after a higher one, one twice.
TEST_F(Shards, SHD_3_a_guard_inside_another_is_refused_when_it_breaks_the_order) {
  const auto inside = [this](auto outer, auto inner) {
    const auto held = outer();
    const auto report = report_of([&] { inner(); });
    EXPECT_FALSE(order_.nothing());
    return report.has_value();
  };
  const auto regions = [this] { return ListedGuard<Operation::create_region>(shards_, order_); };
  const auto tasks = [this](std::uint16_t home) {
    return [this, home] { return ListedGuard<Operation::acknowledge>(shards_, order_, home); };
  };
  const auto obligations = [this] { return ListedGuard<Operation::create_obligation>(shards_, order_); };
  const auto all = [this] { return ListedGuard<Operation::cancel>(shards_, order_); };

  EXPECT_TRUE(inside(tasks(0), regions));
  EXPECT_TRUE(inside(obligations, tasks(0)));
  EXPECT_TRUE(inside(obligations, regions));
  EXPECT_TRUE(inside(tasks(2), tasks(1)));
  EXPECT_TRUE(inside(tasks(1), tasks(1)));
  EXPECT_TRUE(inside(regions, regions));
  EXPECT_TRUE(inside(obligations, obligations));
  EXPECT_TRUE(inside(regions, all));
  EXPECT_TRUE(inside(tasks(0), all));
  EXPECT_TRUE(inside(all, obligations));

  EXPECT_FALSE(inside(regions, tasks(0)));
  EXPECT_FALSE(inside(regions, obligations));
  EXPECT_FALSE(inside(tasks(0), tasks(1)));
  EXPECT_FALSE(inside(tasks(2), obligations));
  EXPECT_TRUE(order_.nothing());
}

template <class Guard, class Proof>
constexpr bool proves = std::is_convertible_v<const Guard&, Proof>;

template <Operation operation>
constexpr bool proves_its_row_and_nothing_else() {
  using Guard = kernel::Guard<operation, ListedAtomics>;
  constexpr ShardSet row = shards_of(operation);
  return proves<Guard, RegionsHeld> == contains(row, ShardSet::regions) &&
         proves<Guard, TaskHeld> == contains(row, ShardSet::home_tasks) &&
         proves<Guard, TasksHeld> == contains(row, ShardSet::all_tasks) &&
         proves<Guard, ObligationsHeld> == contains(row, ShardSet::obligations) &&
         proves<Guard, AllHeld> == (row == ShardSet::everything);
}

TEST_F(Shards, SHD_3_a_guard_proves_its_row_and_nothing_else) {
  []<std::size_t... row>(std::index_sequence<row...>) {
    static_assert((proves_its_row_and_nothing_else<static_cast<Operation>(row)>() && ...));
  }(std::make_index_sequence<operation_count>());
}

TEST_F(Shards, SHD_3_a_proof_becomes_narrower_and_never_wider) {
  static_assert(std::is_convertible_v<AllHeld, RegionsHeld> && std::is_convertible_v<AllHeld, TasksHeld>);
  static_assert(std::is_convertible_v<TasksHeld, TaskHeld> && !std::is_convertible_v<TaskHeld, TasksHeld>);
  static_assert(!std::is_convertible_v<RegionsHeld, AllHeld> && !std::is_convertible_v<RegionsHeld, TasksHeld>);
  static_assert(!std::is_default_constructible_v<AllHeld> && std::is_empty_v<AllHeld>);
}

}  // namespace
}  // namespace calm::kernel
