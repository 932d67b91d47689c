// replay_file.hpp — a run as a text file: what it was made with, its schedule, and its events to compare with.
// Laws:    LAB-3
// Threads: pure functions
// Cancel:  not applicable
//
// Lines of `key value`, in this order; a line that begins with # is a comment, empty lines are skipped:
//   calm-replay 1                  the form
//   program NAME                   as LabConfig::program; what `calm replay` looks the program up by
//   max-steps NUMBER
//   regions NUMBER                 ceilings of the kernel
//   tasks NUMBER
//   obligations NUMBER
//   trace-capacity NUMBER
//   schedule WORD                  see schedule.hpp: seed, faults, every choice
//   state-digest HEX
//   trace-digest HEX
//   events COUNT                   then COUNT lines of 8 hexadecimal numbers, an event each (trace::to_words); the words
//                                  that follow a # are for people
// Nothing follows. What else a configuration can say stays with the program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "calm/lab/config.hpp"
#include "calm/lab/report.hpp"
#include "calm/model/outcome.hpp"

namespace calm::lab {

struct Recording {
  LabConfig config{};  ///< with the schedule in it: seed, faults, choices
  std::uint64_t state_digest = 0;
  std::uint64_t trace_digest = 0;
  trace::Trace trace{};
};

/// Gives: the file of a run that this configuration was used for.
std::string write_recording(const LabConfig& config, const LabReport& report);

/// Gives: what the file says. Fails: protocol, or unsupported for another form, with the line and what is wrong with it.
Outcome<Recording> read_recording(std::string_view text);

/// Gives: the recording as the report that replay() and expect_same() compare with.
LabReport expected_report(const Recording& recording);

}  // namespace calm::lab
