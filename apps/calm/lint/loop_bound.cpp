#include "apps/calm/lint/loop_bound.hpp"

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

namespace calm::lint {
namespace {

using Count = std::optional<std::uint64_t>;

Count number_in(std::string_view word) {
  std::string digits;
  for (const char c : word) {
    if (c != '\'') digits += c;
  }
  std::uint64_t number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const std::string_view rest(read.ptr, static_cast<std::size_t>(digits.data() + digits.size() - read.ptr));
  if (read.ec != std::errc() || rest.find_first_not_of("uUlLzZ") != std::string_view::npos) return std::nullopt;
  return number;
}

/// Gives: how many things stand between the brackets that open at `open`.
std::uint64_t listed(const Tokens& tokens, std::size_t open) {
  const std::size_t end = tokens.behind(open, '{', '}');
  if (open + 2 >= end) return 0;
  std::uint64_t count = 1;
  std::size_t depth = 0;
  for (std::size_t at = open + 1; at + 1 < end; ++at) {
    const std::string_view word = tokens.text(at);
    if (word == "(" || word == "{" || word == "[") ++depth;
    if (word == ")" || word == "}" || word == "]") --depth;
    if (word == "," && depth == 0 && at + 2 < end) ++count;
  }
  return count;
}

/// What a file says of its names.
class Names {
 public:
  explicit Names(const Tokens& tokens) noexcept : tokens_(tokens) {}

  /// Gives: the number that a word is, or that a constant of this name has.
  [[nodiscard]] Count value(std::string_view word) const {
    if (const Count number = number_in(word)) return number;
    for (std::size_t at = 1; at + 2 < tokens_.all.size(); ++at) {
      const bool constant = tokens_.text(at) == word && tokens_.text(at + 1) == "=" && tokens_.text(at + 3) == ";";
      if (constant && is_constant(at)) return number_in(tokens_.text(at + 2));
    }
    return std::nullopt;
  }

  /// Gives: how many elements a fixed array of this name has.
  [[nodiscard]] Count size(std::string_view name) const {
    for (std::size_t at = 1; at < tokens_.all.size(); ++at) {
      if (tokens_.text(at) != name) continue;
      if (const Count count = size_at(at)) return count;
    }
    return std::nullopt;
  }

 private:
  /// Gives: true when the declaration that the name at `at` stands in says constexpr.
  [[nodiscard]] bool is_constant(std::size_t at) const {
    while (at-- > 0) {
      const std::string_view word = tokens_.text(at);
      if (word == "constexpr") return true;
      if (word == ";" || word == "{" || word == "}" || word == "(" || word == ",") return false;
    }
    return false;
  }
  [[nodiscard]] Count size_at(std::size_t at) const {
    const std::string_view before = tokens_.text(at - 1);
    const std::string_view next = tokens_.text(at + 1);
    if (before == ">" && at >= 4 && tokens_.text(at - 3) == "," && is_array(at - 3)) return value(tokens_.text(at - 2));
    if (before == "array" && next == "{") return listed(tokens_, at + 1);
    if (before == "array" && next == "=" && tokens_.text(at + 2) == "{") return listed(tokens_, at + 2);
    if (next != "[") return std::nullopt;
    const bool counted = tokens_.text(at + 2) == "]";  // by what stands behind it
    if (counted) {
      const std::size_t list = at + (tokens_.text(at + 3) == "=" ? 4 : 3);
      return tokens_.text(list) == "{" ? Count(listed(tokens_, list)) : std::nullopt;
    }
    const bool declared = begins_a_name(before) && before != "return" && tokens_.text(at + 3) == "]";
    return declared ? value(tokens_.text(at + 2)) : std::nullopt;
  }
  /// Gives: true when the `,` at `at` stands between the arguments of `array<…>`.
  [[nodiscard]] bool is_array(std::size_t at) const {
    while (at-- > 1) {
      const std::string_view word = tokens_.text(at);
      if (word == "<" && tokens_.text(at - 1) == "array") return true;
      if (word == ";" || word == "{" || word == "}" || word == "(") return false;
    }
    return false;
  }

  const Tokens& tokens_;
};

class Header {
 public:
  Header(const Tokens& tokens, std::size_t open) noexcept
      : tokens_(tokens), names_(tokens), open_(open), end_(tokens.behind(open, '(', ')') - 1) {}

  [[nodiscard]] Count rounds() const {
    if (open_ + 2 == end_ && (text(open_ + 1) == "false" || text(open_ + 1) == "0")) return 0;
    if (open_ == 0 || text(open_ - 1) != "for") return std::nullopt;
    const std::size_t first = find(";", open_ + 1);
    if (first == end_) return rounds_of_range();
    const std::size_t second = find(";", first + 1);
    if (second + 1 >= end_) return std::nullopt;  // no third part: nothing says that it comes nearer
    return rounds_of_condition(first + 1, second);
  }

 private:
  [[nodiscard]] std::string_view text(std::size_t at) const { return tokens_.text(at); }
  /// Gives: where the sign stands outside of inner brackets, or the end.
  [[nodiscard]] std::size_t find(std::string_view sign, std::size_t from) const {
    std::size_t depth = 0;
    for (std::size_t at = from; at < end_; ++at) {
      const std::string_view word = text(at);
      if (word == sign && depth == 0) return at;
      if (word == "(" || word == "{" || word == "[") ++depth;
      if (depth > 0 && (word == ")" || word == "}" || word == "]")) --depth;
    }
    return end_;
  }
  [[nodiscard]] Count rounds_of_range() const {
    const std::size_t range = find(":", open_ + 1) + 1;
    if (range >= end_) return std::nullopt;
    if (text(range) == "{") return listed(tokens_, range);
    return range + 1 == end_ ? names_.size(text(range)) : std::nullopt;
  }
  /// A condition is a name, a comparison and a number: other ones say nothing.
  [[nodiscard]] Count rounds_of_condition(std::size_t from, std::size_t to) const {
    const bool with_equal = from + 4 == to && text(from + 2) == "=";
    const bool compares = from + 3 == to || with_equal;
    if (!compares || !begins_a_name(text(from))) return std::nullopt;
    const std::string_view sign = text(from + 1);
    const Count bound = names_.value(text(to - 1));
    if (!bound) return std::nullopt;
    if (sign == "<" || (sign == "!" && with_equal)) return *bound + (sign == "<" && with_equal ? 1 : 0);
    if (sign == ">") return start_of(text(from));
    return std::nullopt;
  }
  /// Gives: the number at which the variable begins, in the first part of the brackets.
  [[nodiscard]] Count start_of(std::string_view name) const {
    for (std::size_t at = open_ + 1; text(at) != ";"; ++at) {
      const bool last = text(at + 3) == ";" || text(at + 3) == ",";
      if (text(at) == name && text(at + 1) == "=" && last) return names_.value(text(at + 2));
    }
    return std::nullopt;
  }

  const Tokens& tokens_;
  Names names_;
  std::size_t open_;
  std::size_t end_;
};

}  // namespace

std::optional<std::uint64_t> rounds_of_header(const Tokens& tokens, std::size_t open) {
  return Header(tokens, open).rounds();
}

}  // namespace calm::lint
