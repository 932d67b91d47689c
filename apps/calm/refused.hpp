// refused.hpp — a call of the tool that cannot be carried out: one line on stderr, and the exit status of bad usage.
// Laws:    none
// Threads: the main thread
// Cancel:  not applicable
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "apps/calm/commands.hpp"

namespace calm::tool {

/// Thrown by a command; the text is one line and says what to do.
struct Refused {
  std::string text;
};

/// Gives: what `command()` gives; bad_usage when it throws Refused, whose text goes to stderr.
template <class F>
int or_refused(F command) {
  try {
    return command();
  } catch (const Refused& refused) {
    fmt::print(stderr, "calm: {}\n", refused.text);
    return bad_usage;
  }
}

}  // namespace calm::tool
