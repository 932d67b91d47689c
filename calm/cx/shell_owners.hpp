// shell_owners.hpp — who keeps the shell of a task: the kernel's side, until the task has ended, and its handle.
// Laws:    TSK-3
// Threads: each of the two on whatever thread it is; the last one ends the shell
// Cancel:  not applicable
#pragma once

#include <atomic>
#include <cstdint>

namespace calm::cx {

/// How many own a shell: one, or the kernel's side, until the task has ended, and the handle.
class ShellOwners {
 public:
  /// Needs: whether several workers may have it; asked once, for the shell of a whole program outlives its runtime.
  explicit ShellOwners(bool shared) noexcept : shared_(shared) {}

  /// One more. Needs: before the shell is the kernel's.
  void retain() noexcept { owners_.store(2, std::memory_order_relaxed); }
  /// Gives: false when the other has left; what it did is seen then.
  [[nodiscard]] bool several() const noexcept { return owners_.load(std::memory_order_acquire) > 1; }  // [S1]
  /// Gives: true for the last one, who ends the shell and sees all that the other did to it.
  [[nodiscard]] bool release() noexcept {
    if (!shared_) {  // one worker has both: no step of another comes between these two
      const auto left = static_cast<std::uint8_t>(owners_.load(std::memory_order_relaxed) - 1);
      owners_.store(left, std::memory_order_relaxed);
      return left == 0;
    }
    // [S1] acquire: whoever finds itself alone sees what the other did before it left with the release below.
    return owners_.load(std::memory_order_acquire) == 1 || owners_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

 private:
  std::atomic<std::uint8_t> owners_{1};
  bool shared_;
};

}  // namespace calm::cx
