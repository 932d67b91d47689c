// The room of a channel against lists that a reader believes at once.
#include "calm/channel/slots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <stdexcept>
#include <vector>

#include "calm/model/split_mix.hpp"
#include "tests/unit/channel/parcel.hpp"

namespace calm::channel {
namespace {

using ParcelSlots = Slots<Parcel>;

/// The slots, and beside them what they should hold.
class SlotsBesideLists {
 public:
  explicit SlotsBesideLists(std::uint32_t capacity) : slots_(capacity), capacity_(capacity) {}
  SlotsBesideLists(const SlotsBesideLists&) = delete;
  SlotsBesideLists& operator=(const SlotsBesideLists&) = delete;
  ~SlotsBesideLists() {
    for (const auto place : promised_) slots_.abort(place);
    for (const auto& [place, number] : out_) finish(place);
  }

  void step(SplitMix& numbers) {
    switch (numbers.next() % 6) {
      case 0:
      case 1:
        reserve();
        break;
      case 2:
        commit(numbers);
        break;
      case 3:
        if (!promised_.empty()) {
          slots_.abort(promised_.back());
          promised_.pop_back();
        }
        break;
      case 4:
        take();
        break;
      default:
        settle(numbers);
    }
    verify();
  }

 private:
  void reserve() {
    if (!slots_.has_room()) return;
    const auto place = slots_.reserve();
    EXPECT_EQ(std::count(promised_.begin(), promised_.end(), place), 0);
    EXPECT_FALSE(out_.contains(place));
    promised_.push_back(place);
  }
  void commit(SplitMix& numbers) {
    if (promised_.empty()) return;
    Parcel parcel(++sent_);
    Parcel::moves_until_throw = numbers.next() % 4 == 0 ? 1 : 0;
    const bool throws = Parcel::moves_until_throw != 0;
    try {
      slots_.put(promised_.back(), std::move(parcel));
      slots_.commit(promised_.back());
      EXPECT_FALSE(throws);
      promised_.pop_back();
      queue_.push_back(sent_);
    } catch (const std::runtime_error&) {
      EXPECT_TRUE(throws);
    }
    Parcel::moves_until_throw = 0;
  }
  void take() {
    EXPECT_EQ(slots_.is_empty(), queue_.empty());
    if (queue_.empty()) return;
    const auto place = slots_.take();
    EXPECT_EQ(slots_.value(place).number(), queue_.front());
    out_.emplace(place, queue_.front());
    queue_.pop_front();
  }
  void settle(SplitMix& numbers) {
    if (out_.empty()) return;
    auto entry = out_.begin();
    std::advance(entry, static_cast<std::ptrdiff_t>(numbers.next() % out_.size()));
    EXPECT_EQ(slots_.value(entry->first).number(), entry->second);
    if (numbers.next() % 2 == 0) {
      finish(entry->first);
    } else {
      slots_.put_back(entry->first);
      queue_.push_front(entry->second);
    }
    out_.erase(entry);
  }
  void finish(ParcelSlots::Place place) {
    slots_.destroy(place);
    slots_.finish(place);
  }
  void verify() {
    const auto size = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
    const Counts expected{
        .queued = size(queue_), .reserved = size(promised_), .unacked = size(out_), .capacity = capacity_};
    EXPECT_EQ(slots_.counts(), expected);
    EXPECT_LE(expected.queued + expected.reserved + expected.unacked, capacity_);
    EXPECT_EQ(slots_.has_room(), expected.queued + expected.reserved + expected.unacked < capacity_);
    EXPECT_EQ(Parcel::alive, static_cast<int>(queue_.size() + out_.size()));
  }

  ParcelSlots slots_;
  std::uint32_t capacity_;
  std::vector<ParcelSlots::Place> promised_;
  std::deque<int> queue_;
  std::map<ParcelSlots::Place, int> out_;
  int sent_ = 0;
};

TEST(ChannelSlots, CHN_1_random_steps_keep_the_sum_within_the_capacity_and_the_order_of_lists) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    SplitMix numbers(seed);
    Parcel::alive = 0;
    {
      SlotsBesideLists both(static_cast<std::uint32_t>(1 + numbers.next() % 4));
      for (int step = 0; step < 60; ++step) both.step(numbers);
    }
    ASSERT_EQ(Parcel::alive, 0) << "seed " << seed;
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace calm::channel
