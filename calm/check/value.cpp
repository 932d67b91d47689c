#include "calm/check/value.hpp"

#include <cstring>

#include "calm/check/text.hpp"

namespace calm::check::detail {

void print_signed(Text& text, const Value& value) noexcept { text.put_number(static_cast<long long>(value.bits)); }
void print_unsigned(Text& text, const Value& value) noexcept { text.put_number(value.bits); }
void print_float(Text& text, const Value& value) noexcept { text.put_number(static_cast<float>(value.real)); }
void print_double(Text& text, const Value& value) noexcept { text.put_number(value.real); }

void print_address(Text& text, const Value& value) noexcept {
  text.put("0x");
  text.put_number(value.bits, 16);
}

void print_characters(Text& text, const Value& value) noexcept {
  if (value.characters == nullptr) {
    text.put("null");
  } else if (*value.name == '"') {
    put_plain(text, value.characters);
  } else {
    // One byte more than fits is enough to show the cut, and less than a text without an end would lead to.
    const std::size_t most = value.size < text.room() ? value.size : text.room() + 1;
    put_quoted(text, value.characters, ::strnlen(value.characters, most));
  }
}

void print_nothing(Text& text, const Value&) noexcept { text.put("<not printable>"); }

void put_quoted(Text& text, const char* characters, std::size_t size) noexcept {
  text.put("\"");
  text.put_line({characters, size});
  text.put("\"");
}

void put_plain(Text& text, const char* characters, std::size_t size) noexcept { text.put_line({characters, size}); }
void put_plain(Text& text, const char* zero_terminated) noexcept {
  text.put_line(zero_terminated == nullptr ? "null" : zero_terminated);
}

}  // namespace calm::check::detail
