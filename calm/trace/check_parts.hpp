// check_parts.hpp — the parts that check_trace() is made of; each goes through the events once and says what it finds.
// Laws:    as check.hpp
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calm/trace/check.hpp"

namespace calm::trace {

/// Where the parts put what they find.
class Findings {
 public:
  explicit Findings(const Trace& trace) noexcept : trace_(trace) {}

  void say(Clause clause, std::size_t index, std::string_view law, std::string text) {
    found_.push_back({clause, index, trace_.events[index].sequence, law, std::move(text)});
  }
  [[nodiscard]] std::vector<Violation> take() noexcept { return std::move(found_); }

 private:
  const Trace& trace_;
  std::vector<Violation> found_;
};

/// Clause numbers, and timers as far as one event tells.
void check_numbers(const Trace& trace, Findings& findings);

/// Clauses ownership, tasks, regions, witness, finalizers, losers. Needs: the trace begins at the start. Fills in the counts
/// of regions and tasks, and whether the root is Closed.
void check_lives(const Trace& trace, Findings& findings, Checked& result);

/// Clause dispatch. Needs: the trace begins at the start; `result.closed` is known. Says whether it was asked.
void check_dispatch(const Trace& trace, Findings& findings, Checked& result);

}  // namespace calm::trace
