// bands.hpp — a queue with 256 priorities, first come, first served in each: needs no memory and never searches.
// Laws:    SCH-1 (priority, FIFO), HND-3 (a push is never refused)
// Threads: the owner's
// Cancel:  not applicable
//
// The queue is the entries' own links. From push() to take() an entry's link is the queue's: nobody else may link the entry
// anywhere, or free it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "calm/check/require.hpp"

namespace calm::sched {

/// Entry: has a member `Entry* queue_link`.
template <class Entry>
class Bands {
 public:
  Bands() noexcept = default;
  Bands(const Bands&) = delete;
  Bands& operator=(const Bands&) = delete;

  /// Needs: the entry is in no queue.
  void push(Entry& entry, std::uint8_t priority) noexcept {
    entry.queue_link = nullptr;
    Band& band = bands_[priority];
    (band.first == nullptr ? band.first : band.last->queue_link) = &entry;
    band.last = &entry;
    map_[priority / bits] |= std::uint64_t{1} << priority % bits;
    ++size_;
  }

  /// Gives: the entry of the highest priority that waits longest, or that came as number `nth` of equals(). Needs: not empty.
  [[nodiscard]] Entry& take(std::size_t nth = 0) noexcept {
    CALM_REQUIRE(SCH_1, size_ != 0);
    const std::size_t priority = highest();
    Band& band = bands_[priority];
    if (nth != 0) return take_behind(band, nth);
    Entry& entry = *band.first;
    band.first = entry.queue_link;
    if (band.first == nullptr) map_[priority / bits] &= ~(std::uint64_t{1} << priority % bits);
    --size_;
    return entry;
  }

  /// Gives: how many have the highest priority. Needs: not empty.
  [[nodiscard]] std::size_t equals() const noexcept {
    std::size_t count = 0;
    for (const Entry* entry = bands_[highest()].first; entry != nullptr; entry = entry->queue_link) ++count;
    return count;
  }

  /// Gives: how many entries it has put there: those that take() would give next, in this order, as many as there is room.
  [[nodiscard]] std::size_t peek(std::span<Entry*> next) const noexcept {
    std::size_t count = 0;
    for (std::size_t priority = bands_.size(); priority-- != 0 && count != next.size();) {
      if ((map_[priority / bits] >> priority % bits & 1U) == 0) continue;
      for (Entry* entry = bands_[priority].first; entry != nullptr && count != next.size(); entry = entry->queue_link) {
        next[count++] = entry;
      }
    }
    return count;
  }

  /// Gives: the priority of what take() would give. Needs: not empty.
  [[nodiscard]] std::uint8_t highest_priority() const noexcept { return static_cast<std::uint8_t>(highest()); }

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  static constexpr std::size_t bits = 64;
  struct Band {
    Entry* first = nullptr;
    Entry* last = nullptr;  // means something while there is a first
  };

  [[nodiscard]] std::size_t highest() const noexcept {
    std::size_t word = map_.size() - 1;
    while (map_[word] == 0) --word;
    return word * bits + static_cast<std::size_t>(std::bit_width(map_[word])) - 1;
  }

  /// Needs: more than `nth` entries; that is not 0, so one stays.
  [[gnu::cold, gnu::noinline]] Entry& take_behind(Band& band, std::size_t nth) noexcept {
    Entry* before = band.first;
    while (--nth != 0) before = before->queue_link;
    Entry& entry = *before->queue_link;
    before->queue_link = entry.queue_link;
    if (band.last == &entry) band.last = before;
    --size_;
    return entry;
  }

  std::array<std::uint64_t, 4> map_{};  // bit p: band p is not empty
  std::array<Band, 256> bands_{};
  std::size_t size_ = 0;
};

}  // namespace calm::sched
