// runner.hpp — runs a scenario and says what came out otherwise than its file states.
// Laws:    LAB-11, PRF-1, I6 (every scenario runs twice and must come out the same), HND-2 (a refusal changes nothing)
// Threads: one
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/calm/scenario/scenario.hpp"
#include "apps/calm/scenario/world.hpp"
#include "calm/check/require.hpp"
#include "calm/kernel/config.hpp"

namespace calm::scenario {

/// What a difference means.
enum class DifferenceClass : std::uint8_t {
  none,
  intentional,     ///< --update has written the new digest
  regression,      ///< an expectation or a digest is not met
  spec_defect,     ///< the scenario says that the law is in doubt
  harness_defect,  ///< the file does not load, a step cannot be run, or a digest is not stated yet
};

constexpr std::string_view to_string(DifferenceClass kind) noexcept {
  switch (kind) {
    case DifferenceClass::none:
      return "none";
    case DifferenceClass::intentional:
      return "intentional";
    case DifferenceClass::regression:
      return "regression";
    case DifferenceClass::spec_defect:
      return "spec defect";
    case DifferenceClass::harness_defect:
      return "harness defect";
  }
  CALM_INVARIANT(LAB_11, false, static_cast<std::uint8_t>(kind));
  return {};
}

struct Result {
  std::vector<Difference> differences;  ///< of the steps and of the digests
  std::string digest;                   ///< of the final state, 16 digits; empty when a step went wrong
  std::string semantic;                 ///< of the semantic events
  DifferenceClass kind = DifferenceClass::none;
};

/// Gives: what came out. A step whose answer is wrong ends the run; a look that is wrong does not.
Result run(const Scenario& scenario, const kernel::Profile& profile);

/// Gives: 16 digits.
std::string hex_of(std::uint64_t digest);

}  // namespace calm::scenario
