// loader.hpp — reads scenario files; the one place that knows their format.
// Laws:    LAB-11
// Threads: one
// Cancel:  not applicable
#pragma once

#include <string>
#include <string_view>

#include "apps/calm/scenario/scenario.hpp"

namespace calm::scenario {

/// Larger files are refused before they are read.
inline constexpr std::size_t file_bytes_max = std::size_t{1} << 22;
/// How often one step may repeat itself.
inline constexpr std::uint64_t times_max = 100'000;

/// Gives: the scenarios in a text. Every name, word and key has been checked; a step can still turn out not to be runnable.
/// Fails: Problem with the place.
ScenarioFile load_text(std::string path, std::string_view text);

/// Gives: the bytes of a file. Fails: Problem without a line when it cannot be read.
std::string read_file(const std::string& path);

/// Fails: as both.
ScenarioFile load_file(const std::string& path);

}  // namespace calm::scenario
