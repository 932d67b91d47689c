// guards.hpp — guards of blocking locks that are alive where a coroutine suspends, found in the text of a source.
// Laws:    CHN-12 (tasks wait for calm::Mutex); a thread that blocks while it holds one stops all tasks of a worker
// Threads: pure functions
// Cancel:  not applicable
//
// It knows blocks, not types: a guard is a variable of std::lock_guard, unique_lock, scoped_lock or shared_lock, with or
// without the std::. It lives to the end of its block; unlock() and release() end it before, lock() begins it again. What is
// inside a lambda or a local class is another function. A guard behind an alias or in a member is not seen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/calm/lint/tokens.hpp"

namespace calm::lint {

struct HeldGuard {
  Token guard;  ///< its name, where it is declared
  std::string_view type;
  Token await;  ///< the co_await or co_yield
};

/// Gives: every suspension with a guard alive, by place. Lines marked NOLINT(calm-blocking-guard) are left out.
/// Needs: the text outlives what is given.
std::vector<HeldGuard> find_held_guards(std::string_view text);

/// Gives: what, law and next, for people: `a.cpp:12:5: …`.
std::string to_string(std::string_view file, const HeldGuard& held);

}  // namespace calm::lint
