// lanes_beside_list.hpp — lanes and a list sorted by the key of SCH-2 that live through the same random operations. After
// every dispatch the choice is compared with what the list says, and the bounds of SCH-4 are checked by counting.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "calm/model/split_mix.hpp"
#include "tests/unit/sched/lane_tasks.hpp"

namespace calm::sched {

class LanesBesideList {
 public:
  /// With `commons` a third of what is pushed is in common with other workers, which take none of it.
  explicit LanesBesideList(std::uint64_t seed, bool commons = false) : numbers_(seed), commons_(commons) {}

  /// Every five hundred operations have their own share of pushes and of kinds, so that queues grow, shrink and starve.
  void run(std::uint64_t operations) {
    for (std::uint64_t i = 0; i < operations && !testing::Test::HasFatalFailure(); ++i) {
      if (i % 500 == 0) {
        push_share_ = 20 + numbers_.below(60);
        const bool alone = numbers_.below(3) == 0;
        for (std::uint64_t& weight : kinds_) weight = alone || numbers_.below(3) == 0 ? 0 : 1 + numbers_.below(9);
        kinds_[numbers_.below(4)] += 1;
      }
      const std::uint64_t what = numbers_.below(100);
      if (what < push_share_ && waiting_.size() < 1000) {
        push();
      } else if (what == 99) {
        suggest();
      } else {
        dispatch();
      }
      ASSERT_EQ(lanes_.size() + common_.size() + quick_count(), waiting_.size());
      lanes_.verify();
    }
  }
  void drain() {
    while (!waiting_.empty() && !testing::Test::HasFatalFailure()) dispatch();
  }

  /// What the run has seen, so that a test can say that it saw enough.
  struct Seen {
    std::uint64_t dispatches = 0;
    std::uint64_t aged = 0;
    std::uint64_t fallbacks = 0;
    std::uint64_t yields = 0;  ///< a streak ended for other work
    std::uint64_t stolen = 0;
    std::uint64_t parks = 0;
    std::uint64_t common = 0;       ///< taken from what is in common
    std::uint64_t common_aged = 0;  ///< because it was passed over
  };
  [[nodiscard]] const Seen& seen() const noexcept { return seen_; }
  [[nodiscard]] const LocalLanes& lanes() const noexcept { return lanes_; }

 private:
  enum Place : std::uint8_t { own, quick_queue, in_common };
  static constexpr Place places[] = {own, quick_queue, in_common};
  /// Of equals its own go before those in common.
  static constexpr std::uint64_t after_own = std::uint64_t{1} << 63;

  struct Waiting {
    Key key{};
    LaneTask* task = nullptr;
    Place place = own;
    std::uint64_t since = 0;  // dispatches when it was pushed
    std::uint64_t bound = 0;  // that it must run within
  };
  /// When the oldest of a queue became that, and how late the one before it was.
  struct Oldest {
    const LaneTask* task = nullptr;
    std::uint64_t since = 0;
  };

  [[nodiscard]] std::size_t quick_count() const {
    return static_cast<std::size_t>(
        std::count_if(waiting_.begin(), waiting_.end(), [](const Waiting& one) { return one.place == quick_queue; }));
  }

  void push() {
    const std::uint64_t sum = kinds_[0] + kinds_[1] + kinds_[2] + kinds_[3];
    std::uint64_t what = numbers_.below(sum);
    std::size_t kind = 0;
    while (what >= kinds_[kind]) what -= kinds_[kind++];
    const auto priority = static_cast<std::uint8_t>(numbers_.below(4) * 85);
    Waiting one;
    if (kind == 3) {
      one.place = quick_queue;
    } else if (commons_ && numbers_.below(3) == 0) {
      one.place = in_common;
    }
    one.since = dispatches_;
    switch (kind) {
      case 0:
        one.task = &tasks_.cancelled(priority);
        one.key = {.lane = Lane::cancel, .rank = 255U - priority};
        break;
      case 1: {
        const std::uint64_t deadline = numbers_.below(20);
        one.task = &tasks_.timed(deadline, priority);
        one.key = {.lane = Lane::timed, .rank = deadline};
        break;
      }
      case 2:
        one.task = &tasks_.ready(static_cast<std::uint8_t>(priority + 1 - (priority == 255 ? 1 : 0)));
        one.key = {.lane = Lane::ready, .rank = 255U - one.task->priority()};
        break;
      default:
        one.task = &tasks_.ready();
        one.key = {.lane = Lane::ready, .rank = 255};
        break;
    }
    one.key.sequence = ++sequence_ + (one.place == in_common ? after_own : 0);
    const auto ready = std::count_if(waiting_.begin(), waiting_.end(),
                                     [](const Waiting& other) { return other.key.lane == Lane::ready; });
    one.bound = ready_bound(static_cast<std::uint64_t>(ready) + 1);
    const auto at = std::lower_bound(waiting_.begin(), waiting_.end(), one.key,
                                     [](const Waiting& other, const Key& key) { return other.key < key; });
    waiting_.insert(at, one);
    if (one.place == own) lanes_.push(*one.task);
    if (one.place == in_common) (void)common_.push(*one.task);
  }

  void suggest() {
    suggestion_ = suggestion_table[numbers_.below(suggestion_count)].suggestion;
    lanes_.follow(suggestion_);
  }

  [[nodiscard]] const Waiting* first_of(Lane lane) const {
    const auto at =
        std::find_if(waiting_.begin(), waiting_.end(), [lane](const Waiting& one) { return one.key.lane == lane; });
    return at == waiting_.end() ? nullptr : &*at;
  }
  [[nodiscard]] const Waiting* oldest_of(Place place) const {
    const Waiting* oldest = nullptr;
    for (const Waiting& one : waiting_) {
      if (one.key.lane != Lane::ready || one.place != place) continue;
      if (oldest == nullptr || one.key.sequence < oldest->key.sequence) oldest = &one;
    }
    return oldest;
  }

