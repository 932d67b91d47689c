#include "calm/trace/json_input.hpp"

#include <algorithm>
#include <charconv>

#include "calm/model/text.hpp"
#include "calm/trace/json_text.hpp"

namespace calm::trace {
namespace {

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0U | code >> 6U);
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    put(0xE0U | code >> 12U);
    put(0x80U | (code >> 6U & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | code >> 18U);
    put(0x80U | (code >> 12U & 0x3FU));
    put(0x80U | (code >> 6U & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
}

}  // namespace

void JsonInput::fail(const std::string& what, Errc code) {
  if (failed_) return;
  failed_ = true;
  const std::string_view before = text_.substr(0, token_);
  const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  std::string message = "trace line " + std::to_string(1 + std::count(before.begin(), before.end(), '\n')) +
                        ", column " + std::to_string(1 + token_ - line_start);
  std::string field;
  for (const Step& step : path_) {
    if (step.key.empty()) {
      field.append("[").append(std::to_string(step.index)).append("]");
    } else {
      field.append(field.empty() ? "" : ".").append(step.key);
    }
  }
  if (!field.empty()) message.append(", field ").append(quoted(field));
  error_ = Error(code, message.append(": ").append(what));
}

void JsonInput::skip_space() noexcept {
  while (at(' ') || at('\n') || at('\t') || at('\r')) ++at_;
  token_ = at_;
}

std::string JsonInput::found() const {
  if (at_ >= text_.size()) return "the text ends";
  return "found " + quoted(text_.substr(at_, std::max<std::size_t>(1, utf8_length(text_.substr(at_)))));
}

void JsonInput::expect(char c) {
  skip_space();
  if (failed_) return;
  if (!at(c)) return fail("expected " + quoted({&c, 1}) + ", " + found());
  ++at_;
}

bool JsonInput::open(char bracket, std::string_view what) {
  skip_space();
  if (failed_) return false;
  if (!at(bracket)) {
    fail("expected " + std::string(what) + ", " + found());
    return false;
  }
  ++at_;
  return true;
}

bool JsonInput::close(char bracket, bool first) {
  if (failed_) return true;
  skip_space();
  if (at(bracket)) {
    ++at_;
    return true;
  }
  if (first) return false;
  if (!at(',')) {
    fail("expected \",\" or " + quoted({&bracket, 1}) + ", " + found());
    return true;
  }
  ++at_;
  return false;
}

std::size_t JsonInput::find(std::span<const std::string_view> fields, const std::string& key, std::uint32_t& seen) {
  const auto place = std::find(fields.begin(), fields.end(), key);
  const auto field = static_cast<std::size_t>(place - fields.begin());
  if (place == fields.end()) {
    std::string known;
    for (const std::string_view name : fields) known.append(known.empty() ? "" : ", ").append(name);
    fail("this field is not known; there are " + known);
  } else if ((seen >> field & 1U) != 0) {
    fail("this field stands twice");
  } else {
    seen |= std::uint32_t{1} << field;
  }
  return field;
}

void JsonInput::require(std::uint32_t seen, std::span<const std::string_view> fields, std::size_t field) {
  if ((seen >> field & 1U) == 0) fail("the field " + quoted(fields[field]) + " is missing");
}

std::string JsonInput::string() {
  skip_space();
  if (failed_) return {};
  if (!at('"')) {
    fail("expected a string, " + found());
    return {};
  }
  ++at_;
  std::string out;
  while (!failed_ && !at('"')) {
    const std::string_view rest = text_.substr(at_);
    const std::size_t length = utf8_length(rest);
    if (rest.empty()) {
      fail("the string does not end");
    } else if (length == 0) {
      fail("the string is no UTF-8");
    } else if (static_cast<unsigned char>(rest[0]) < 0x20) {
      fail("a control character stands in the string without an escape");
    } else if (rest[0] == '\\') {
      escape(out);
    } else {
      out.append(rest.substr(0, length));
      at_ += length;
    }
  }
  if (failed_) return {};
  ++at_;
  return out;
}

/// Needs: a backslash.
void JsonInput::escape(std::string& out) {
  constexpr std::string_view letters = "\"\\/bfnrt";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  const std::size_t letter = at_ + 1 < text_.size() ? letters.find(text_[at_ + 1]) : std::string_view::npos;
  if (letter != std::string_view::npos) {
    out.push_back(meanings[letter]);
    at_ += 2;
    return;
  }
  std::uint32_t code = four_digits();
  if (code >= 0xDC00 && code <= 0xDFFF) return fail("half of a pair of surrogates stands alone");
  if (code >= 0xD800 && code <= 0xDBFF) {
    const std::uint32_t low = four_digits();
    if (low < 0xDC00 || low > 0xDFFF) return fail("half of a pair of surrogates stands alone");
    code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
  }
  if (!failed_) append_utf8(out, code);
}

/// Gives: the number of a \uXXXX that is to stand here.
std::uint32_t JsonInput::four_digits() {
  std::uint32_t code = 0;
  const std::string_view digits = text_.substr(at_).size() >= 6 ? text_.substr(at_ + 2, 4) : std::string_view();
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (digits.empty() || text_.substr(at_, 2) != "\\u" || error != std::errc() || end != digits.data() + digits.size()) {
    fail("this is no escape of JSON");
    return 0;
  }
  at_ += 6;
  return code;
}

std::uint64_t JsonInput::number(std::uint64_t limit) {
  skip_space();
  if (failed_) return 0;
  const std::size_t begin = token_;
  std::string digits;
  if (at('"')) {
    digits = string();
  } else {
    const std::size_t end = std::min(text_.find_first_not_of("+-.0123456789eE", at_), text_.size());
    digits = text_.substr(at_, end - at_);
    at_ = end;
  }
  token_ = begin;
  std::uint64_t number = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, number);
  const bool whole = !digits.empty() && end == last && error == std::errc() && (digits[0] != '0' || digits.size() == 1);
  if (!failed_ && !whole && error != std::errc::result_out_of_range) {
    at_ = begin;
    fail("expected a whole number, " + (digits.empty() ? found() : "found " + quoted(digits)));
  } else if (!failed_ && (!whole || number > limit)) {
    fail(digits + " is more than " + std::to_string(limit));
  }
  return failed_ ? 0 : number;
}

void JsonInput::end() {
  skip_space();
  if (at_ < text_.size()) fail("the trace ends before this, " + found());
}

}  // namespace calm::trace
