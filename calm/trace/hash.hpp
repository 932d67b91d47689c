// hash.hpp — XXH64, the hash of every digest: the same number on every machine for the same bytes.
// Laws:    LAB-12
// Threads: a Hasher belongs to one thread; xxh64 is a pure function
// Cancel:  not applicable
//
// Written from the public specification of the xxHash family. Not for secrets: whoever knows the bytes can make collisions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "calm/trace/bytes.hpp"

namespace calm::trace {

/// Gives: XXH64 of the bytes.
[[nodiscard]] std::uint64_t xxh64(std::span<const std::byte> bytes, std::uint64_t seed = 0) noexcept;

/// The same over bytes that arrive in pieces; where one piece ends and the next begins makes no difference.
class Hasher {
 public:
  explicit Hasher(std::uint64_t seed = 0) noexcept;

  Hasher& add(std::span<const std::byte> bytes) noexcept;

  /// Adds the eight bytes of a number, least significant first.
  Hasher& add(std::uint64_t number) noexcept;

  /// The same for several, at once: quicker than one by one.
  template <class... Numbers>
  Hasher& add_all(Numbers... numbers) noexcept {
    std::array<std::byte, 8 * sizeof...(Numbers)> bytes;
    std::byte* at = bytes.data();
    ((store_little(at, std::uint64_t{numbers}), at += 8), ...);
    return add(bytes);
  }

  /// Gives: the hash of all bytes so far. More may follow.
  [[nodiscard]] std::uint64_t digest() const noexcept;

 private:
  static constexpr std::size_t stripe = 32;  // bytes that the four lanes take at once

  void take_stripe(const std::byte* bytes) noexcept;

  std::array<std::uint64_t, 4> lanes_;
  std::array<std::byte, stripe> pending_{};  // the first total_ % stripe of them wait for more
  std::uint64_t total_ = 0;
  std::uint64_t seed_;
};

}  // namespace calm::trace
