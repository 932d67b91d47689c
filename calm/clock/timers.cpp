#include "calm/clock/timers.hpp"

#include <bit>
#include <new>
#include <utility>

namespace calm::clock {

Timers::Timers(Coalescing coalescing, std::uint64_t limit) noexcept : wheel_(coalescing), limit_(limit) {}

Timers::~Timers() {
  for (auto& [number, block] : blocks_) {
    for (Place& place : block->places) (void)wheel_.disarm(place);
  }
}

Timers::Made Timers::insert(Time at, Time now, TaskId task, Beyond beyond) noexcept {
  if (size() >= limit_) return {.status = Errc::resource_exhausted, .id = {}};
  Block* const block = block_with_room();
  if (block == nullptr) return {.status = Errc::resource_exhausted, .id = {}};
  const auto i = static_cast<std::uint32_t>(std::countr_zero(block->free()));
  Place& place = block->places[i];
  place.at = at;
  place.task = task;
  if (const Status status = wheel_.arm(place, now, beyond); !status) return {.status = status, .id = {}};
  block->live |= std::uint64_t{1} << i;
  if (block == empty_) empty_ = nullptr;
  if (block->free() == 0) unlink(*block);
  return {.status = {}, .id = TimerId(place.index, place.generation)};
}

Status Timers::cancel(TimerId id) noexcept {
  if (!id) return Errc::stale_handle;
  const auto block = blocks_.find(id.index() / block_size);
  if (block == blocks_.end()) return Errc::stale_handle;
  Place& place = block->second->places[id.index() % block_size];
  if (const Status status = id.matches(place.generation); !status) return status;
  if (!wheel_.disarm(place)) return Errc::stale_handle;
  leave(place);
  return {};
}

std::optional<Timers::Fired> Timers::take_due(Time now) noexcept {
  Alarm* const alarm = wheel_.take_due(now);
  if (alarm == nullptr) return std::nullopt;
  auto& place = static_cast<Place&>(*alarm);
  const Fired fired{.id = TimerId(place.index, place.generation), .at = place.at, .task = place.task};
  leave(place);
  return fired;
}

Timers::Block* Timers::block_with_room() noexcept { return open_ != nullptr ? open_ : make_block(); }

Timers::Block* Timers::make_block() noexcept {
  if (next_block_ > block_max) return nullptr;  // HND-1: every number was used
  std::unique_ptr<Block> block(new (std::nothrow) Block());
  if (block == nullptr) return nullptr;
  block->number = next_block_;
  for (std::uint32_t i = 0; i < block_size; ++i) block->places[i].index = next_block_ * block_size + i;
  Block* const made = block.get();
  try {
    blocks_.emplace(next_block_, std::move(block));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  ++next_block_;
  link(*made);
  empty_ = made;
  return made;
}

/// The place may be used again under another id, and memory that nobody needs is given back (TMR-5, TMR-8).
void Timers::leave(Place& place) noexcept {
  Block& block = block_of(place);
  const std::uint64_t bit = std::uint64_t{1} << (place.index % block_size);
  const bool was_full = block.free() == 0;
  block.live &= ~bit;
  if (!place.generation.recycle()) block.spent |= bit;
  if (was_full && block.free() != 0) link(block);
  if (block.live != 0) return;
  if (empty_ == nullptr && block.free() != 0) {
    empty_ = &block;
    return;
  }
  if (block.free() != 0) unlink(block);
  blocks_.erase(block.number);
}

void Timers::link(Block& block) noexcept {
  block.before = nullptr;
  block.after = open_;
  if (open_ != nullptr) open_->before = &block;
  open_ = &block;
}

void Timers::unlink(Block& block) noexcept {
  (block.before == nullptr ? open_ : block.before->after) = block.after;
  if (block.after != nullptr) block.after->before = block.before;
}

}  // namespace calm::clock
