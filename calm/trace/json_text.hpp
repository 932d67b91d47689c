// json_text.hpp — the few pieces that every JSON text of calm is made of.
// Laws:    LAB-11 (nothing is rounded, nothing escapes from its quotes)
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace calm::trace {

/// The largest number that every reader of JSON takes as it is: 2^53 - 1.
inline constexpr std::uint64_t json_number_max = (std::uint64_t{1} << 53) - 1;

/// Appends the text in quotes. Control characters, quotes, backslashes and `<` are escaped, so that the result may stand
/// in a page; bytes that are no UTF-8 become U+FFFD.
void append_json(std::string& out, std::string_view text);

/// Appends the number, in quotes when it is beyond json_number_max.
void append_json(std::string& out, std::uint64_t number);

/// Gives: the length of the UTF-8 character at the start of the text, 0 when there is none.
[[nodiscard]] std::size_t utf8_length(std::string_view text) noexcept;

}  // namespace calm::trace
