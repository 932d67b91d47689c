// check_records.hpp — tasks and regions as the events of a trace tell of them.
// Laws:    I1, TSK-1, REG-1
// Threads: one
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <vector>

#include "calm/model/id.hpp"
#include "calm/model/region_state.hpp"
#include "calm/model/task_state.hpp"

namespace calm::trace {

struct TaskLife {
  TaskId id{};
  RegionId region{};
  std::uint64_t creation = 0;
  TaskState state = TaskState::created;
  std::uint8_t severity = 0;
  bool polled = false;
  bool cancelled = false;
  bool race_lost = false;
  bool cleanup = false;  ///< a finalizer, or started by one
  bool forced = false;
  bool deferred = false;  ///< a finalizer that has not begun: it has an id and no event of its own
};

struct RegionLife {
  RegionId id{};
  RegionId parent{};
  RegionState state = RegionState::open;
  std::uint64_t tasks = 0;     ///< alive, clean-up tasks apart
  std::uint64_t cleanups = 0;  ///< alive
  std::uint64_t regions = 0;   ///< children that are not Closed
  std::uint64_t untold = 0;    ///< tasks and child regions alive without a cancel request
  std::uint64_t losers = 0;    ///< tasks alive that lost a race
  std::uint64_t children = 0;  ///< that the trace tells of
  std::uint64_t next_creation = 0;
  bool has_body = true;  ///< number 0 is the body, which has no event
  std::uint64_t last_finalizer = UINT64_MAX;
  std::uint64_t next_told = 0;  ///< by creation: tasks are told in spawn order
  std::uint8_t severity = 0;
  bool cancelled = false;
};

/// Records by the index of their id: the last one that had a slot is the one that is known.
template <class Life, class IdOf>
class Lives {
 public:
  /// Gives: the record of this very id, or nullptr.
  [[nodiscard]] Life* find(IdOf id) noexcept {
    return id.index() < lives_.size() && lives_[id.index()].id == id ? &lives_[id.index()] : nullptr;
  }
  /// Puts it where an older one was. Fails: std::bad_alloc.
  Life& put(const Life& life) {
    if (life.id.index() >= lives_.size()) lives_.resize(std::size_t{life.id.index()} + 1);
    return lives_[life.id.index()] = life;
  }

 private:
  std::vector<Life> lives_;
};

}  // namespace calm::trace
