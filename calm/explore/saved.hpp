// saved.hpp — an exploration that was stopped, as a value and as a text: another process goes on where it ended.
// Laws:    LAB-5 (executions before and after are all of them, each once)
// Threads: values, pure functions
// Cancel:  not applicable
//
// What is kept is the way to the last execution, what was tried and what is still to be tried at each of its points, the report
// and the fingerprints. The program is run along that way again, so it must be the same program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "calm/explore/report.hpp"
#include "calm/explore/wakeup_tree.hpp"
#include "calm/model/outcome.hpp"

namespace calm::explore {

/// A node of a wakeup tree, which is kept as a list: parents before children, siblings in order.
struct SavedNode {
  std::uint32_t depth = 0;  ///< 0 for a first step
  Foreseen step;
};

struct SavedPoint {
  Foreseen taken;
  std::vector<Foreseen> tried{};
  std::vector<SavedNode> pending{};
};

struct Saved {
  std::string program{};  ///< what it is an exploration of; whoever stores it says so and compares
  Report report{};
  std::vector<SavedPoint> points{};
  std::vector<std::uint64_t> fingerprints{};
};

/// Gives: lines of text, with a digest at the end. Fails: std::bad_alloc.
[[nodiscard]] std::string to_text(const Saved& saved);

/// Needs: nothing; the text may come from anywhere. Gives: what to_text() gave this text for.
/// Fails: protocol with the line and what is wrong there; std::bad_alloc.
[[nodiscard]] Outcome<Saved> saved_in(std::string_view text);

}  // namespace calm::explore
