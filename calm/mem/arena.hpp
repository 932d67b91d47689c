// arena.hpp — bump memory with a byte limit: what is made in it lives until the arena ends.
// Laws:    HND-3 (memory ceiling; a refusal changes nothing)
// Threads: one at a time
// Cancel:  not applicable
//
// Blocks grow from 1 KiB to 64 KiB; what would fill much of one gets a block of its own. The count against the limit
// depends on what was asked for only, never on addresses or on how blocks were filled: two equal runs count the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace calm::mem {

class Arena {
 public:
  explicit Arena(std::uint64_t limit_bytes) noexcept : limit_(limit_bytes) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() { release(); }

  /// Needs: `align` a power of two.
  /// Gives: memory of this size and alignment, at least one byte, valid until release().
  /// Fails: nullptr, and nothing has changed: when left() < cost(bytes, align) by the limit, else without memory.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t align) noexcept;

  /// Gives: a new T whose destructor runs at release().
  /// Fails: nullptr, and nothing has changed: when left() < cost_of<T>() by the limit, else without memory. With what the
  ///        constructor throws: then its memory is given back and nothing has changed, unless the constructor itself
  ///        allocated here; what it made stays, and so do the bytes below it.
  template <class T, class... Arguments>
  [[nodiscard]] T* make(Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>);

  /// Gives: what allocate(bytes, align) and make<T>() count against the limit: the size rounded up to the alignment, with
  ///        two words more for an object that has a destructor to run.
  [[nodiscard]] static constexpr std::uint64_t cost(std::size_t bytes, std::size_t align) noexcept {
    if (bytes == 0) bytes = 1;
    if (bytes > ~std::size_t{0} - (align - 1)) return ~std::uint64_t{0};
    return (bytes + align - 1) & ~(align - 1);
  }
  template <class T>
  [[nodiscard]] static constexpr std::uint64_t cost_of() noexcept {
    return cost(Layout<T>::bytes, Layout<T>::align);
  }

  [[nodiscard]] std::uint64_t limit() const noexcept { return limit_; }
  [[nodiscard]] std::uint64_t used() const noexcept { return used_; }
  [[nodiscard]] std::uint64_t left() const noexcept { return limit_ - used_; }

  /// Ends the objects, newest first, and frees all memory. The arena is then as new. A destructor may still allocate here.
  void release() noexcept;

 private:
  struct Block;

  /// Stands before an object whose destructor must run.
  struct Ending {
    Ending* older;
    void (*end)(Ending& self) noexcept;
  };

  template <class T>
  struct Layout {
    static constexpr bool has_ending = !std::is_trivially_destructible_v<T>;
    static constexpr std::size_t align = has_ending && alignof(Ending) > alignof(T) ? alignof(Ending) : alignof(T);
    // An Ending is followed by its object at once, or where the alignment lets it.
    static constexpr std::size_t offset = has_ending ? (sizeof(Ending) + alignof(T) - 1) / alignof(T) * alignof(T) : 0;
    static constexpr std::size_t bytes = offset + sizeof(T);
  };

  /// Where allocation goes on. Going back to one frees what was allocated since.
  struct Position {
    Block* newest = nullptr;
    std::byte* at = nullptr;      // in the block that is being filled
    std::byte* end = nullptr;     // of that block
    std::size_t block_bytes = 0;  // of the block filled last, 0 when there is none
  };

  template <class T>
  static void end_object(Ending& ending) noexcept {
    std::launder(reinterpret_cast<T*>(reinterpret_cast<std::byte*>(&ending) + Layout<T>::offset))->~T();
  }

  std::byte* allocate_in_new_block(std::size_t bytes, std::size_t align) noexcept;
  void go_back(const Position& to) noexcept;

  Position position_;
  Ending* endings_ = nullptr;  // newest first
  std::uint64_t used_ = 0;
  std::uint64_t limit_;
};

template <class T, class... Arguments>
T* Arena::make(Arguments&&... arguments) noexcept(std::is_nothrow_constructible_v<T, Arguments...>) {
  static_assert(std::is_nothrow_destructible_v<T>, "the arena ends its objects without exceptions");
  const Position before = position_;
  const std::uint64_t used_before = used_;
  auto* const memory = static_cast<std::byte*>(allocate(Layout<T>::bytes, Layout<T>::align));
  if (memory == nullptr) return nullptr;
  T* object = nullptr;
  if constexpr (std::is_nothrow_constructible_v<T, Arguments...>) {
    object = ::new (memory + Layout<T>::offset) T(std::forward<Arguments>(arguments)...);
  } else {
    const std::uint64_t used_now = used_;
    try {
      object = ::new (memory + Layout<T>::offset) T(std::forward<Arguments>(arguments)...);
    } catch (...) {
      if (used_ == used_now) {
        go_back(before);
        used_ = used_before;
      }
      throw;
    }
  }
  if constexpr (Layout<T>::has_ending) endings_ = ::new (memory) Ending{endings_, &end_object<T>};
  return object;
}

}  // namespace calm::mem
