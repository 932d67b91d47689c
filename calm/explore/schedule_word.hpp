// schedule_word.hpp — a schedule as one printable word, and the execution that it leads to.
// Laws:    LAB-3
// Threads: one
// Cancel:  not applicable
//
// `0x3.1.0x2-z1c29f00d`: process 0 takes three steps, 1 takes one, 0 takes two. After `-z` stands a checksum of the steps; a
// word that is written by hand may do without. No shell touches it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calm/explore/execution.hpp"
#include "calm/explore/program.hpp"
#include "calm/model/outcome.hpp"

namespace calm::explore {

/// As many steps as a word may have.
inline constexpr std::uint32_t word_steps_max = 65'535;

struct ScheduleWord {
  std::vector<Process> schedule;
  std::optional<std::uint32_t> checksum;  ///< of the steps that it led to

  friend bool operator==(const ScheduleWord&, const ScheduleWord&) = default;
};

/// Gives: the word of the steps of this run. Fails: std::bad_alloc.
[[nodiscard]] std::string to_word(const Execution& run);

/// Gives: what a word says. Fails: invalid_argument, with what is wrong; std::bad_alloc.
[[nodiscard]] Outcome<ScheduleWord> from_word(std::string_view word);

/// What came of a schedule.
struct Rerun {
  Execution run;
  std::string problem;  ///< of the program; empty when there is none
  bool ended = false;   ///< nothing can run after it
};

/// Leads the program along a schedule.
/// Fails: invalid_argument when it is not a schedule of this program, or its steps are others than the checksum says; what the
///        program throws.
[[nodiscard]] Outcome<Rerun> run_again(Program& program, const ScheduleWord& word);

}  // namespace calm::explore
