// no_memory.hpp — makes every allocation of a test program fail for a while. The program links no_memory.cpp, which
// replaces operator new; ThreadSanitizer keeps that for itself, so such a program cannot be built with it.
#pragma once

namespace calm {

/// No allocation succeeds while one of these lives.
class NoMemory {
 public:
  NoMemory() noexcept;
  ~NoMemory();
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
};

}  // namespace calm
