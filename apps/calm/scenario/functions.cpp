#include "apps/calm/scenario/functions.hpp"

#include <cstddef>
#include <string>
#include <utility>

#include "calm/model/cancel_kind.hpp"

namespace calm::scenario {
namespace {

// The region that folds in expressions; reasons made in a file name it as `root`.
const RegionId folding_region{};

template <class T>
const T& take(const Arguments& arguments, std::size_t at) {
  return std::get<T>(arguments[at]);
}

template <class T>
bool is(const Value& value) noexcept {
  return std::holds_alternative<T>(value);
}

Value join_all(const Arguments& arguments) {
  ChildEnd joined = take<ChildEnd>(arguments, 0);
  for (std::size_t i = 1; i < arguments.size(); ++i) joined = join(std::move(joined), take<ChildEnd>(arguments, i));
  return joined;
}

Value fold_all(const Arguments& arguments) {
  ChildEnd folded = ok();
  for (const Value& end : arguments) folded = fold_child(std::move(folded), std::get<ChildEnd>(end), folding_region);
  return folded;
}

Value meet_all(const Arguments& arguments) {
  Budget met = take<Budget>(arguments, 0);
  for (std::size_t i = 1; i < arguments.size(); ++i) met = meet(met, take<Budget>(arguments, i));
  return met;
}

Value strengthen_all(const Arguments& arguments) {
  Reason strongest = take<Reason>(arguments, 0);
  for (std::size_t i = 1; i < arguments.size(); ++i) strongest = strengthen(strongest, take<Reason>(arguments, i));
  return strongest;
}

Value severity_of(const Arguments& arguments) {
  if (is<Reason>(arguments[0])) return std::uint64_t{take<Reason>(arguments, 0).severity()};
  return static_cast<std::uint64_t>(take<ChildEnd>(arguments, 0).kind());
}

Value kind_of(const Arguments& arguments) {
  if (is<Reason>(arguments[0])) return std::string(calm::to_string(take<Reason>(arguments, 0).kind()));
  return std::string(calm::to_string(take<ChildEnd>(arguments, 0).kind()));
}

Value use_up(const Arguments& arguments) {
  Budget budget = take<Budget>(arguments, 0);
  const Status status = budget.take(take<std::uint64_t>(arguments, 1), take<std::uint64_t>(arguments, 2));
  if (!status) return std::string(calm::to_string(status));
  return budget;
}

// clang-format off: one function, one line
constexpr Function all_functions[] = {
    {"join", "o+", join_all},
    {"fold", "o+", fold_all},
    {"meet", "b+", meet_all},
    {"strengthen", "r+", strengthen_all},
    {"severity", "x", severity_of},
    {"kind", "x", kind_of},
    {"cancelled", "r", [](const Arguments& a) -> Value { return ChildEnd(cancelled(take<Reason>(a, 0))); }},
    {"reason", "o", [](const Arguments& a) -> Value { return take<ChildEnd>(a, 0).is_cancelled() ? take<ChildEnd>(a, 0).reason() : Reason(); }},
    {"error", "o", [](const Arguments& a) -> Value { return take<ChildEnd>(a, 0).is_err() ? std::string(calm::to_string(take<ChildEnd>(a, 0).error().code())) : std::string("none"); }},
    {"message", "x", [](const Arguments& a) -> Value {
      if (is<Reason>(a[0])) return std::string(take<Reason>(a, 0).message());
      const ChildEnd& end = take<ChildEnd>(a, 0);
      if (end.is_err()) return std::string(end.error().message());
      return end.is_panicked() ? end.panic().what() : std::string();
    }},
    {"cleanup", "r", [](const Arguments& a) -> Value { return take<Reason>(a, 0).cleanup(); }},
    {"depth", "r", [](const Arguments& a) -> Value { return std::uint64_t{take<Reason>(a, 0).levels().depth}; }},
    {"truncated", "r", [](const Arguments& a) -> Value { return take<Reason>(a, 0).truncated(); }},
    {"at", "r", [](const Arguments& a) -> Value { return take<Reason>(a, 0).at() - Time(); }},
    {"within", "bb", [](const Arguments& a) -> Value { return within(take<Budget>(a, 0), take<Budget>(a, 1)); }},
    {"take", "bnn", use_up},
    {"child", "bb", [](const Arguments& a) -> Value { return child_budget(take<Budget>(a, 0), take<Budget>(a, 1)); }},
    {"reached", "bd", [](const Arguments& a) -> Value { return take<Budget>(a, 0).deadline.reached(Time() + take<Duration>(a, 1)); }},
    {"with_timeout", "bdd", [](const Arguments& a) -> Value { return with_timeout(take<Budget>(a, 0), Time() + take<Duration>(a, 1), take<Duration>(a, 2)); }},
    {"priority", "b", [](const Arguments& a) -> Value { return std::uint64_t{take<Budget>(a, 0).priority}; }},
};
// clang-format on

constexpr Constant all_constants[] = {{"ok", [] { return Value(ChildEnd(ok())); }},
                                      {"infinite", [] { return Value(Budget::infinite()); }},
                                      {"zero", [] { return Value(Budget::zero()); }},
                                      {"none", [] { return Value(std::string("none")); }},
                                      {"true", [] { return Value(std::in_place_type<bool>, true); }},
                                      {"false", [] { return Value(std::in_place_type<bool>, false); }}};

}  // namespace

std::span<const Function> functions() noexcept { return all_functions; }
std::span<const Constant> constants() noexcept { return all_constants; }

bool fits(char letter, const Value& value) noexcept {
  switch (letter) {
    case 'o':
      return is<ChildEnd>(value);
    case 'r':
      return is<Reason>(value) && bool(std::get<Reason>(value));
    case 'b':
      return is<Budget>(value);
    case 'n':
      return is<std::uint64_t>(value);
    case 'd':
      return is<Duration>(value);
    default:
      return is<ChildEnd>(value) || (is<Reason>(value) && bool(std::get<Reason>(value)));
  }
}

std::string_view letter_text(char letter) noexcept {
  switch (letter) {
    case 'o':
      return "an outcome";
    case 'r':
      return "a reason";
    case 'b':
      return "a budget";
    case 'n':
      return "a number";
    case 'd':
      return "a length of time";
    default:
      return "an outcome or a reason";
  }
}

}  // namespace calm::scenario
