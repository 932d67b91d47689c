// ranked.hpp — a queue by rank, first come, first served among equals, that also knows who waits longest.
// Laws:    SCH-1 (EDF and priorities), SCH-4 (the oldest entry), HND-3 (a push is never refused)
// Threads: the owner's
// Cancel:  not applicable
//
// A push links the entry into a list and does nothing else, so it needs no memory: it may stand in a wake or a cancel, with
// locks held. Who takes moves what is linked into places first, if there is memory for them; if not, the list is searched
// as it is. Nothing is lost and nothing changes its order, it only takes longer.
//
//   places   numbers first_ … next_ - 1, in the order of arrival; place = number % capacity. Empty: its entry was taken.
//            The one at first_ is not empty, unless all are.
//   heap_    rank and number of every entry in a place, the smallest on top. Also of some whose entries were taken as the
//            oldest, or as one of equals: they go when they come to the top, or when the places are packed.
//   linked   entries that arrived after all those in places.
//
// From push() to take an entry's link is the queue's: nobody else may link the entry anywhere, or free it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "calm/check/probe.hpp"
#include "calm/check/require.hpp"

namespace calm::sched {

/// Entry: has a member `Entry* queue_link`. Rank: `Rank::of(const Entry&)` is a number, asked once between push and take
/// or, without memory, again and again; the smaller one is taken first.
template <class Entry, class Rank>
class Ranked {
 public:
  Ranked() noexcept = default;
  Ranked(const Ranked&) = delete;
  Ranked& operator=(const Ranked&) = delete;

  /// Needs: the entry is in no queue.
  void push(Entry& entry) noexcept {
    entry.queue_link = nullptr;
    (first_linked_ == nullptr ? first_linked_ : last_linked_->queue_link) = &entry;
    last_linked_ = &entry;
    ++linked_;
  }

  struct Taken {
    Entry& entry;
    bool oldest;  ///< nobody waited longer
  };
  /// Gives: the entry of the smallest rank that waits longest, or that came as number `nth` of equals(). Needs: not empty.
  [[nodiscard]] Taken take_best(std::size_t nth = 0) noexcept {
    CALM_REQUIRE(SCH_1, !empty());
    settle();
    if (nth != 0) [[unlikely]]
      return take_equal(nth);
    const Linked linked = best_linked();
    if (placed_ != 0) {
      drop_taken();
      if (linked.entry == nullptr || heap_.front().rank <= linked.rank) return take_top();
    }
    const bool oldest = placed_ == 0 && linked.before == nullptr;
    return {unlink(linked), oldest};
  }

  /// Gives: the entry that waits longest. Needs: not empty.
  [[nodiscard]] Entry& take_oldest() noexcept {
    CALM_REQUIRE(SCH_4, !empty());
    settle();
    if (placed_ == 0) return unlink({.entry = first_linked_});
    Entry& entry = *place(first_);
    vacate(first_);
    return entry;
  }

  /// Gives: how many have the smallest rank. Needs: not empty.
  [[nodiscard]] std::size_t equals() noexcept {
    const std::uint64_t best = best_rank();
    std::size_t count = 0;
    for (const InHeap& one : heap_) count += one.rank == best && !is_taken(one) ? 1U : 0U;
    for (const Entry* entry = first_linked_; entry != nullptr; entry = entry->queue_link) {
      count += Rank::of(*entry) == best ? 1U : 0U;
    }
    return count;
  }

  /// Gives: the smallest rank. Needs: not empty.
  [[nodiscard]] std::uint64_t best_rank() noexcept {
    CALM_REQUIRE(SCH_1, !empty());
    settle();
    const Linked linked = best_linked();
    if (placed_ == 0) return linked.rank;
    drop_taken();
    return linked.entry == nullptr ? heap_.front().rank : std::min(linked.rank, heap_.front().rank);
  }

  /// Makes places for so many entries. Gives: false without memory; then nothing has changed.
  [[nodiscard]] bool reserve(std::size_t entries) noexcept {
    return entries <= places_.size() || grow_to(std::max(entries, 2 * places_.size()));
  }

  [[nodiscard]] bool empty() const noexcept { return placed_ + linked_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return placed_ + linked_; }
  /// Gives: how many wait without a place.
  [[nodiscard]] std::size_t linked() const noexcept { return linked_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return places_.size(); }

 private:
  static constexpr std::size_t least_capacity = 32;

  struct InHeap {
    std::uint64_t rank;
    std::uint64_t number;
  };
  struct Linked {
    Entry* entry = nullptr;
    Entry* before = nullptr;  // the one whose link leads to it; none: it is the first
    std::uint64_t rank = 0;
  };

  static bool later(const InHeap& a, const InHeap& b) noexcept {
    return a.rank != b.rank ? a.rank > b.rank : a.number > b.number;
  }
  [[nodiscard]] Entry*& place(std::uint64_t number) noexcept { return places_[number % places_.size()]; }
  [[nodiscard]] bool is_taken(const InHeap& one) noexcept {
    return one.number < first_ || place(one.number) == nullptr;
  }

