// token.hpp — the promises that a block of a program has made and not resolved yet.
// Laws:    OBL-1, OBL-3, OBL-4
// Threads: one
// Cancel:  what is left when the block ends is aborted, whichever way it ends
#pragma once

#include <cstdint>
#include <vector>

#include "calm/cx/cx.hpp"
#include "calm/cx/obligation.hpp"
#include "journal.hpp"

namespace calm::programs {

/// Lives in the frame whose region the promises belong to: they are resolved before the region waits for them (OBL-11).
class Purse {
 public:
  explicit Purse(Journal& journal, Cx cx) noexcept : journal_(journal), cx_(cx) {}
  Purse(const Purse&) = delete;
  Purse& operator=(const Purse&) = delete;
  ~Purse() {
    while (!tokens_.empty()) (void)take(static_cast<std::uint32_t>(tokens_.size() - 1), End::abort);
  }

  /// Gives: 0, or the number of the error.
  std::uint64_t reserve(std::uint32_t kind);
  enum class End : std::uint8_t { commit, abort, drop };
  /// Resolves one of them; with none nothing happens. Gives: 0.
  std::uint64_t take(std::uint32_t which, End end);

 private:
  Journal& journal_;
  Cx cx_;
  std::vector<Obligation> tokens_{};
};

}  // namespace calm::programs
