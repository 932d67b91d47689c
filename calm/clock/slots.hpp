// slots.hpp — one level of the wheel: rings of alarms by number, and a bit for each that is not empty.
// Laws:    TMR-1
// Threads: one thread at a time
// Cancel:  not applicable
//
// A slot is looked at only where its bit is set, so the slots need no values before: making a wheel costs its bits.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "calm/clock/alarm.hpp"

namespace calm::clock {

template <std::uint64_t slots>
class Slots {
  static_assert(std::has_single_bit(slots) && slots >= 64);

 public:
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): see above
  Slots() noexcept {}  // NOLINT(modernize-use-equals-default): `= default` would let `{}` write all slots

  /// Numbers go round: any number names the slot that it is modulo `slots`.
  void add(std::uint64_t number, Alarm& alarm) noexcept {
    const std::uint64_t slot = number % slots;
    alarm.slot = static_cast<std::uint8_t>(slot);
    if (!is_set(slot)) {
      first_[slot] = nullptr;
      bits_[slot / 64] |= bit_of(slot);
    }
    ring::append(first_[slot], alarm);
  }

  /// Needs: it is here.
  void remove(Alarm& alarm) noexcept {
    ring::remove(first_[alarm.slot], alarm);
    if (first_[alarm.slot] == nullptr) bits_[alarm.slot / 64] &= ~bit_of(alarm.slot);
  }

  /// Takes out all that is in the `count` slots from this number on, behind what is in `out`.
  void take(std::uint64_t number, std::uint64_t count, Alarm*& out) noexcept {
    count = std::min(count, slots);
    for (std::uint64_t far = distance(number); far < count; far = distance(number)) {
      const std::uint64_t slot = (number + far) % slots;
      ring::splice(out, first_[slot]);
      bits_[slot / 64] &= ~bit_of(slot);
    }
  }

  /// Gives: how far from this number on the next slot is that is not empty, 0 when it is this one; `slots` for none.
  [[nodiscard]] std::uint64_t distance(std::uint64_t number) const noexcept {
    const std::uint64_t from = number % slots;
    const std::uint64_t word = from / 64;
    if (const std::uint64_t here = bits_[word] >> (from % 64); here != 0) return count_zeros(here);
    for (std::uint64_t i = 1; i < words; ++i) {
      if (const std::uint64_t bits = bits_[(word + i) % words]; bits != 0)
        return 64 * i - from % 64 + count_zeros(bits);
    }
    const std::uint64_t wrapped = bits_[word] & (bit_of(from) - 1);
    return wrapped == 0 ? slots : 64 * words - from % 64 + count_zeros(wrapped);
  }

  /// Gives: the first alarm of a slot, nullptr for none.
  [[nodiscard]] Alarm* first(std::uint64_t number) const noexcept {
    return is_set(number % slots) ? first_[number % slots] : nullptr;
  }

 private:
  static constexpr std::uint64_t words = slots / 64;

  static constexpr std::uint64_t bit_of(std::uint64_t slot) noexcept { return std::uint64_t{1} << (slot % 64); }
  static std::uint64_t count_zeros(std::uint64_t bits) noexcept {
    return static_cast<std::uint64_t>(std::countr_zero(bits));
  }
  [[nodiscard]] bool is_set(std::uint64_t slot) const noexcept { return (bits_[slot / 64] & bit_of(slot)) != 0; }

  std::array<std::uint64_t, words> bits_{};
  std::array<Alarm*, slots> first_;  // valid where the bit is set
};

}  // namespace calm::clock
