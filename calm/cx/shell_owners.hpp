// shell_owners.hpp — who keeps the shell of a task: the kernel's side, until the task has ended, and its handle; and in what block.
// Laws:    TSK-3
// Threads: each of the two on whatever thread it is; the last one ends the shell
// Cancel:  not applicable
#pragma once

#include <cstddef>
#include <cstdint>

#include "calm/lockfree/two_owners.hpp"

namespace calm::cx {

/// How many own a shell: one, or the kernel's side, until the task has ended, and the handle.
class ShellOwners {
 public:
  /// What the port of a shell says of all of its shells: several workers may have one; somebody follows its handle. It is asked
  /// once, for the shell of a whole program outlives its runtime.
  using OfPort = std::uint8_t;
  static constexpr OfPort of_port(bool shared, bool followed) noexcept {
    return static_cast<OfPort>((shared ? shared_bit : 0) | (followed ? followed_bit : 0));
  }
  explicit ShellOwners(OfPort port) noexcept : traits_(port) {}

  /// Gives: true when one worker has both owners, nobody follows that, and the block is the shell and nothing else.
  [[nodiscard]] bool are_plain() const noexcept { return traits_ == 0; }
  /// The same where several workers may have one.
  [[nodiscard]] bool are_plain_beside_others() const noexcept { return traits_ == shared_bit; }
  /// Gives: true when the kernel hears of it when the handle goes.
  [[nodiscard]] bool are_followed() const noexcept { return (traits_ & followed_bit) != 0; }

  // How its block is made. Needs: before the shell is the kernel's.

  /// The block begins with a name.
  void set_named() noexcept { traits_ |= named_bit; }
  [[nodiscard]] bool has_name() const noexcept { return (traits_ & named_bit) != 0; }
  /// The shell is one with more in it.
  void set_larger() noexcept { traits_ |= larger_bit; }
  /// Gives: true when the block is the shell and nothing else.
  [[nodiscard]] bool has_plain_block() const noexcept { return (traits_ & (named_bit | larger_bit)) == 0; }

  /// One more. Needs: before the shell is the kernel's.
  void retain() noexcept { owners_.retain(); }
  /// Gives: false when the other has left; what it did is seen then.
  [[nodiscard]] bool several() const noexcept { return owners_.several(); }
  /// Gives: true for the last one, who ends the shell and sees all that the other did to it.
  [[nodiscard]] bool release() noexcept { return (traits_ & shared_bit) == 0 ? release_alone() : owners_.release(); }
  /// The same. Needs: one worker has both.
  [[nodiscard]] bool release_alone() noexcept { return owners_.release_alone(); }

  static constexpr std::uint8_t named_bit = 2;
  /// For a debugger, as TaskRoot::offsets().
  static consteval std::size_t traits_offset() noexcept;

 private:
  static constexpr std::uint8_t shared_bit = 1;
  static constexpr std::uint8_t larger_bit = 4;
  static constexpr std::uint8_t followed_bit = 8;

  lockfree::TwoOwners<> owners_;
  std::uint8_t traits_;  // the same from the first poll on
};

}  // namespace calm::cx
