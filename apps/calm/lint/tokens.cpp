#include "apps/calm/lint/tokens.hpp"

#include <cstddef>
#include <string>

namespace calm::lint {
namespace {

constexpr std::string_view mark_begin = "NOLINT(";

bool is_word_character(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) noexcept : text_(text) {}

  Tokens scan() {
    while (at_ < text_.size()) step();
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] bool sees(std::string_view sign) const noexcept { return text_.substr(at_, sign.size()) == sign; }

  void step() {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') return skip(1);
    if (sees("//")) return comment(text_.find('\n', at_));
    if (sees("/*")) return comment(end_of("*/", at_ + 2));
    if (c == '#' && is_first_of_line()) return preprocessor();
    if (c == '"') return take_text();
    if (c == '\'') return take(quoted('\''), true);
    if (is_word_character(c)) return word();
    take(sees("::") || sees("->") ? 2 : 1, false);
  }

  /// Gives: the position behind the sign, or the end.
  [[nodiscard]] std::size_t end_of(std::string_view sign, std::size_t from) const noexcept {
    const std::size_t found = text_.find(sign, from);
    return found == std::string_view::npos ? text_.size() : found + sign.size();
  }
  void comment(std::size_t end) {
    if (end == std::string_view::npos) end = text_.size();
    const std::string_view said = text_.substr(at_, end - at_);
    if (const std::size_t mark = said.find(mark_begin); mark != std::string_view::npos) {
      tokens_.marks.emplace(line_, said.substr(mark));
    }
    skip(end - at_);
  }
  [[nodiscard]] bool is_first_of_line() const noexcept {
    const std::size_t before = text_.find_last_not_of(" \t", at_ == 0 ? std::string_view::npos : at_ - 1);
    return at_ == 0 || before == std::string_view::npos || before >= at_ || text_[before] == '\n';
  }
  void preprocessor() {
    while (at_ < text_.size()) {
      std::size_t end = text_.find('\n', at_);
      if (end == std::string_view::npos) end = text_.size();
      const bool goes_on = end > at_ && text_[end - 1] == '\\';
      skip(end - at_);
      if (!goes_on) return;
      skip(1);
    }
  }
  [[nodiscard]] std::size_t quoted(char mark) const noexcept {
    std::size_t at = at_ + 1;
    while (at < text_.size() && text_[at] != mark && text_[at] != '\n') at += text_[at] == '\\' ? 2U : 1U;
    return (at < text_.size() ? at + 1 : text_.size()) - at_;
  }
  void take_text() { take(quoted('"'), true); }
  void word() {
    std::size_t end = at_;
    while (end < text_.size() && (is_word_character(text_[end]) || is_digit_mark(end))) ++end;
    const std::string_view found = text_.substr(at_, end - at_);
    const bool raw = end < text_.size() && text_[end] == '"' && found.back() == 'R';
    if (!raw) return take(end - at_, false);
    const std::size_t open = text_.find('(', end);
    if (open == std::string_view::npos) return take(text_.size() - at_, true);
    const std::string close = ")" + std::string(text_.substr(end + 1, open - end - 1)) + "\"";
    take(end_of(close, open) - at_, true);
  }
  // 1'000'000: the marks between digits belong to the number.
  [[nodiscard]] bool is_digit_mark(std::size_t at) const noexcept {
    return text_[at] == '\'' && text_[at_] >= '0' && text_[at_] <= '9' && at + 1 < text_.size() &&
           is_word_character(text_[at + 1]);
  }
  void take(std::size_t size, bool is_text) {
    tokens_.all.push_back({is_text ? std::string_view("\"") : text_.substr(at_, size), line_, column_});
    skip(size);
  }
  void skip(std::size_t size) noexcept {
    for (std::size_t i = 0; i < size && at_ < text_.size(); ++i, ++at_) {
      ++column_;
      if (text_[at_] != '\n') continue;
      ++line_;
      column_ = 1;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::uint32_t column_ = 1;
  Tokens tokens_;
};

}  // namespace

bool begins_a_name(std::string_view text) noexcept {
  return (text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z') || text[0] == '_';
}

std::optional<std::string_view> Tokens::mark(std::uint32_t line, std::string_view check) const {
  const auto [first, last] = marks.equal_range(line);
  for (auto at = first; at != last; ++at) {
    const std::string_view said = at->second.substr(mark_begin.size());
    if (said.starts_with(check) && said.substr(check.size()).starts_with(")")) return said.substr(check.size() + 1);
  }
  return std::nullopt;
}

std::size_t Tokens::behind(std::size_t at, char open, char close) const noexcept {
  std::size_t depth = 0;
  for (; at < all.size(); ++at) {
    if (text(at)[0] == open) ++depth;
    if (text(at)[0] == close && --depth == 0) return at + 1;
    if (open == '<' && (text(at) == ";" || text(at) == "{")) return at;  // a comparison, no template
  }
  return at;
}

std::size_t Tokens::lambda_body(std::size_t at) const noexcept {
  if (at > 0) {
    const std::string_view before = text(at - 1);
    const bool follows_value = before == ")" || before == "]" || before == "\"" || before == "[";
    const bool keyword = before == "return" || before == "co_return" || before == "co_await" || before == "co_yield";
    if (follows_value || (begins_a_name(before) && !keyword)) return 0;
  }
  at = behind(at, '[', ']');
  if (text(at) == "<") at = behind(at, '<', '>');
  if (text(at) == "(") at = behind(at, '(', ')');
  while (text(at) != "{") {
    if (text(at) == ";" || text(at) == ")" || text(at) == "}" || text(at) == ",") return 0;
    ++at;
  }
  return at;
}

Tokens tokens_of(std::string_view text) { return Scanner(text).scan(); }

}  // namespace calm::lint
