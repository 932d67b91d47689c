// require.hpp — stop a broken program: CALM_REQUIRE, CALM_INVARIANT and CALM_SLOW name the law and show the values.
// Laws:    none of its own; every check carries the id of the law it guards
// Threads: checks anywhere; one check touches nothing shared until it fails
// Cancel:  not applicable
#pragma once

#include <initializer_list>

#include "calm/check/value.hpp"

/// All three take (LAW, condition, values...): LAW is the law's id with `_` for `-` (REG_4), then the condition, then up
/// to six expressions that the report shows as `name = text`. A comma inside braces or <> needs parentheses around it.
///   Needs: values that do not throw and have no effects; they are evaluated only when the condition is false.
///   Gives: nothing when the condition is true, for one predicted branch. Never an assumption of the optimiser.
///   Fails: reports to the handler of report.hpp. If that throws, the exception leaves the check; in a noexcept function
///          or a destructor C++ then terminates the program. If it returns, the process aborts.
/// In a constant expression a condition that is false does not compile.

/// The caller's bug: the caller broke a rule of the interface.
#define CALM_REQUIRE(LAW, condition, ...) CALM_CHECK_(require, #LAW "\0" #condition, condition, __VA_ARGS__)

/// Our bug: something that must always hold does not. Stops in release too.
#define CALM_INVARIANT(LAW, condition, ...) CALM_CHECK_(invariant, #LAW "\0" #condition, condition, __VA_ARGS__)

/// An invariant too slow for release. Without CALM_SLOW_CHECKS it is compiled and never evaluated. The choice is made
/// where this header is first included and must be one for the whole program: inline functions in headers contain it.
#if defined(CALM_SLOW_CHECKS) && CALM_SLOW_CHECKS
#define CALM_SLOW(LAW, condition, ...) CALM_CHECK_(slow, #LAW "\0" #condition, condition, __VA_ARGS__)
#else
#define CALM_SLOW(LAW, condition, ...)                                          \
  do {                                                                          \
    if (false) CALM_CHECK_(slow, #LAW "\0" #condition, condition, __VA_ARGS__); \
  } while (false)
#endif

namespace calm::check {

enum class Kind : unsigned char { require, invariant, slow };

/// Where a check stands and what it says. All text lives as long as the program.
struct Site {
  Kind kind;
  const char* law;        // as written: REG_4
  const char* condition;  // as written
  const char* file;       // __FILE__
  int line;
  const char* function;  // __PRETTY_FUNCTION__
};

namespace detail {

[[noreturn]] void fail(const Site& site, std::initializer_list<Value> values);

/// Gives: the text at `texts`, which moves on to the next one, and the site that the first four texts describe.
const char* next_text(const char*& texts) noexcept;
Site read_site(Kind kind, const char*& texts, const char* function) noexcept;

/// All that a check knows beforehand arrives in one literal (law, condition, file, line, names), and values arrive in
/// registers: a function that checks needs no stack for it until the check fails.
template <class... Items>
[[noreturn, gnu::cold, gnu::noinline]] void fail_at(Kind kind, const char* texts, const char* function,
                                                    Items... items) {
  const Site site = read_site(kind, texts, function);
  fail(site, {value_of(next_text(texts), items)...});
}

}  // namespace detail
}  // namespace calm::check

/// The condition stands alone in its `if`, so that the compiler still warns about `a = b`.
#define CALM_CHECK_(kind, law_and_condition, condition, ...)                                         \
  do {                                                                                               \
    if (condition) [[likely]] {                                                                      \
    } else {                                                                                         \
      ::calm::check::detail::fail_at(::calm::check::Kind::kind,                                      \
                                     law_and_condition "\0" __FILE__ "\0" CALM_CHECK_TEXT_(__LINE__) \
                                         CALM_CHECK_EACH_(NAME_, __VA_ARGS__),                       \
                                     __PRETTY_FUNCTION__ CALM_CHECK_EACH_(PASS_, __VA_ARGS__));      \
    }                                                                                                \
  } while (false)

#define CALM_CHECK_NAME_(value) "\0" #value
#define CALM_CHECK_PASS_(value) , ::calm::check::detail::pass(value)

#define CALM_CHECK_TEXT_(line) CALM_CHECK_TEXT_2_(line)
#define CALM_CHECK_TEXT_2_(line) #line

/// Does `CALM_CHECK_##what(value)` for each value.
#define CALM_CHECK_EACH_(what, ...) \
  __VA_OPT__(CALM_CHECK_PICK_(__VA_ARGS__, TOO_MANY, 6, 5, 4, 3, 2, 1)(CALM_CHECK_##what, __VA_ARGS__))
#define CALM_CHECK_PICK_(a, b, c, d, e, f, g, count, ...) CALM_CHECK_EACH_##count##_
#define CALM_CHECK_EACH_1_(what, value) what(value)
#define CALM_CHECK_EACH_2_(what, value, ...) what(value) CALM_CHECK_EACH_1_(what, __VA_ARGS__)
#define CALM_CHECK_EACH_3_(what, value, ...) what(value) CALM_CHECK_EACH_2_(what, __VA_ARGS__)
#define CALM_CHECK_EACH_4_(what, value, ...) what(value) CALM_CHECK_EACH_3_(what, __VA_ARGS__)
#define CALM_CHECK_EACH_5_(what, value, ...) what(value) CALM_CHECK_EACH_4_(what, __VA_ARGS__)
#define CALM_CHECK_EACH_6_(what, value, ...) what(value) CALM_CHECK_EACH_5_(what, __VA_ARGS__)
#define CALM_CHECK_EACH_TOO_MANY_(...) , a_check_shows_at_most_six_values
