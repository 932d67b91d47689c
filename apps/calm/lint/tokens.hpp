// tokens.hpp — C++ text as words with their places, without comments, texts and lines of the preprocessor.
// Laws:    none
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
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
  std::multimap<std::uint32_t, std::string_view> marks;  ///< by line: comments from their NOLINT( on

  /// Gives: what follows NOLINT(check) in a comment of this line; nothing when that does not stand there.
  [[nodiscard]] std::optional<std::string_view> mark(std::uint32_t line, std::string_view check) const;

  /// Gives: the text of a token; `;` behind the last one.
  [[nodiscard]] std::string_view text(std::size_t at) const noexcept {
    return at < all.size() ? all[at].text : std::string_view(";");
  }
  /// Gives: the position behind the bracket that closes the one at `at`; that of the end when there is none.
  [[nodiscard]] std::size_t behind(std::size_t at, char open, char close) const noexcept;
  /// Gives: where the body of the lambda begins whose `[` stands at `at`; 0 when it is no lambda.
  [[nodiscard]] std::size_t lambda_body(std::size_t at) const noexcept;
};

/// Gives: true for words that begin as names do, keywords too.
bool begins_a_name(std::string_view text) noexcept;

/// Needs: the text outlives the tokens. Takes any bytes.
Tokens tokens_of(std::string_view text);

}  // namespace calm::lint
