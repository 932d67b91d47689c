// text.hpp — writes text into a buffer of fixed size; what does not fit is cut and marked with "…".
// Laws:    none
// Threads: one owner
// Cancel:  not applicable
#pragma once

#include <charconv>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace calm::check {

/// Never allocates and never throws.
class Text {
 public:
  Text(char* buffer, std::size_t capacity) noexcept : buffer_(buffer), limit_(capacity) {}

  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  std::size_t size() const noexcept { return size_; }
  std::size_t room() const noexcept { return limit_ - size_; }

  void put(std::string_view piece) noexcept {
    if (cut_) return;
    const std::size_t fits = piece.size() <= room() ? piece.size() : room();
    if (fits != 0) std::memcpy(buffer_ + size_, piece.data(), fits);
    size_ += fits;
    if (fits != piece.size()) cut();
  }

  /// Control characters are shown, not sent: a value cannot break a line of the report.
  void put_line(std::string_view piece) noexcept {
    for (const char c : piece) {
      if (cut_) return;
      const auto code = static_cast<unsigned char>(c);
      if (code >= 0x20 && code != 0x7f) {
        put({&c, 1});
      } else if (c == '\n') {
        put("\\n");
      } else if (c == '\t') {
        put("\\t");
      } else {
        constexpr std::string_view digits = "0123456789abcdef";
        const char escape[] = {'\\', 'x', digits[code >> 4U], digits[code & 0xfU]};
        put({escape, sizeof escape});
      }
    }
  }

  template <class Number, class... Format>
  void put_number(Number number, Format... format) noexcept {
    char digits[32];  // the longest shortest form of a double has 24 characters
    const auto end = std::to_chars(digits, digits + sizeof digits, number, format...).ptr;
    put({digits, static_cast<std::size_t>(end - digits)});
  }

  /// While it lives, at most `most` further bytes are written.
  class Window {
   public:
    Window(Text& text, std::size_t most) noexcept : text_(text), outer_limit_(text.limit_) {
      if (most < text.room()) text.limit_ = text.size_ + most;
    }
    ~Window() {
      if (text_.limit_ < outer_limit_) text_.cut_ = false;
      text_.limit_ = outer_limit_;
    }

    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;

   private:
    Text& text_;
    std::size_t outer_limit_;
  };

 private:
  void cut() noexcept {
    constexpr std::string_view mark = "…";
    cut_ = true;
    if (size_ < mark.size()) return;
    size_ -= mark.size();
    // A UTF-8 character is kept whole or dropped.
    for (int i = 0; i < 3 && size_ > 0 && (static_cast<unsigned char>(buffer_[size_]) & 0xc0U) == 0x80U; ++i) --size_;
    std::memcpy(buffer_ + size_, mark.data(), mark.size());
    size_ += mark.size();
  }

  char* buffer_;
  std::size_t size_ = 0;
  std::size_t limit_;
  bool cut_ = false;
};

}  // namespace calm::check
