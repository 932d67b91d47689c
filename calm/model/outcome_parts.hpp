// outcome_parts.hpp — what an outcome is made from: `return calm::ok(page);`, `return calm::err(Errc::full);`
// Laws:    OUT-1
// Threads: values
// Cancel:  not applicable
#pragma once

#include <concepts>
#include <exception>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

#include "calm/check/require.hpp"
#include "calm/model/error.hpp"
#include "calm/model/panic.hpp"
#include "calm/model/reason.hpp"

namespace calm {

/// The value of work that has none.
struct Unit {
  friend constexpr bool operator==(Unit, Unit) noexcept = default;
};

template <class T>
struct Ok {
  T value;
};
template <class E>
struct Err {
  E error;
};
struct Cancelled {
  Reason reason;
};
struct Panicked {
  Panic panic;
};

namespace detail {

template <class T>
inline constexpr bool is_outcome_part = false;
template <class T>
inline constexpr bool is_outcome_part<Ok<T>> = true;
template <class E>
inline constexpr bool is_outcome_part<Err<E>> = true;
template <>
inline constexpr bool is_outcome_part<Cancelled> = true;
template <>
inline constexpr bool is_outcome_part<Panicked> = true;

}  // namespace detail

constexpr Ok<Unit> ok() noexcept { return {}; }
template <class T>
constexpr Ok<std::decay_t<T>> ok(T&& value) {
  return {std::forward<T>(value)};
}
template <class E>
  requires(!std::same_as<std::decay_t<E>, Errc>)
constexpr Err<std::decay_t<E>> err(E&& error) {
  return {std::forward<E>(error)};
}
constexpr Err<Error> err(Errc code, std::source_location where = std::source_location::current()) noexcept {
  return {Error(code, where)};
}
inline Err<Error> err(Errc code, std::string_view message,
                      std::source_location where = std::source_location::current()) noexcept {
  return {Error(code, message, where)};
}
/// Needs: a reason.
inline Cancelled cancelled(Reason reason) noexcept {
  CALM_REQUIRE(OUT_1, bool(reason));
  return {std::move(reason)};
}
/// Needs: an exception; the default is the one being handled.
inline Panicked panicked(const std::exception_ptr& exception = std::current_exception()) noexcept {
  return {Panic(exception)};
}

}  // namespace calm