  /// Gives: of those with the smallest rank the one that came as number `nth`. Needs: nothing to settle; so many.
  [[nodiscard, gnu::cold, gnu::noinline]] Taken take_equal(std::size_t nth) noexcept {
    const std::uint64_t best = best_rank();
    // In order it is still a heap.
    std::sort(heap_.begin(), heap_.end(), [](const InHeap& a, const InHeap& b) { return later(b, a); });
    for (const InHeap& one : heap_) {
      if (one.rank != best) break;
      if (is_taken(one) || nth-- != 0) continue;
      const std::uint64_t number = one.number;
      Entry& entry = *place(number);
      const bool oldest = number == first_;
      vacate(number);  // the heap forgets it as one that was taken as the oldest
      return {entry, oldest};
    }
    Linked linked{.entry = first_linked_};
    while (Rank::of(*linked.entry) != best || nth-- != 0) linked = {linked.entry->queue_link, linked.entry};
    return {unlink(linked), placed_ == 0 && linked.before == nullptr};
  }

  /// Gives linked entries places, as far as there are any.
  void settle() noexcept {
    while (first_linked_ != nullptr && has_room()) {
      Entry& entry = unlink({.entry = first_linked_});
      place(next_) = &entry;
      heap_.push_back({Rank::of(entry), next_++});  // within its capacity
      std::push_heap(heap_.begin(), heap_.end(), later);
      ++placed_;
    }
  }

  [[nodiscard]] bool has_room() noexcept {
    const std::size_t capacity = places_.size();
    if (next_ - first_ < capacity && heap_.size() < capacity) return true;
    if (capacity != 0 && placed_ <= capacity / 2) {
      pack();
      return true;
    }
    if (grow_to(std::max(least_capacity, 2 * capacity))) return true;
    CALM_PROBE("lanes: no memory, the list is searched");
    return false;
  }

  [[nodiscard]] bool grow_to(std::size_t capacity) noexcept {
    try {
      std::vector<Entry*> wider(capacity);
      heap_.reserve(capacity);
      for (std::uint64_t number = first_; number != next_; ++number) wider[number % capacity] = place(number);
      places_.swap(wider);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  /// Closes the gaps between places, and the heap forgets those who were taken.
  void pack() noexcept {
    std::erase_if(heap_, [this](const InHeap& one) { return is_taken(one); });
    std::sort(heap_.begin(), heap_.end(), [](const InHeap& a, const InHeap& b) { return a.number < b.number; });
    std::uint64_t to = first_;
    for (InHeap& one : heap_) {  // its new place is its own or one before it, which is empty by now
      Entry* const entry = place(one.number);
      place(one.number) = nullptr;
      one.number = to++;
      place(one.number) = entry;
    }
    next_ = to;
    std::make_heap(heap_.begin(), heap_.end(), later);
    CALM_SLOW(SCH_1, heap_.size() == placed_ && next_ - first_ == placed_, heap_.size(), placed_);
  }

  /// Needs: an entry in a place. The top of the heap is one, then.
  void drop_taken() noexcept {
    while (is_taken(heap_.front())) pop_heap();
  }
  void pop_heap() noexcept {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
  }
  [[nodiscard]] Taken take_top() noexcept {
    const std::uint64_t number = heap_.front().number;
    pop_heap();
    Entry& entry = *place(number);
    const bool oldest = number == first_;
    vacate(number);
    return {entry, oldest};
  }
  void vacate(std::uint64_t number) noexcept {
    place(number) = nullptr;
    if (--placed_ == 0) {
      first_ = next_;
      heap_.clear();
      return;
    }
    while (place(first_) == nullptr) ++first_;
  }

  [[nodiscard]] Linked best_linked() const noexcept {
    Linked best;
    Entry* before = nullptr;
    for (Entry* entry = first_linked_; entry != nullptr; before = entry, entry = entry->queue_link) {
      const std::uint64_t rank = Rank::of(*entry);
      if (best.entry == nullptr || rank < best.rank) best = {entry, before, rank};
    }
    return best;
  }
  Entry& unlink(const Linked& linked) noexcept {
    Entry& entry = *linked.entry;
    (linked.before == nullptr ? first_linked_ : linked.before->queue_link) = entry.queue_link;
    if (last_linked_ == &entry) last_linked_ = linked.before;
    --linked_;
    return entry;
  }

  std::vector<Entry*> places_;
  std::vector<InHeap> heap_;
  std::uint64_t first_ = 0;
  std::uint64_t next_ = 0;
  std::size_t placed_ = 0;
  Entry* first_linked_ = nullptr;
  Entry* last_linked_ = nullptr;  // means something while there is a first
  std::size_t linked_ = 0;
};

}  // namespace calm::sched
