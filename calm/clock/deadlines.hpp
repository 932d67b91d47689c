// deadlines.hpp — which tasks have a deadline to keep, for a host's watch(): a heap of times and ids; or which regions.
// Laws:    BUD-5, CAN-8; HND-3 (what cannot be kept is looked for instead), TMR-8 (what is over does not accumulate)
// Threads: one thread at a time
// Cancel:  an entry for a task that has ended is found by its id and dropped
//
// A task that ends leaves its entry behind: taking it out of the heap would cost every task that has a deadline, and most
// end long before it. A host that runs for long calls sweep() between polls: when the heap has doubled since the last
// time, entries of ended tasks go. So there are at most twice as many as there were live ones then, and an entry costs a
// constant time in the long run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <vector>

#include "calm/model/id.hpp"
#include "calm/model/time.hpp"

namespace calm::clock {

template <class Id>
class DeadlinesOf {
 public:
  struct Entry {
    Time at;
    std::uint64_t sequence;
    Id whose;
  };

  /// Gives: false without memory; the host must then look at its tasks by itself.
  bool add(Id whose, Time at) noexcept {
    try {
      heap_.push_back({at, sequence_++, whose});
    } catch (const std::bad_alloc&) {
      return false;
    }
    // What is later than all others stands in its place: a walk through a region adds thousands with one time.
    if (heap_.size() == 1 || at >= latest_) {
      latest_ = at;
    } else {
      std::push_heap(heap_.begin(), heap_.end(), Later());
    }
    return true;
  }

  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }
  /// Gives: when the first of them is due; Time::max() when there is none.
  [[nodiscard]] Time next() const noexcept { return heap_.empty() ? Time::max() : heap_.front().at; }
  /// Needs: not empty.
  [[nodiscard]] Id next_id() const noexcept { return heap_.front().whose; }

  /// Gives: the next entry that is due by now.
  [[nodiscard]] std::optional<Id> take_due(Time now) noexcept {
    if (heap_.empty() || heap_.front().at > now) return std::nullopt;
    std::pop_heap(heap_.begin(), heap_.end(), Later());
    const Id whose = heap_.back().whose;
    heap_.pop_back();
    return whose;
  }

  /// Drops the entries of those of which `is_live(Id)` says false, once there are twice as many as after the last time.
  template <class IsLive>
  void sweep(const IsLive& is_live) noexcept {
    if (heap_.size() < sweep_at_) [[likely]]
      return;
    const auto is_over = [&is_live](const Entry& entry) { return !is_live(entry.whose); };
    if (std::erase_if(heap_, is_over) != 0) std::make_heap(heap_.begin(), heap_.end(), Later());
    sweep_at_ = std::max(sweep_min, 2 * heap_.size());
  }
  static constexpr std::size_t sweep_min = 64;  ///< below so many nothing is swept

 private:
  struct Later {
    bool operator()(const Entry& a, const Entry& b) const noexcept {
      return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
    }
  };

  std::vector<Entry> heap_;
  std::uint64_t sequence_ = 0;
  Time latest_;  // none in the heap is later
  std::size_t sweep_at_ = sweep_min;
};

using Deadlines = DeadlinesOf<TaskId>;

}  // namespace calm::clock
