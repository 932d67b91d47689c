// capability.hpp — what a context may allow; a capability is a type.
// Laws:    CTX-2, I7
// Threads: types
// Cancel:  not applicable
#pragma once

#include <concepts>

namespace calm {
namespace cap {
// NOLINTBEGIN(readability-identifier-naming): a capability reads as a word, cap::time
struct time {};
struct spawn {};
struct fiber {};
struct io {};
struct remote {};
struct supervise {};
struct entropy {};
struct trace {};
// NOLINTEND(readability-identifier-naming)
}  // namespace cap

namespace cx {

template <class Cap, class... Caps>
inline constexpr bool has_cap = (std::same_as<Cap, Caps> || ...);

}  // namespace cx
}  // namespace calm
