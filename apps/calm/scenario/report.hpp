// report.hpp — what a run of scenarios came to: lines for people, one JSON record per scenario for tools.
// Laws:    LAB-11
// Threads: one
// Cancel:  not applicable
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/calm/scenario/runner.hpp"

namespace calm::scenario {

/// The form in which the semantic events were digested.
inline constexpr std::string_view codec = "calm-trace-1";

/// What is true of all records of a report.
struct Circumstances {
  std::string profile;
  std::string compiler;
  std::string commit;
};

/// One scenario, or one file that did not load.
struct Record {
  std::string id;  ///< of the scenario; the path of a file that did not load
  std::string file;
  std::vector<std::string> laws;
  Result result;
};

/// Gives: the compiler that built this program, `clang 19.1.7`.
std::string compiler_text();

/// Gives: the commit that is checked out where the program runs, or `unknown`.
std::string commit_text();

/// Gives: a line for each difference: where, which scenario and step, what was expected and found, and the laws.
std::string difference_lines(const Record& record);

/// Gives: a JSON array of all records, with a newline at the end.
std::string report_json(const std::vector<Record>& records, const Circumstances& circumstances);

}  // namespace calm::scenario
