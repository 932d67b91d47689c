// expression.hpp — small expressions over named outcomes, reasons and budgets: `severity(join(a, b))`.
// Laws:    LAB-11; the functions are those of OUT, BUD and CAN
// Threads: pure functions
// Cancel:  not applicable
//
//   expression  name | number | length of time | 'word' | function(expression, ...)
//   constants   ok, infinite, zero, none, true, false
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "apps/calm/scenario/problem.hpp"
#include "calm/model/budget.hpp"
#include "calm/model/fold.hpp"
#include "calm/model/reason.hpp"

namespace calm::scenario {

/// What an expression can be: a truth, a number, a length of time, a word, a budget, a reason or an outcome.
using Value = std::variant<bool, std::uint64_t, Duration, std::string, Budget, Reason, ChildEnd>;
using Values = std::map<std::string, Value, std::less<>>;

std::string to_string(const Value& value);
bool same_value(const Value& a, const Value& b);

/// Fails: Problem when it is no expression, or uses a function or a name that is not known.
void check_expression(std::string_view text, Place place, const std::vector<std::string_view>& names);

/// Fails: Problem as check_expression, and when a function gets what it does not take.
Value evaluate(std::string_view text, Place place, const Values& values);

}  // namespace calm::scenario
