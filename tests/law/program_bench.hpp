// program_bench.hpp — what tests of whole programs share: a run in the lab, a log, and a look into the kernel.
// Laws:    none of its own
// Threads: one; workers, where the test runs on them
// Cancel:  not applicable
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calm/cx/port.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/kernel/snapshot.hpp"
#include "calm/lab/lab.hpp"
#include "calm/trace/argument.hpp"
#include "tests/both_worlds.hpp"

namespace calm {

using Log = std::vector<std::string>;

constexpr Duration ms(std::int64_t count) { return Duration::milliseconds(count); }
constexpr Time at_ms(std::int64_t count) { return Time() + ms(count); }

/// Runs the program in the lab. Gives: the report; nothing may be wrong with the run.
template <class F>
lab::LabReport run_clean(F program, std::uint64_t seed = 1) {
  auto report = lab::run({.seed = seed}, std::move(program));
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  return report;
}

inline Task<void> sleeps(Cx cx, Duration how_long) { co_await sleep(cx, how_long); }
inline Task<void> forever(Cx cx) { co_await sleep(cx, ms(1'000'000)); }

inline kernel::Worker& worker_under(Cx cx) { return cx::context_of(cx).root()->worker(); }
inline TaskState state_of(Cx cx, TaskId task) {
  return with_kernel_of(cx, [task](auto& kernel) { return kernel.state(task); });
}
/// Gives: the witness of a task that has ended, where a record of it is kept: on workers a handle keeps none.
inline std::optional<Witness> witness_of(Cx cx, TaskId task) {
  return with_kernel_of(cx, [&](auto& kernel) { return kernel.witness_of(worker_under(cx), task); });
}

/// Puts a word into a log when its block ends.
class Bye {
 public:
  Bye(Log& log, std::string word) : log_(log), word_(std::move(word)) {}
  Bye(const Bye&) = delete;
  Bye& operator=(const Bye&) = delete;
  ~Bye() { log_.push_back(word_); }

 private:
  Log& log_;
  std::string word_;
};

/// Gives: the places in the trace of the events that `wanted` picks.
template <class F>
std::vector<std::size_t> places(const trace::Trace& trace, F wanted) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    if (wanted(trace.events[i])) found.push_back(i);
  }
  return found;
}
inline std::vector<std::size_t> places(const trace::Trace& trace, RegionId region, trace::EventKind kind) {
  return places(trace, [=](const trace::Event& event) { return event.region == region && event.kind == kind; });
}

}  // namespace calm
