// no_memory.hpp — makes allocations of a test program fail: all of them for a while, or one. The program links
// calm::fail_new and no_memory.cpp, and wraps calloc (-Wl,--wrap=calloc); not with ThreadSanitizer, see fail_new.cpp.
#pragma once

#include <cstdint>

namespace calm {

/// No allocation succeeds while one of these lives.
class NoMemory {
 public:
  NoMemory() noexcept;
  ~NoMemory();
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
};

/// The n-th allocation from now on fails, the first being 1, while this lives; those before and after it succeed.
class OneFailure {
 public:
  explicit OneFailure(std::uint64_t nth) noexcept;
  ~OneFailure();
  OneFailure(const OneFailure&) = delete;
  OneFailure& operator=(const OneFailure&) = delete;

  /// Gives: true when there was an n-th allocation.
  [[nodiscard]] bool happened() const noexcept;

 private:
  std::uint64_t nth_;
};

}  // namespace calm
