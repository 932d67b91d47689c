// update.hpp — writes new digests into a scenario file and leaves everything else in it as it is.
// Laws:    LAB-11
// Threads: one
// Cancel:  not applicable
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/calm/scenario/scenario.hpp"

namespace calm::scenario {

/// The digests that a scenario came to.
struct NewDigests {
  const Scenario* scenario;
  std::string digest;
  std::string semantic;
};

/// Gives: the text of the file with the digests in place of the stated ones; those that were not stated stand in lines of
///        their own behind the steps. Needs: the text that the scenarios were loaded from.
std::string updated_text(std::string_view text, const std::vector<NewDigests>& digests);

}  // namespace calm::scenario
