// id.hpp — names of kernel records: 64 bits of type, generation and index, so that a recycled slot is never mistaken.
// Laws:    HND-1
// Threads: values
// Cancel:  not applicable
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "calm/check/require.hpp"
#include "calm/model/error_code.hpp"

namespace calm {

/// What an id names; the number is the top byte of the id and never changes.
enum class IdType : std::uint8_t { region = 1, task = 2, obligation = 3, witness = 4, timer = 5, channel = 6 };

/// The life of one slot: each use has its own generation, and the slot is retired before a generation could repeat.
class Generation {
 public:
  static constexpr std::uint32_t first = 1;
  static constexpr std::uint32_t last = (1U << 24) - 1;

  constexpr Generation() noexcept = default;
  [[gnu::always_inline]] constexpr explicit Generation(std::uint32_t value) noexcept : value_(value) {
    CALM_REQUIRE(HND_1, value >= first && value <= last, value);
  }

  [[nodiscard]] constexpr std::uint32_t value() const noexcept { return value_; }

  /// Gives: true once the slot has used its last generation and must never be handed out again.
  [[nodiscard]] constexpr bool retired() const noexcept { return value_ == 0; }

  /// The present use has ended. Gives: `resource_exhausted` when this was the last one; the slot is then retired.
  constexpr Status recycle() noexcept {
    CALM_REQUIRE(HND_1, !retired());
    value_ = value_ == last ? 0 : value_ + 1;
    return retired() ? Status(Errc::resource_exhausted) : Status();
  }

  friend constexpr bool operator==(Generation, Generation) noexcept = default;

 private:
  std::uint32_t value_ = first;
};

/// Id of one kind of record. The default value names nothing.
///   bits 63..56 type, 55..32 generation, 31..0 index
template <IdType type_>
class Id {
 public:
  constexpr Id() noexcept = default;
  [[gnu::always_inline]] constexpr Id(std::uint32_t index, Generation generation) noexcept
      : bits_(std::uint64_t{static_cast<std::uint8_t>(type_)} << 56 | std::uint64_t{generation.value()} << 32 | index) {
    CALM_REQUIRE(HND_1, !generation.retired());
  }

  /// Gives: the id with these bits, or one that names nothing when they are no id of this type.
  static constexpr Id from_bits(std::uint64_t bits) noexcept {
    Id id;
    if (bits >> 56 == static_cast<std::uint8_t>(type_) && (bits >> 32 & Generation::last) != 0) id.bits_ = bits;
    return id;
  }

  static constexpr IdType type() noexcept { return type_; }
  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }
  [[nodiscard]] constexpr std::uint32_t index() const noexcept { return static_cast<std::uint32_t>(bits_); }

  /// Needs: the id names something.
  [[nodiscard]] constexpr Generation generation() const noexcept {
    return Generation(static_cast<std::uint32_t>(bits_ >> 32) & Generation::last);
  }

  constexpr explicit operator bool() const noexcept { return bits_ != 0; }

  /// Gives: ok when the slot is still in the use this id was made for, else `stale_handle`.
  [[nodiscard]] constexpr Status matches(Generation slot) const noexcept {
    return bits_ != 0 && (bits_ >> 32 & Generation::last) == slot.value() ? Status() : Status(Errc::stale_handle);
  }

  friend constexpr bool operator==(Id, Id) noexcept = default;
  friend constexpr auto operator<=>(Id, Id) noexcept = default;

 private:
  std::uint64_t bits_ = 0;
};

using RegionId = Id<IdType::region>;
using TaskId = Id<IdType::task>;
using ObligationId = Id<IdType::obligation>;
using WitnessId = Id<IdType::witness>;
using TimerId = Id<IdType::timer>;
using ChannelId = Id<IdType::channel>;

/// Gives: a letter and the index, `r12`; from the second use of a slot on with its generation, `r12.3`; `none` for no id.
std::string to_string(RegionId);
std::string to_string(TaskId);
std::string to_string(ObligationId);
std::string to_string(WitnessId);
std::string to_string(TimerId);
std::string to_string(ChannelId);

}  // namespace calm
