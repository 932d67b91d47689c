// explore.hpp — visits every schedule of a program of tasks, one for each order of steps that makes a difference.
// Laws:    LAB-3 (a failure is minimised and replayed), LAB-4, LAB-5, LAB-6
// Threads: one
// Cancel:  not applicable
//
//   const auto report = calm::lab::explore(program);   // program(cx) gives a Task
//   EXPECT_TRUE(report.exhausted());
//   EXPECT_TRUE(report.ok()) << report;
//
// A step is one poll of a task, from one suspension to the next. What tasks share through calm is known; a variable of their
// own that they share is declared by lab::Shared or lab::touch, or orders of its accesses are not told apart, unless
// ExploreConfig::plain_memory says that there are such.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

#include "calm/explore/report.hpp"
#include "calm/kernel/config.hpp"
#include "calm/lab/config.hpp"
#include "calm/lab/program.hpp"
#include "calm/lab/report.hpp"

namespace calm::lab {

/// How schedules are looked for.
enum class Strategy : std::uint8_t {
  optimal,      ///< each that differs, once
  all,          ///< every order, without any reduction
  bounded,      ///< every order with at most ExploreConfig::preemptions
  persistence,  ///< promising ones first, by their score
  random,       ///< by seed
  pct,          ///< by seed, with priorities
};

/// The kernel as an exploration runs it, thousands of times: strict, with the ceilings of a small machine, which need little
/// memory, and a trace that has room for the events of one step.
constexpr kernel::Config explored_kernel() noexcept {
  kernel::Config config = kernel::with_profile(strict_kernel(), *kernel::find_profile("embedded"));
  config.trace_capacity = std::uint64_t{1} << 10;
  return config;
}

struct ExploreConfig {
  Strategy strategy = Strategy::optimal;
  std::uint64_t max_executions = UINT64_MAX;  ///< random and pct make 10 000 unless told
  std::uint32_t max_steps = 10'000;           ///< of one execution
  bool stop_at_first_problem = true;
  bool must_end_ok = true;    ///< a program that ends otherwise than Ok is a problem
  bool explore_time = false;  ///< the next deadline may come at any point, not only when nothing is runnable
  /// Tasks share variables that they do not declare: every poll may touch them, so every order of polls is another one.
  bool plain_memory = false;
  std::uint64_t seed = 1;                                ///< for random and pct
  std::uint32_t depth = 3;                               ///< for pct
  std::uint32_t preemptions = 2;                         ///< for bounded
  std::uint64_t minimise_executions = 20'000;            ///< looked at to find a failure with fewer preemptions
  std::function<std::string(const LabReport&)> check{};  ///< what it gives, unless empty, is one more problem
  std::string program{};                                 ///< a name, where a test explores several
  const std::atomic<bool>* stop = nullptr;               ///< set by a signal: end with the next execution
  kernel::Config kernel = explored_kernel();
};

struct ExploreReport {
  explore::Report counts{};
  /// The first failure, with as few preemptions as were found; its schedule makes lab::run() do it again.
  std::optional<LabReport> failure{};
  std::uint32_t preemptions = 0;  ///< of the failure
  bool fewest = false;            ///< there is none with less
  std::string columns{};          ///< the failure, a column for each task
  bool replayed = false;          ///< the environment asked for one schedule: there was one execution, that one

  /// Gives: true when every schedule was visited, or the one that was asked for.
  [[nodiscard]] bool exhausted() const noexcept { return counts.exhausted || replayed; }
  [[nodiscard]] bool ok() const noexcept { return counts.ok(); }
};

/// Gives: the counts; with a failure its problems, its columns and the word that repeats it.
std::string to_string(const ExploreReport& report);
std::ostream& operator<<(std::ostream& out, const ExploreReport& report);

/// Explores the program. Where CALM_LAB_SCHEDULE asks for a schedule of it, that one is run instead.
/// Fails: explore::NotDeterministic; std::length_error when it has too many tasks; std::bad_alloc.
ExploreReport explore_program(const ExploreConfig& config, Program& program);

/// The same for `program(cx)`; each execution gets a copy of it.
template <class F>
ExploreReport explore(F program, const ExploreConfig& config = {}) {
  ProgramOf<F> root(program);
  return explore_program(config, root);
}

}  // namespace calm::lab
