// sendable.hpp — what may go into a task that can run on another thread: values, not ways to reach someone else's.
// Laws:    TSK-4
// Threads: types
// Cancel:  not applicable
//
// References, raw pointers, views and reference wrappers are refused, also inside the usual containers. What a lambda has
// captured cannot be seen here; the compiler's lifetime attributes and GHO-1 look after that.
#pragma once

#include <array>
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace calm {

/// A type of yours that must stay where it is says so: `template <> inline constexpr bool calm::stays_home<Mine> = true;`
template <class T>
inline constexpr bool stays_home = false;

namespace cx {

template <class T>
struct Sendable : std::bool_constant<!std::is_reference_v<T> &&
                                     (!std::is_pointer_v<T> || std::is_function_v<std::remove_pointer_t<T>>)> {};
template <class T>
struct Sendable<std::reference_wrapper<T>> : std::false_type {};
template <class Char, class Traits>
struct Sendable<std::basic_string_view<Char, Traits>> : std::false_type {};
template <class T, std::size_t extent>
struct Sendable<std::span<T, extent>> : std::false_type {};

template <class T>
inline constexpr bool is_sendable =
    !stays_home<std::remove_cv_t<T>> && (std::is_reference_v<T> ? false : bool(Sendable<std::remove_cv_t<T>>::value));

template <class T, std::size_t count>
struct Sendable<std::array<T, count>> : std::bool_constant<is_sendable<T>> {};
template <class T, class Allocator>
struct Sendable<std::vector<T, Allocator>> : std::bool_constant<is_sendable<T>> {};
template <class T>
struct Sendable<std::optional<T>> : std::bool_constant<is_sendable<T>> {};
template <class T, class Deleter>
struct Sendable<std::unique_ptr<T, Deleter>> : std::bool_constant<is_sendable<T>> {};
template <class T>
struct Sendable<std::shared_ptr<T>> : std::bool_constant<is_sendable<T>> {};
template <class A, class B>
struct Sendable<std::pair<A, B>> : std::bool_constant<is_sendable<A> && is_sendable<B>> {};
template <class... Types>
struct Sendable<std::tuple<Types...>> : std::bool_constant<(is_sendable<Types> && ...)> {};
template <class... Types>
struct Sendable<std::variant<Types...>> : std::bool_constant<(is_sendable<Types> && ...)> {};

}  // namespace cx

/// What a task may be given as an argument; a fiber may be given anything.
template <class T>
concept sendable =  // NOLINT(readability-identifier-naming): the law's word
    cx::is_sendable<T>;

}  // namespace calm
