#include "calm/mem/arena.hpp"

#include <algorithm>
#include <cstring>

#include "calm/check/probe.hpp"
#include "calm/check/require.hpp"

namespace calm::mem {
namespace {

constexpr std::size_t block_align = 64;
constexpr std::size_t first_block_bytes = 1024;
constexpr std::size_t last_block_bytes = std::size_t{64} * 1024;
constexpr std::size_t own_block_bytes = last_block_bytes / 4;  // what needs more gets a block of its own

std::size_t padding(const std::byte* at, std::size_t align) noexcept {
  return -reinterpret_cast<std::uintptr_t>(at) & (align - 1);
}

}  // namespace

struct Arena::Block {
  Block* older;
  std::size_t bytes;  // with this header
};

void* Arena::allocate(std::size_t bytes, std::size_t align) noexcept {
  CALM_REQUIRE(HND_3, align != 0 && (align & (align - 1)) == 0, align);
  const std::uint64_t size = cost(bytes, align);
  if (size > left()) return nullptr;
  const auto room = static_cast<std::size_t>(position_.end - position_.at);
  const std::size_t skipped = padding(position_.at, align);
  std::byte* memory = nullptr;
  if (skipped < room && size <= room - skipped) {
    memory = position_.at + skipped;
    position_.at = memory + size;
  } else {
    memory = allocate_in_new_block(size, align);
    if (memory == nullptr) return nullptr;
  }
  used_ += size;
  return memory;
}

std::byte* Arena::allocate_in_new_block(std::size_t bytes, std::size_t align) noexcept {
  constexpr std::size_t most = ~std::size_t{0} / 4;
  if (bytes > most || align > most) return nullptr;
  const std::size_t needed = sizeof(Block) + align + bytes;  // wherever the block lies
  const bool own = needed > own_block_bytes;
  std::size_t size = needed;
  if (!own) {
    size = std::clamp(position_.block_bytes * 2, first_block_bytes, last_block_bytes);
    while (size < needed) size *= 2;
  }
  void* const memory = ::operator new[](size, std::align_val_t(block_align), std::nothrow);
  if (memory == nullptr) {
    CALM_PROBE("arena: no memory for a block");
    return nullptr;
  }
  position_.newest = new (memory) Block{.older = position_.newest, .bytes = size};
  std::byte* const start = static_cast<std::byte*>(memory) + sizeof(Block);
  std::byte* const result = start + padding(start, align);
  if (!own) {
    position_.at = result + bytes;
    position_.end = static_cast<std::byte*>(memory) + size;
    position_.block_bytes = size;
  }
  return result;
}

void Arena::go_back(const Position& to) noexcept {
  while (position_.newest != to.newest) {
    Block* const block = position_.newest;
    position_.newest = block->older;
#if defined(CALM_SLOW_CHECKS) && CALM_SLOW_CHECKS
    // Who reads on after the end sees it; the compiler must not drop what it takes for writes without a reader.
    std::memset(static_cast<void*>(block), 0xDB, block->bytes);
    asm volatile("" : : "r"(block) : "memory");
#endif
    ::operator delete[](block, std::align_val_t(block_align));
  }
  position_ = to;
}

void Arena::release() noexcept {
  while (endings_ != nullptr) {
    Ending& newest = *endings_;
    endings_ = newest.older;
    newest.end(newest);
  }
  go_back(Position{});
  used_ = 0;
}

}  // namespace calm::mem
