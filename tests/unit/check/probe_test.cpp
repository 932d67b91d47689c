#include "calm/check/probe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/unit/check/probe_shared.hpp"

namespace calm::check {
namespace {

// Runs among the initialisers, maybe before the probe itself is registered.
const struct HitBeforeMain {
  HitBeforeMain() { CALM_PROBE("test: before main"); }
} hit_before_main;

constexpr int guarded(int number) {
  if (number < 0) CALM_PROBE("test: in a constexpr function");
  return number;
}
static_assert(guarded(-1) == -1, "in a constant expression nothing is counted");

void never_hit(bool rare) {
  if (rare) CALM_PROBE("test: never hit");
}

// Gives: hits by name. A name listed twice is a failure.
std::map<std::string, std::uint64_t> hits_by_name() {
  std::map<std::string, std::uint64_t> hits;
  for_each_probe(
      [&hits](const Probe& probe) { EXPECT_TRUE(hits.emplace(probe.name(), probe.hits()).second) << probe.name(); });
  return hits;
}

// Gives: how many hits the probe of this name gets while `body` runs.
template <class Body>
std::uint64_t hits_during(const char* name, Body body) {
  const std::uint64_t before = hits_by_name().at(name);
  body();
  return hits_by_name().at(name) - before;
}

TEST(Probe, a_probe_that_never_ran_is_listed_with_no_hits) {
  never_hit(false);
  const auto hits = hits_by_name();
  ASSERT_TRUE(hits.contains("test: never hit"));
  EXPECT_EQ(hits.at("test: never hit"), 0U);
  ASSERT_TRUE(hits.contains("other file: never hit")) << "nothing calls the function it is in";
}

TEST(Probe, a_hit_is_counted) {
  const auto hit = [] { CALM_PROBE("test: hit twice"); };
  const auto hit_twice = [&hit] {
    hit();
    hit();
  };
  EXPECT_EQ(hits_during("test: hit twice", hit_twice), 2U);
}

TEST(Probe, a_probe_in_a_header_is_one_probe_for_all_files) {
  const auto hit_from_both_files = [] {
    shared::rare();
    shared::hit_from_the_other_file();
  };
  EXPECT_EQ(hits_during("shared: inline function", hit_from_both_files), 2U);
}

TEST(Probe, a_probe_in_a_template_is_one_probe_for_all_instances) {
  const auto hit_three_instances = [] {
    shared::rare_template(1);
    shared::rare_template(1.0);
    shared::hit_from_the_other_file();
  };
  EXPECT_EQ(hits_during("shared: template", hit_three_instances), 3U);
}

TEST(Probe, a_hit_before_main_is_counted) {
  static_cast<void>(hit_before_main);
  EXPECT_EQ(hits_by_name().at("test: before main"), 1U);
}

TEST(Probe, a_constexpr_function_counts_at_run_time) {
  EXPECT_EQ(hits_during("test: in a constexpr function", [number = -1] { guarded(number); }), 1U);
}

TEST(Probe, a_file_without_probes_lists_none) {
  shared::hit_without_probes();
  EXPECT_FALSE(hits_by_name().contains("off: not there"));
}

TEST(Probe, the_list_is_ordered_by_file_line_and_name) {
  std::vector<std::tuple<std::string, int, std::string>> seen;
  for_each_probe([&seen](const Probe& probe) { seen.emplace_back(probe.file(), probe.line(), probe.name()); });
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  for (const auto& [file, line, name] : seen) {
    EXPECT_TRUE(file.starts_with("tests/") || file.starts_with("calm/")) << file << ": paths depend on the machine";
  }
}

TEST(Probe, lines_show_hits_place_and_name) {
  shared::rare();
  const auto expected = std::to_string(hits_by_name().at("shared: inline function")) +
                        "\ttests/unit/check/probe_shared.hpp:" + std::to_string(shared::rare_line) +
                        "\tshared: inline function";
  std::vector<std::string> lines;
  write_probes([&lines](const char* line) { lines.emplace_back(line); });
  EXPECT_NE(std::find(lines.begin(), lines.end(), expected), lines.end());
}

// In a process of its own: the other tests look at hits from before main, and the log of a campaign wants them all.
TEST(ProbeDeathTest, a_reset_forgets_all_hits) {
  const auto hits_after_reset = [] {
    shared::rare();
    reset_probes();
    return static_cast<int>(hits_by_name().at("shared: inline function") + hits_by_name().at("test: before main"));
  };
  EXPECT_EXIT(std::exit(hits_after_reset()), testing::ExitedWithCode(0), "");
}

TEST(Probe, hits_from_many_threads_all_count) {
  constexpr int rounds = 10'000;
  const auto hit_from_four_threads = [] {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([] {
        for (int round = 0; round < rounds; ++round) CALM_PROBE("test: many threads");
      });
    }
    hits_by_name();  // reading beside the writers is allowed
  };
  EXPECT_EQ(hits_during("test: many threads", hit_from_four_threads), 4U * rounds);
}

}  // namespace
}  // namespace calm::check
