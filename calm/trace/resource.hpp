// resource.hpp — the name of anything two steps can meet at: a kernel record, or a registered object and one of its parts.
// Laws:    LAB-2 (resources touched), LAB-4 (steps that touch different resources commute)
// Threads: values
// Cancel:  not applicable
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "calm/check/require.hpp"
#include "calm/model/id.hpp"

namespace calm::trace {

/// 64 bits, never an address, so that two runs of one program use the same names. The default value names nothing.
///   bit 63 clear   a kernel record, the bits of its Id: their type tag keeps records of different types apart
///   bit 63 set     bits 62..32 the number of a registered object, 31..0 the part of it: the tail, the k-th slot, …
class ResourceId {
 public:
  static constexpr std::uint32_t object_max = (1U << 31) - 1;

  constexpr ResourceId() noexcept = default;

  template <IdType type>
  constexpr ResourceId(Id<type> id) noexcept  // NOLINT(google-explicit-constructor): a record is a resource
      : bits_(id.bits()) {
    static_assert(static_cast<std::uint8_t>(type) < 0x80, "bit 63 tells registered objects from records");
  }

  /// Names a part of an object that has no Id; who hands out object numbers sees to it that they repeat from run to run.
  /// Needs: object is at most object_max.
  static constexpr ResourceId registered(std::uint32_t object, std::uint32_t part = 0) noexcept {
    CALM_REQUIRE(LAB_2, object <= object_max, object);
    ResourceId id;
    id.bits_ = registered_bit | std::uint64_t{object} << 32 | part;
    return id;
  }

  /// Gives: the resource with these bits, or one that names nothing when they are neither an Id's nor a registered one's.
  static constexpr ResourceId from_bits(std::uint64_t bits) noexcept {
    ResourceId id;
    const std::uint64_t type = bits >> 56;
    const bool record = type >= first_type && type <= last_type && (bits >> 32 & Generation::last) != 0;
    if (record || (bits & registered_bit) != 0) id.bits_ = bits;
    return id;
  }

  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }
  [[nodiscard]] constexpr bool is_registered() const noexcept { return (bits_ & registered_bit) != 0; }

  /// Needs: a registered one.
  [[nodiscard]] constexpr std::uint32_t object() const noexcept {
    CALM_REQUIRE(LAB_2, is_registered(), bits_);
    return static_cast<std::uint32_t>(bits_ >> 32) & object_max;
  }
  [[nodiscard]] constexpr std::uint32_t part() const noexcept {
    CALM_REQUIRE(LAB_2, is_registered(), bits_);
    return static_cast<std::uint32_t>(bits_);
  }

  constexpr explicit operator bool() const noexcept { return bits_ != 0; }

  friend constexpr bool operator==(ResourceId, ResourceId) noexcept = default;
  friend constexpr auto operator<=>(ResourceId, ResourceId) noexcept = default;

 private:
  static constexpr std::uint64_t registered_bit = std::uint64_t{1} << 63;
  static constexpr std::uint64_t first_type = static_cast<std::uint8_t>(IdType::region);
  static constexpr std::uint64_t last_type = static_cast<std::uint8_t>(IdType::channel);

  std::uint64_t bits_ = 0;
};

/// Gives: the name of the record, `c3`; of a registered object `x5`, of a part of it `x5/2`; `none` for no resource.
std::string to_string(ResourceId resource);

}  // namespace calm::trace
