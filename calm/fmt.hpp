// fmt.hpp — calm's values in fmt::format; for programs that use {fmt}, which the library itself does not need.
// Laws:    none
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <type_traits>

#include "calm/calm.hpp"

namespace calm {

/// True for the types of calm that have a text; all of them format with the options of a string: `{:>12}`.
template <class T>
inline constexpr bool has_text = false;

template <IdType type>
inline constexpr bool has_text<Id<type>> = true;
template <class T, class E>
inline constexpr bool has_text<Outcome<T, E>> = true;

template <>
inline constexpr bool has_text<Errc> = true;
template <>
inline constexpr bool has_text<Status> = true;
template <>
inline constexpr bool has_text<Error> = true;
template <>
inline constexpr bool has_text<Duration> = true;
template <>
inline constexpr bool has_text<Time> = true;
template <>
inline constexpr bool has_text<Deadline> = true;
template <>
inline constexpr bool has_text<Quota> = true;
template <>
inline constexpr bool has_text<Budget> = true;
template <>
inline constexpr bool has_text<CancelKind> = true;
template <>
inline constexpr bool has_text<CancelPhase> = true;
template <>
inline constexpr bool has_text<ReasonLevel> = true;
template <>
inline constexpr bool has_text<Reason> = true;
template <>
inline constexpr bool has_text<Epoch> = true;
template <>
inline constexpr bool has_text<Witness> = true;
template <>
inline constexpr bool has_text<OutcomeKind> = true;
template <>
inline constexpr bool has_text<Panic> = true;
template <>
inline constexpr bool has_text<Note> = true;
template <>
inline constexpr bool has_text<RegionState> = true;
template <>
inline constexpr bool has_text<TaskState> = true;
template <>
inline constexpr bool has_text<ObligationState> = true;
template <>
inline constexpr bool has_text<ObligationKind> = true;
template <>
inline constexpr bool has_text<ObligationReplica> = true;

}  // namespace calm

template <class T>
struct fmt::formatter<T, char, std::enable_if_t<calm::has_text<T>>> : fmt::formatter<std::string_view, char> {
  template <class Context>
  auto format(const T& value, Context& context) const {
    const auto& text = to_string(value);
    return fmt::formatter<std::string_view, char>::format(std::string_view(text), context);
  }
};
