// text.hpp — the few building blocks of calm's texts.
// Laws:    none
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

namespace calm {

/// Gives: `file.cpp:88 in function`, the path cut to start at a folder of the project so that texts do not depend on a machine.
std::string text_of(std::source_location where);

/// Gives: the text in double quotes, with control characters, quotes and backslashes escaped.
std::string quoted(std::string_view text);

}  // namespace calm
