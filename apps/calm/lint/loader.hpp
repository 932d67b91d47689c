// loader.hpp — the text form of the IR. docs/guide/obligations-lint.md describes it.
// Laws:    OBL-8
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "apps/calm/lint/ir.hpp"

namespace calm::lint {

inline constexpr std::size_t nesting_max = 100;        ///< of branches and loops
inline constexpr std::size_t statements_max = 10'000;  ///< of one function

/// What is wrong with a text, in one line, and where.
class Problem : public std::runtime_error {
 public:
  Problem(Place place, const std::string& text) : std::runtime_error(text), place_(std::move(place)) {}

  [[nodiscard]] const Place& place() const noexcept { return place_; }

 private:
  Place place_;
};

/// Adds the functions of a text to the program. `path` is what places in it are called by.
/// Fails: Problem, for a text that is none; the program is then of no use.
void load_text(Program& program, std::string_view path, std::string_view text);

/// Looks at all texts together. Fails: Problem when a function is there twice, is called and not there, or gets another
/// number of variables than it has parameters.
void check_calls(const Program& program);

/// Gives: the text of a program; loading it gives the program again.
std::string to_text(const Program& program);

}  // namespace calm::lint
