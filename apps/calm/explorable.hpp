// explorable.hpp — the programs that `calm explore` knows: those whose count is known, and those with a known bug.
// Laws:    LAB-5
// Threads: the main thread
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/calm/zoo/zoo.hpp"
#include "calm/explore/threads.hpp"

namespace calm::tool {

/// A program and what it takes.
struct Explorable {
  zoo::Range n;
  zoo::Range m;
  explore::Threads::Setup (*make)(std::uint32_t n, std::uint32_t m) = nullptr;
  std::uint64_t (*count)(std::uint32_t n, std::uint32_t m) = nullptr;  ///< of executions, when that is known
  explore::Threads::Setup (*make_bug)(bool fixed, std::uint32_t n) = nullptr;
  bool fixed = false;

  [[nodiscard]] explore::Threads::Setup setup(std::uint32_t with_n, std::uint32_t with_m) const {
    return make != nullptr ? make(with_n, with_m) : make_bug(fixed, with_n);
  }
  [[nodiscard]] std::optional<std::uint64_t> known(std::uint32_t with_n, std::uint32_t with_m) const {
    if (count == nullptr) return std::nullopt;
    return count(with_n, with_m);
  }
};

/// Fails: Refused, with the name that may have been meant.
Explorable find_explorable(const std::string& name);

/// Prints all of them, with what they take.
void list_explorables();

/// Explores the gallery and prints what was found, and how soon by which strategy.
/// Gives: 0; 1 when a bug was not found, a mended program has one, or chance is better than the score.
int show_gallery();

/// Gives: the value to use for a parameter. Fails: Refused when the one given is out of range, or there is no such parameter.
std::uint32_t parameter(const std::string& program, const char* name, const zoo::Range& range,
                        const std::optional<std::uint32_t>& given);

}  // namespace calm::tool