  /// Keeps account of who is the oldest of each queue of ready work.
  void look_at_oldest() {
    for (const Place place : places) {
      const Waiting* const now = oldest_of(place);
      Oldest& known = oldest_[place];
      if (now == nullptr) {
        known = {};
      } else if (known.task != now->task) {
        // It was passed over by the dispatch that served the one before it, or it has just come.
        const bool came = known.task == nullptr;
        known = {now->task, came ? dispatches_ : std::min(dispatches_ - 1, known.since + 64)};
      }
    }
  }
  [[nodiscard]] const Waiting* due() const {
    const Waiting* due = nullptr;
    std::uint64_t since = UINT64_MAX;
    for (const Place place : places) {
      const Oldest& one = oldest_[place];
      if (one.task == nullptr || dispatches_ - one.since < 64 || one.since >= since) continue;
      due = oldest_of(place);
      since = one.since;
    }
    return due;
  }

  void dispatch() {
    look_at_oldest();
    const Waiting* const quick = oldest_of(quick_queue);
    lanes_.share(common_.empty() ? nullptr : &common_);
    const Pick pick = lanes_.choose(quick != nullptr);
    ASSERT_EQ(lanes_.choose(quick != nullptr), pick) << "asked again";
    if (waiting_.empty()) {
      ASSERT_EQ(pick, Pick::none);
      lanes_.parked();
      cancel_streak_ = timed_streak_ = 0;
      ++seen_.parks;
      return;
    }
    const Waiting* const cancel = first_of(Lane::cancel);
    const Waiting* const timed = first_of(Lane::timed);
    const Waiting* const ready = first_of(Lane::ready);
    const bool others = timed != nullptr || ready != nullptr;
    const std::uint32_t limit =
        suggestion_ == Suggestion::drain_obligations || suggestion_ == Suggestion::drain_regions ? 32 : 16;

    const Waiting* expected = nullptr;
    // The lanes do not see the quick queue between dispatches: one that was empty for a moment counts from a dispatch before.
    if (pick == Pick::oldest_quick && dispatches_ - oldest_[quick_queue].since >= 63) {
      expected = quick;
      ++seen_.aged;
    } else if (const Waiting* const one = due()) {
      expected = one;
      constexpr Pick picks[] = {Pick::oldest_ready, Pick::oldest_quick, Pick::oldest_common};
      ASSERT_EQ(pick, picks[one->place]) << "after " << dispatches_;
      ++seen_.aged;
      if (one->place == in_common) ++seen_.common_aged;
    } else if (suggestion_ == Suggestion::meet_deadlines && cancel != nullptr && timed != nullptr &&
               timed_streak_ < 16) {
      expected = timed;
    } else if (cancel != nullptr && cancel_streak_ < limit) {
      expected = cancel;
    } else if (cancel != nullptr && !others) {
      ASSERT_EQ(pick, Pick::elsewhere);
      if (numbers_.below(2) == 0) {
        lanes_.ran_newer();
        dispatched(Lane::ready);
        ++seen_.stolen;
        return;
      }
      expected = cancel;
      cancel_streak_ = 0;
      ++seen_.fallbacks;
    } else {
      if (cancel != nullptr) ++seen_.yields;
      expected = timed != nullptr ? timed : ready;
    }
    take(*expected, pick);
  }

  void take(const Waiting& expected, Pick pick) {
    if (expected.place == quick_queue) {
      ASSERT_TRUE(pick == Pick::quick || pick == Pick::oldest_quick) << "after " << dispatches_;
      lanes_.ran_quick();
    } else {
      ASSERT_TRUE(pick != Pick::quick && pick != Pick::oldest_quick) << "after " << dispatches_;
      const LaneTask& got = lanes_.take(pick);
      ASSERT_EQ(got.creation, expected.task->creation)
          << "after " << dispatches_ << ", from lane " << to_string(expected.key.lane);
    }
    if (expected.place == in_common) ++seen_.common;
    const Lane lane = expected.key.lane;
    if (lane == Lane::ready) {
      ASSERT_LE(dispatches_ - expected.since, expected.bound) << "SCH-4: the published bound";
    }
    const Waiting gone = expected;
    std::erase_if(waiting_, [&gone](const Waiting& one) { return one.task == gone.task; });
    dispatched(lane);
    look_at_oldest();
  }

  void dispatched(Lane lane) {
    ++dispatches_;
    ++seen_.dispatches;
    cancel_streak_ = lane == Lane::cancel ? cancel_streak_ + 1 : 0;
    timed_streak_ = lane == Lane::timed ? timed_streak_ + 1 : 0;
  }

  SplitMix numbers_;
  std::uint64_t push_share_ = 50;
  std::uint64_t kinds_[4]{};  // how often cancel, timed, ready, quick
  LaneTasks tasks_;
  LocalLanes lanes_;
  bool commons_;
  LocalLanes::Queues common_;
  std::vector<Waiting> waiting_;  // by key
  std::uint64_t sequence_ = 0;
  std::uint64_t dispatches_ = 0;
  std::uint32_t cancel_streak_ = 0;
  std::uint32_t timed_streak_ = 0;
  Suggestion suggestion_ = Suggestion::none;
  Oldest oldest_[3];  // of the ready lane, of the quick queue, of the ready lane in common
  Seen seen_;
};

}  // namespace calm::sched
