// deadlines.hpp — which tasks have a deadline to keep, for a host's watch(): a heap of times and ids.
// Laws:    BUD-5, CAN-8; HND-3 (what cannot be kept is looked for instead)
// Threads: one thread at a time
// Cancel:  an entry for a task that has ended is found by its id and dropped
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <optional>
#include <vector>

#include "calm/model/id.hpp"
#include "calm/model/time.hpp"

namespace calm::clock {

class Deadlines {
 public:
  struct Entry {
    Time at;
    std::uint64_t sequence;
    TaskId task;
  };

  /// Gives: false without memory; the host must then look at its tasks by itself.
  bool add(TaskId task, Time at) noexcept {
    try {
      heap_.push_back({at, sequence_++, task});
    } catch (const std::bad_alloc&) {
      return false;
    }
    std::push_heap(heap_.begin(), heap_.end(), later);
    return true;
  }

  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  /// Needs: not empty.
  [[nodiscard]] Time next() const noexcept { return heap_.front().at; }
  [[nodiscard]] TaskId next_task() const noexcept { return heap_.front().task; }

  /// Gives: the next entry that is due by now.
  [[nodiscard]] std::optional<TaskId> take_due(Time now) noexcept {
    if (heap_.empty() || heap_.front().at > now) return std::nullopt;
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const TaskId task = heap_.back().task;
    heap_.pop_back();
    return task;
  }

 private:
  static bool later(const Entry& a, const Entry& b) noexcept {
    return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
  }

  std::vector<Entry> heap_;
  std::uint64_t sequence_ = 0;
};

}  // namespace calm::clock
