// How many workers a run has: what the options say, what the environment says, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

#include "calm/cx/wait.hpp"
#include "calm/runtime/run.hpp"
#include "tests/unit/runtime/asked_workers.hpp"
#include "tests/unit/runtime/inspected.hpp"

namespace calm {
namespace {

Task<int> gives_one(Cx /*cx*/) { co_return 1; }
Task<void> rests(Cx cx) { co_await sleep(cx, Duration::seconds(1000)); }

/// Gives: how many workers an inspection of a run with these options shows.
std::size_t count_workers(const RunOptions& options) {
  const std::string text = inspect_until(options, rests, [](const std::string& seen) { return !seen.empty(); });
  std::size_t count = 0;
  while (text.find("\nworker " + std::to_string(count) + ": ") != std::string::npos) ++count;
  return count;
}
std::size_t cores() { return std::clamp(std::thread::hardware_concurrency(), 1U, 56U); }

TEST(WorkerCount, SCH_6_nothing_said_is_one_worker) {
  const AskedWorkers asked(nullptr);
  EXPECT_EQ(count_workers({}), 1U);
  EXPECT_EQ(count_workers({.flavour = Flavour::multi_worker}), 1U);
}

TEST(WorkerCount, SCH_6_the_environment_asks_for_a_number) {
  for (const std::size_t number : {1U, 3U, 56U}) {
    const AskedWorkers asked(std::to_string(number).c_str());
    EXPECT_EQ(count_workers({}), number);
  }
}

TEST(WorkerCount, SCH_6_or_for_as_many_as_there_are_cores) {
  const AskedWorkers asked("all");
  EXPECT_EQ(count_workers({}), cores());
  EXPECT_EQ(count_workers({.workers = every_core}), cores());
}

TEST(WorkerCount, SCH_6_what_the_options_say_goes_before_what_the_environment_says) {
  const AskedWorkers asked("3");
  EXPECT_EQ(count_workers({.workers = 2}), 2U);
}

TEST(WorkerCount, SCH_6_what_is_no_number_of_workers_is_refused) {
  for (const char* const nonsense : {"", "0", "two", "2x", " 2", "2 ", "-1", "+2", "1.5", "ALL", "all ", "0x2"}) {
    const AskedWorkers asked(nonsense);
    const Outcome<int> end = block_on(gives_one);
    ASSERT_TRUE(end.is_err()) << '"' << nonsense << '"';
    EXPECT_EQ(end.error().code(), Errc::invalid_argument);
    EXPECT_EQ(end.error().message(),
              "CALM_WORKERS is neither a number of workers nor `all`; next: set it to 1, or unset it")
        << '"' << nonsense << '"';
    EXPECT_EQ(block_on(gives_one, {.workers = 1}).value(), 1) << "it is not asked where the options say how many";
  }
}

TEST(WorkerCount, SCH_6_more_than_a_runtime_has_are_refused) {
  constexpr std::string_view refusal =
      "a runtime has at most 56 workers; next: set RunOptions::workers or CALM_WORKERS to that or less, or to all cores";
  for (const char* const many : {"57", "65534", "65535", "65536", "99999999999999999999999999"}) {
    const AskedWorkers asked(many);
    const Outcome<int> end = block_on(gives_one);
    ASSERT_TRUE(end.is_err()) << many;
    EXPECT_EQ(end.error().code(), Errc::invalid_argument);
    EXPECT_EQ(end.error().message(), refusal) << many;
  }
  const Outcome<int> end = block_on(gives_one, {.workers = 57});
  ASSERT_TRUE(end.is_err());
  EXPECT_EQ(end.error().message(), refusal);
}

}  // namespace
}  // namespace calm
