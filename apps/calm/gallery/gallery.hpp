// gallery.hpp — small concurrent programs with a known bug each, and the same programs mended: what the explorer must find.
// Laws:    LAB-5, LAB-6
// Threads: one
// Cancel:  some exhibits are about it; each brings a small model of what it needs
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "apps/calm/zoo/zoo.hpp"
#include "calm/explore/threads.hpp"

namespace calm::gallery {

struct Exhibit {
  enum class Kind : std::uint8_t {
    planted,     ///< one bug, as small as it can be
    lock_order,  ///< locks in a wrong order among other work: what strategies are compared on
    unruly,      ///< has no end, or does not repeat itself
  };

  std::string_view name;
  explore::Threads::Setup (*make)(bool fixed, std::uint32_t n) = nullptr;
  std::uint32_t preemptions = 0;  ///< how few of them the bug needs
  std::string_view bug;
  std::string_view fix;
  Kind kind = Kind::planted;
  zoo::Range n{};  ///< how large it is, for those that grow
};

/// What a name on the command line means: `futurelock`, or `futurelock-fixed` for the mended one.
struct Found {
  const Exhibit* exhibit = nullptr;  ///< nullptr for no such name
  bool fixed = false;
};

inline constexpr std::string_view fixed_suffix = "-fixed";

/// Gives: all of them, those of a kind together.
std::span<const Exhibit> exhibits();

Found find(std::string_view name) noexcept;

}  // namespace calm::gallery
