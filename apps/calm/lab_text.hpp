// lab_text.hpp — runs of the lab in words, and what a program printed in them.
// Laws:    LAB-3 (the command that repeats a run), LAB-6
// Threads: the main thread
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <sstream>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

#include "calm/lab/report.hpp"

namespace calm::tool {

/// Keeps what is written to std::cout while it lives.
class CapturedOutput {
 public:
  CapturedOutput();
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;
  ~CapturedOutput();

  [[nodiscard]] std::string text() const { return kept_.str(); }

 private:
  std::ostringstream kept_;
  std::streambuf* before_;
};

/// Gives: 16 hexadecimal digits.
std::string digest_text(std::uint64_t digest);

/// Gives: seed, steps, virtual time, how the program ended, its trace, lines that the caller adds, and what the oracles
///        found; each line ends with a newline.
std::string describe(const lab::LabReport& report, const std::vector<std::string>& more = {});

/// Gives: a line for describe() with the command that makes this run of an example again.
std::string again_line(std::string_view example, std::uint64_t seed);

/// Gives: true when the program ended well and no oracle found anything.
bool went_well(const lab::LabReport& report) noexcept;

}  // namespace calm::tool
