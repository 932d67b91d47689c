// two_owners.hpp — what one has, or two: the last one who lets go ends it.
// Laws:    none of its own; the shell of a task stands on it (TSK-3)
// Threads: each of the two on whatever thread it is
// Cancel:  not applicable
//
// Nobody becomes an owner once there are two, so who finds itself alone stays so, and need not count itself out.
//
// Pairs:
//   [S1] release() releases what an owner did -> several() that is false, and the release() of the last one, acquire.
#pragma once

#include <cstdint>

#include "calm/lockfree/atomics.hpp"

namespace calm::lockfree {

template <AtomicsPolicy Atomics = RealAtomics>
class TwoOwners {
 public:
  constexpr TwoOwners() noexcept = default;
  TwoOwners(const TwoOwners&) = delete;
  TwoOwners& operator=(const TwoOwners&) = delete;

  /// There are two from now on. Needs: nobody else has it yet.
  // relaxed: the second one gets it from this one, by something that orders more.
  void retain() noexcept { owners_.store(2, std::memory_order_relaxed); }

  /// Gives: false when the other has let go; what it did is seen then. Needs: an owner.
  [[nodiscard]] bool several() const noexcept { return owners_.load(std::memory_order_acquire) > 1; }  // [S1]

  /// Gives: true for the last one, who ends what they had and sees all that the other did to it. Needs: an owner.
  [[nodiscard]] bool release() noexcept {
    return owners_.load(std::memory_order_acquire) == 1 ||
           owners_.fetch_sub(1, std::memory_order_acq_rel) == 1;  // [S1]
  }
  /// The same. Needs: one thread has both, so no step of another comes between these two.
  [[nodiscard]] bool release_alone() noexcept {
    const auto left = static_cast<std::uint8_t>(owners_.load(std::memory_order_relaxed) - 1);
    owners_.store(left, std::memory_order_relaxed);
    return left == 0;
  }

 private:
  typename Atomics::template Atomic<std::uint8_t> owners_{1};
};

}  // namespace calm::lockfree
