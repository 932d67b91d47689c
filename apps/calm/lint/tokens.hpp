// tokens.hpp — C++ text as words with their places, without comments, texts and lines of the preprocessor.
// Laws:    none
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

namespace calm::lint {

/// A word or a sign; `::` and `->` are one sign, a text or a character is the sign `"`.
struct Token {
  std::string_view text;
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

struct Tokens {
  std::vector<Token> all;
  std::set<std::uint32_t> quiet_lines;  ///< with NOLINT(calm-blocking-guard) in a comment
};

/// Needs: the text outlives the tokens. Takes any bytes.
Tokens tokens_of(std::string_view text);

}  // namespace calm::lint
