// report.hpp — what came of a run: how it ended, what the oracles found, its trace, and the word that repeats it.
// Laws:    LAB-2, LAB-3, LAB-6
// Threads: values
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "calm/lab/schedule.hpp"
#include "calm/model/fold.hpp"
#include "calm/model/time.hpp"
#include "calm/trace/names.hpp"
#include "calm/trace/reader.hpp"

namespace calm::lab {

/// Who found a problem.
enum class Oracle : std::uint8_t {
  steps,         ///< the run was stopped
  trace,         ///< not everything that happened is known
  task_leak,     ///< a task did not end, or ended twice
  region_quiet,  ///< a region was closed over something, or is not closed
  finalizers,    ///< not exactly once, or not newest first
  obligations,   ///< a promise was forgotten, or a token dropped
  losers,        ///< a race was left before its losers had ended
  deadlines,     ///< a deadline was not kept
  timers,        ///< an alarm was early, or out of order
  lost_wake,     ///< a wait is over and nobody woke its task
  deadlock,      ///< tasks wait for each other, or for nobody
  futurelock,    ///< who must keep a promise is polled no more
  fairness,      ///< work waited longer than lanes let it
  witness,       ///< a cancellation went backwards
  masks,         ///< a mask was too deep or too long
  ghosts,        ///< something was touched on another thread, or borrowed twice
  check,         ///< what the caller of a campaign wants to hold does not
  determinism,   ///< the same run was another one
};

struct OracleRow {
  Oracle oracle;
  std::string_view name;
  std::string_view law;
};

inline constexpr OracleRow oracle_table[] = {
    {Oracle::steps, "steps", "LAB-6"},           {Oracle::trace, "trace", "LAB-2"},
    {Oracle::task_leak, "task leak", "I1"},      {Oracle::region_quiet, "region quiet", "I2"},
    {Oracle::finalizers, "finalizers", "REG-5"}, {Oracle::obligations, "obligations", "OBL-6"},
    {Oracle::losers, "losers drained", "I5"},    {Oracle::deadlines, "deadlines", "BUD-5"},
    {Oracle::timers, "timers", "TMR-3"},         {Oracle::lost_wake, "lost wake", "TSK-6"},
    {Oracle::deadlock, "deadlock", "LAB-6"},     {Oracle::futurelock, "futurelock", "OBL-7"},
    {Oracle::fairness, "fairness", "SCH-4"},     {Oracle::witness, "witness", "CAN-10"},
    {Oracle::masks, "masks", "CAN-12"},          {Oracle::ghosts, "ghosts", "GHO-1"},
    {Oracle::check, "check", "LAB-7"},           {Oracle::determinism, "determinism", "I6"},
};

/// Gives: its name and the law it watches; a problem may name a narrower one.
constexpr const OracleRow& describe(Oracle oracle) noexcept { return oracle_table[static_cast<std::uint8_t>(oracle)]; }

/// What an oracle found: lines without a newline at the end, that say what, who, the law and what to do next.
struct Problem {
  Oracle oracle{};
  std::string text{};
};

/// What came of a run.
struct LabReport {
  std::uint64_t seed = 0;
  std::uint64_t steps = 0;
  Time end_time{};
  ChildEnd end = ok();              ///< of the program
  std::vector<Problem> problems{};  ///< what the oracles found; empty when all is well
  Schedule schedule{};              ///< with every choice that was made
  bool chosen_by_seed = true;       ///< the choices follow from the seed; else they were given
  bool followed = false;            ///< a recording of the runtime led it, and only that repeats it
  std::uint64_t await_points = 0;   ///< that tasks came to, where a fault counts them
  std::uint64_t allocations = 0;    ///< likewise
  trace::Trace trace{};             ///< everything; Trace::overwritten is 0 unless an oracle says so
  std::map<trace::ResourceId, std::string> mark_names{};  ///< the names of marks, which the trace does not keep
  trace::Names names{};  ///< of tasks, where they awaited last, and of marks, for exports; when LabConfig::names asks
  std::uint64_t trace_digest = 0;
  std::uint64_t state_digest = 0;

  [[nodiscard]] bool is_clean() const noexcept { return problems.empty(); }

  /// Gives: the word that repeats the run. Where the seed made the choices and they are many, it is left to it.
  [[nodiscard]] std::string replay_word() const;
};

/// Gives: the seed, the steps, how it ended, each problem on lines of its own, and with a problem the word that repeats it.
std::string to_string(const LabReport& report);

}  // namespace calm::lab
