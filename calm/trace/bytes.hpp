// bytes.hpp — numbers as bytes, least significant first, whatever the machine does.
// Laws:    LAB-12 (digests are over little-endian encodings)
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace calm::trace {

/// Gives: the number in the sizeof(Number) bytes at `from`. Compilers make one load of it.
template <class Number>
constexpr Number load_little(const std::byte* from) noexcept {
  static_assert(std::is_unsigned_v<Number>);
  Number number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    number = static_cast<Number>(number | static_cast<Number>(std::to_integer<Number>(from[i]) << (8 * i)));
  }
  return number;
}

template <class Number>
constexpr void store_little(std::byte* to, Number number) noexcept {
  static_assert(std::is_unsigned_v<Number>);
  for (std::size_t i = 0; i < sizeof(Number); ++i) to[i] = static_cast<std::byte>(number >> (8 * i) & 0xFF);
}

}  // namespace calm::trace
