// region_heap.hpp — the memory of a region: objects that live until it is Closed, ended newest first.
// Laws:    REG-10, REG-8 (heap bytes)
// Threads: allocate(), add() and used() under shard B; objects are made and ended without any lock
// Cancel:  not applicable
#pragma once

#include <cstddef>
#include <cstdint>

#include "calm/mem/arena.hpp"

namespace calm::kernel {

class RegionHeap {
 public:
  /// Stands before an object that must be ended.
  struct Ending {
    Ending* older = nullptr;
    void (*end_object)(Ending&) noexcept = nullptr;
  };

  explicit RegionHeap(std::uint64_t limit_bytes) noexcept : arena_(limit_bytes) {}
  RegionHeap(const RegionHeap&) = delete;
  RegionHeap& operator=(const RegionHeap&) = delete;
  ~RegionHeap() {
    while (newest_ != nullptr) {
      Ending& ending = *newest_;
      newest_ = ending.older;
      ending.end_object(ending);
    }
  }

  /// Gives: bytes for an Ending and its object, or nullptr at the limit and without memory.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t align) noexcept { return arena_.allocate(bytes, align); }
  /// Gives: true when it was not the limit that refused so many bytes.
  [[nodiscard]] bool has_room(std::size_t bytes, std::size_t align) const noexcept {
    return mem::Arena::cost(bytes, align) <= arena_.left();
  }

  void add(Ending& ending) noexcept {
    ending.older = newest_;
    newest_ = &ending;
  }

  [[nodiscard]] std::uint64_t used() const noexcept { return arena_.used(); }

  std::uint32_t makers = 0;    ///< objects being made: the region is not Closed before they are done
  RegionHeap* next = nullptr;  ///< in the line of heaps that end when the locks are gone

  /// Where an object of type T stands behind its Ending.
  template <class T>
  struct Layout {
    static constexpr std::size_t align = alignof(T) > alignof(Ending) ? alignof(T) : alignof(Ending);
    static constexpr std::size_t offset = (sizeof(Ending) + alignof(T) - 1) / alignof(T) * alignof(T);
    static constexpr std::size_t bytes = offset + sizeof(T);
  };

 private:
  mem::Arena arena_;
  Ending* newest_ = nullptr;
};

}  // namespace calm::kernel
