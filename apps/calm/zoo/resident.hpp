// resident.hpp — how much memory a process has while it explores.
// Laws:    LAB-5 (memory stays small)
// Threads: one
// Cancel:  not applicable
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "calm/explore/tally.hpp"

namespace calm::zoo {

/// Looks now and then how many pages of the process are in memory: its heap, and the stacks of explored threads.
class Resident final : public explore::Listener {
 public:
  void ended(const explore::Execution& /*execution*/, bool /*deadlock*/) override {
    if (count_++ % 256 == 0) most_ = std::max(most_, now_kib());
  }

  /// Gives: the most that was seen.
  [[nodiscard]] std::size_t most_kib() noexcept { return most_ = std::max(most_, now_kib()); }

 private:
  static std::size_t now_kib() noexcept {
    std::FILE* const file = std::fopen("/proc/self/statm", "re");
    if (file == nullptr) return 0;
    unsigned long all = 0;
    unsigned long resident = 0;
    const bool read = std::fscanf(file, "%lu %lu", &all, &resident) == 2;
    (void)std::fclose(file);
    return read ? resident * (static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 1024) : 0;
  }

  std::uint64_t count_ = 0;
  std::size_t most_ = 0;
};

}  // namespace calm::zoo
