// An exploration that is stopped and goes on elsewhere visits what is left, and nothing twice.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/calm/zoo/zoo.hpp"
#include "calm/explore/atomic.hpp"
#include "calm/explore/optimal.hpp"
#include "calm/explore/saved.hpp"
#include "calm/explore/threads.hpp"
#include "tests/explore/straight_line.hpp"

namespace calm::explore {
namespace {

/// Explores in parts of `part` executions; between two of them there is only a text. `make` gives a new program.
template <class Make>
Report in_parts(std::uint64_t part, Make make) {
  std::string text;
  for (std::uint64_t stop = part;; stop += part) {
    auto program = make();
    Saved from;
    if (!text.empty()) {
      auto read = saved_in(text);
      EXPECT_TRUE(read) << read.error().message();
      from = std::move(read).value();
      EXPECT_EQ(to_text(from), text);
    }
    Saved to;
    const Report report =
        explore_optimal(*program, {.max_executions = stop}, nullptr, text.empty() ? nullptr : &from, to);
    if (report.exhausted) return report;
    EXPECT_EQ(report.executions, stop);
    text = to_text(to);
  }
}

TEST(SavedExploration, LAB_5_random_programs_in_parts_have_as_many_executions_as_in_one) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const StraightLine program = random_program(seed);
    const std::uint64_t expected = count_executions(program);
    if (expected > 60) continue;
    for (const std::uint64_t part : {1U, 2U, 3U, 7U}) {
      const Report report = in_parts(part, [&] { return std::make_unique<StraightLineRun>(program); });
      ASSERT_EQ(report.executions, expected) << "seed " << seed << " in parts of " << part;
      ASSERT_EQ(report.fingerprints, expected) << "seed " << seed << " in parts of " << part;
      ASSERT_EQ(report.blocked, 0U);
    }
  }
}

TEST(SavedExploration, LAB_5_a_program_of_threads_is_stopped_after_every_execution) {
  const auto explore_zoo = [](const char* name, std::uint32_t n, std::uint64_t part) {
    const zoo::Species* const species = zoo::find(name);
    const Report report = in_parts(part, [&] { return std::make_unique<Threads>(species->make(n, 0)); });
    EXPECT_EQ(report.executions, species->count(n, 0)) << name << " in parts of " << part;
    EXPECT_EQ(report.fingerprints, species->count(n, 0)) << name << " in parts of " << part;
    return report;
  };
  for (const std::uint64_t part : {1U, 5U, 63U}) (void)explore_zoo("lastzero", 5, part);
  (void)explore_zoo("lastzero", 8, 100);
  for (const std::uint64_t part : {1U, 4U}) EXPECT_EQ(explore_zoo("philosophers", 4, part).deadlocks, 1U);
}

TEST(SavedExploration, LAB_8_loads_that_have_a_choice_are_each_made_once_in_parts_too) {
  const auto buffered_stores = [] {
    return std::make_unique<Threads>(
        [](Threads& threads) {
          auto& x = threads.make<Atomic<int>>(0);
          auto& y = threads.make<Atomic<int>>(0);
          auto& seen = threads.make<std::array<int, 2>>();
          threads.run([&] {
            x.store(1, std::memory_order_relaxed);
            seen[0] = y.load(std::memory_order_relaxed);
          });
          threads.run([&] {
            y.store(1, std::memory_order_relaxed);
            seen[1] = x.load(std::memory_order_relaxed);
          });
          threads.at_end([&] { threads.check(seen[0] + seen[1] != 0, "both missed the other's store"); });
        },
        Machine{.memory = MemoryModel::release_acquire});
  };
  const Report whole = explore_optimal(*buffered_stores());
  EXPECT_GT(whole.buggy, 0U);
  for (const std::uint64_t part : {1U, 2U}) {
    const Report parts = in_parts(part, buffered_stores);
    EXPECT_EQ(parts.executions, whole.executions);
    EXPECT_EQ(parts.fingerprints, whole.fingerprints);
    EXPECT_EQ(parts.buggy, whole.buggy);
    ASSERT_EQ(parts.failures.size(), whole.failures.size());
    EXPECT_EQ(parts.failures[0].schedule, whole.failures[0].schedule);
    EXPECT_EQ(parts.failures[0].ways, whole.failures[0].ways);
  }
}

TEST(SavedExploration, keeps_what_went_wrong_before) {
  const auto lost_update = [] { return std::make_unique<Threads>(zoo::find("abba")->make(0, 0)); };
  const Report whole = explore_optimal(*lost_update());
  const Report parts = in_parts(1, lost_update);
  EXPECT_EQ(parts.executions, whole.executions);
  EXPECT_EQ(parts.deadlocks, whole.deadlocks);
  EXPECT_EQ(parts.buggy, whole.buggy);
  ASSERT_EQ(parts.failures.size(), whole.failures.size());
  for (std::size_t i = 0; i < parts.failures.size(); ++i) {
    EXPECT_EQ(parts.failures[i].problem, whole.failures[i].problem);
    EXPECT_EQ(parts.failures[i].schedule, whole.failures[i].schedule);
    EXPECT_EQ(parts.failures[i].execution, whole.failures[i].execution);
  }
}

TEST(SavedExploration, refuses_a_text_that_is_damaged_and_says_where) {
  const StraightLine program = random_program(7);
  StraightLineRun run(program);
  Saved to;
  (void)explore_optimal(run, {.max_executions = 1}, nullptr, nullptr, to);
  const std::string text = to_text(to);
  ASSERT_TRUE(saved_in(text));
  const auto said = [](const std::string& bad) { return std::string(saved_in(bad).error().message()); };
  EXPECT_EQ(said(""), "line 1: the end is missing");
  EXPECT_EQ(said("nonsense\n"), "line 1: this is no exploration that was saved");
  EXPECT_EQ(said("calm exploration 1\nprogram x\nreport 1 2\n"),
            "line 3: 'report' is not followed by what belongs there");
  std::string changed = text;
  changed.replace(changed.find("step 0"), 6, "step 1");
  EXPECT_NE(said(changed).find("the digest is another: the text was changed"), std::string::npos);
  for (std::size_t cut = 0; cut + 1 < text.size(); ++cut) EXPECT_FALSE(saved_in(text.substr(0, cut))) << cut;
}

/// Keeps the last estimate.
class Estimates final : public Listener {
 public:
  void ended(const Execution& /*execution*/, bool /*deadlock*/) override {}
  void expects(double executions) override { heard.push_back(executions); }
  std::vector<double> heard;
};

TEST(SavedExploration, the_number_of_executions_is_foreseen) {
  const zoo::Species* const species = zoo::find("lastzero");
  Threads threads(species->make(12, 0));
  Estimates estimates;
  const Report report = explore_optimal(threads, {}, &estimates);
  ASSERT_FALSE(estimates.heard.empty());
  const auto total = static_cast<double>(report.executions);
  EXPECT_NEAR(estimates.heard.back(), total, total / 4);
  for (std::size_t i = 0; i < estimates.heard.size(); ++i) {
    EXPECT_GE(estimates.heard[i], 1024.0 * static_cast<double>(i + 1));  // never less than there are already
    EXPECT_LT(estimates.heard[i], 100 * total);
  }
}

}  // namespace
}  // namespace calm::explore
