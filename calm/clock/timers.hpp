// timers.hpp — timers that a number names, for callers who have no frame to keep an alarm in.
// Laws:    TMR-1 to TMR-8 through the wheel; TMR-4, HND-1 (ids), HND-3 (memory), TMR-5 and TMR-8 (storage)
// Threads: one thread at a time
// Cancel:  cancel() needs the exact id: one of a timer that has fired or was cancelled is stale for ever
//
// Timers stand in blocks of 64. A block whose last timer has gone is given back, except one: so there are never more than
// 64 places for each live timer and 64 beside them. A block's number is used once, and a place counts its uses: no id
// comes twice, whatever was given back meanwhile.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "calm/clock/alarm.hpp"
#include "calm/clock/wheel.hpp"
#include "calm/model/error_code.hpp"
#include "calm/model/id.hpp"
#include "calm/model/time.hpp"

namespace calm::clock {

class Timers {
 public:
  struct Made {
    Status status;
    TimerId id;
    explicit operator bool() const noexcept { return status.is_ok(); }
  };
  struct Fired {
    TimerId id;
    Time at;
    TaskId task;
  };

  explicit Timers(Coalescing coalescing = {}, std::uint64_t limit = UINT64_MAX) noexcept;
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;
  ~Timers();

  /// Fails: duration_exceeded as Wheel::arm(), resource_exhausted without memory, ids or at the limit; nothing has changed.
  Made insert(Time at, Time now, TaskId task = {}, Beyond beyond = Beyond::refuse) noexcept;

  /// Fails: stale_handle, and nothing has changed.
  Status cancel(TimerId id) noexcept;

  /// Gives: the next one that is due by now, in the order of Wheel::take_due(); its id is stale from here on.
  [[nodiscard]] std::optional<Fired> take_due(Time now) noexcept;

  [[nodiscard]] const Wheel& wheel() const noexcept { return wheel_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return wheel_.size(); }
  /// Gives: for how many timers there is memory.
  [[nodiscard]] std::uint64_t places() const noexcept { return blocks_.size() * block_size; }

 private:
  static constexpr std::uint32_t block_size = 64;
  static constexpr std::uint32_t block_max = UINT32_MAX / block_size;

  struct Block;
  struct Place : Alarm {
    Generation generation;
    std::uint32_t index = 0;
  };
  struct Block {
    std::array<Place, block_size> places;
    std::uint32_t number = 0;
    std::uint64_t live = 0;   // a bit for each place in use
    std::uint64_t spent = 0;  // a bit for each that has used its last generation
    Block* before = nullptr;  // among those with a free place
    Block* after = nullptr;

    [[nodiscard]] std::uint64_t free() const noexcept { return ~(live | spent); }
  };

  [[nodiscard]] Block* block_with_room() noexcept;
  [[nodiscard]] Block* make_block() noexcept;
  void link(Block& block) noexcept;
  void unlink(Block& block) noexcept;
  void leave(Place& place) noexcept;
  [[nodiscard]] Block& block_of(const Place& place) noexcept { return *blocks_.find(place.index / block_size)->second; }

  Wheel wheel_;
  std::uint64_t limit_;
  std::uint32_t next_block_ = 0;
  Block* open_ = nullptr;   // the blocks with a free place
  Block* empty_ = nullptr;  // one of them that is empty, kept for the next timer
  std::unordered_map<std::uint32_t, std::unique_ptr<Block>> blocks_;
};

}  // namespace calm::clock
