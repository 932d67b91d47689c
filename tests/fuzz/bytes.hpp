// bytes.hpp — the fuzzer's input, read piece by piece. At its end every piece is zero or empty, so any input is a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace calm::fuzz {

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) noexcept : data_(data), left_(size) {}

  [[nodiscard]] bool empty() const noexcept { return left_ == 0; }

  /// Gives: the next bytes as a number.
  template <class Number>
    requires std::is_arithmetic_v<Number>
  Number take() noexcept {
    Number number{};
    const std::size_t size = left_ < sizeof(number) ? left_ : sizeof(number);
    if (size != 0) std::memcpy(&number, data_, size);
    data_ += size;
    left_ -= size;
    return number;
  }

  /// Gives: a number below the limit.
  std::size_t below(std::size_t limit) noexcept { return take<std::uint16_t>() % limit; }

  /// Gives: a number that is often at an edge: near zero, near either end, or anything.
  template <class Number>
    requires std::is_integral_v<Number>
  Number edge() noexcept {
    using Bits = std::make_unsigned_t<Number>;
    const auto near = static_cast<Bits>(take<std::int8_t>());
    switch (take<std::uint8_t>() % 4) {
      case 0:
        return static_cast<Number>(near);
      case 1:
        return static_cast<Number>(static_cast<Bits>(Bits{1} << (sizeof(Number) * 8 - 1)) + near);
      case 2:
        return static_cast<Number>(static_cast<Bits>(~Bits{0} >> 1) + near);
      default:
        return take<Number>();
    }
  }

  /// Gives: a text of up to `size_max` bytes that costs the input only a few: a short piece of it, repeated.
  std::string text(std::size_t size_max) {
    const std::size_t size = below(size_max + 1);
    std::string piece(1 + below(8), '\0');
    for (char& letter : piece) letter = take<char>();
    std::string text;
    while (text.size() < size) text += piece;
    text.resize(size);
    return text;
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

}  // namespace calm::fuzz
