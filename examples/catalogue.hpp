// catalogue.hpp — the examples that are programs of calm, for the calm tool, which runs them on the real clock and in the lab.
// Laws:    none
// Threads: constants
// Cancel:  not applicable
//
// An example is a file of its own with a main() that runs one function. For the tool the same file is compiled once more
// with that main() out of the way (CMakeLists.txt), and the function stands in this list.
#pragma once

#include <calm/calm.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace examples {

struct Example {
  std::string_view name;   ///< of the file and of its function
  std::string_view about;  ///< what it shows, in one line
  calm::Task<> (*program)(calm::Cx);
};

/// Gives: all of them, the easy ones first.
std::span<const Example> all() noexcept;

/// Gives: their names, in the same order.
std::vector<std::string_view> names();

/// Gives: the one of that name; nothing when there is none.
const Example* find(std::string_view name) noexcept;

}  // namespace examples
