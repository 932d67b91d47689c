// functions.hpp — what expressions are made of: the functions and constants that a scenario may use.
// Laws:    OUT-2..4, BUD-2..6, CAN-4
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "apps/calm/scenario/expression.hpp"

namespace calm::scenario {

using Arguments = std::vector<Value>;

/// A function by name. `takes` has one letter an argument, `+` repeats the last one:
///   o outcome, r reason, b budget, n number, d length of time, x outcome or reason
struct Function {
  std::string_view name;
  std::string_view takes;
  Value (*call)(const Arguments&);
};

struct Constant {
  std::string_view name;
  Value (*make)();
};

std::span<const Function> functions() noexcept;
std::span<const Constant> constants() noexcept;

/// Gives: true when the value is what the letter stands for.
bool fits(char letter, const Value& value) noexcept;
/// Gives: `an outcome`, ...
std::string_view letter_text(char letter) noexcept;

}  // namespace calm::scenario
