#include "calm/mem/ref.hpp"

#include <atomic>

namespace calm::mem {
namespace {

std::atomic_ref<std::uint32_t> count(std::uint32_t& owners) noexcept { return std::atomic_ref<std::uint32_t>(owners); }

}  // namespace

void RefCounted::retain() const noexcept {
  // relaxed: whoever copies already owns, so the block cannot go away meanwhile.
  count(owners_).fetch_add(1, std::memory_order_relaxed);
}

bool RefCounted::release() const noexcept {
  // [R1] each owner's release publishes what it did with the block -> the last owner's acquire sees it before destroying.
  return count(owners_).fetch_sub(1, std::memory_order_acq_rel) == 1;
}

bool RefCounted::unique() const noexcept {
  // [R1] acquire: pairs with the release of owners that have left.
  return count(owners_).load(std::memory_order_acquire) == 1;
}

}  // namespace calm::mem
