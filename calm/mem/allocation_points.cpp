#include "calm/mem/allocation_points.hpp"

#include <utility>

#include "calm/check/require.hpp"
#include "calm/mem/frame_pool.hpp"

namespace calm::mem {
namespace {

struct State {
  std::uint64_t seen = 0;
  std::uint64_t nth = 0;
  std::uint32_t pauses = 0;
  bool watching = false;
  bool caches = false;
  bool all = false;
};

constinit thread_local State state;
constinit std::atomic<bool> new_asks{false};

}  // namespace

constinit std::atomic<std::uint32_t> AllocationPoints::active_{0};

void AllocationPoints::watch(std::uint64_t nth, Caches caches) noexcept {
  CALM_REQUIRE(LAB_7, !state.watching);
  state.seen = 0;
  state.nth = nth;
  state.caches = caches == Caches::counted;
  state.watching = true;
  if (state.caches) FramePool::keep_blocks(false);
  active_.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t AllocationPoints::seen() noexcept { return state.seen; }

std::uint64_t AllocationPoints::stop() noexcept {
  CALM_REQUIRE(LAB_7, state.watching);
  active_.fetch_sub(1, std::memory_order_relaxed);
  if (state.caches) FramePool::keep_blocks(true);
  state.watching = false;
  return state.seen;
}

void AllocationPoints::refuse_all(bool all) noexcept {
  if (state.all == all) return;
  state.all = all;
  active_.fetch_add(all ? 1U : UINT32_MAX, std::memory_order_relaxed);
}

bool AllocationPoints::ask(bool cached) noexcept {
  if (state.pauses != 0) return false;
  if (state.all && !cached) return true;
  if (!state.watching || (cached && !state.caches)) return false;
  return ++state.seen == state.nth;
}

AllocationPoints::Pause::Pause() noexcept { ++state.pauses; }
AllocationPoints::Pause::~Pause() { --state.pauses; }

AllocationPoints::Resume::Resume() noexcept : pauses_(std::exchange(state.pauses, 0)) {}
AllocationPoints::Resume::~Resume() { state.pauses = pauses_; }

bool AllocationPoints::sees_new() noexcept { return new_asks.load(std::memory_order_relaxed); }
void AllocationPoints::tell_of_new() noexcept { new_asks.store(true, std::memory_order_relaxed); }

}  // namespace calm::mem
