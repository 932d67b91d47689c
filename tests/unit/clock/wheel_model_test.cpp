// The wheel beside a sorted list, under random operations; the same ones in every run. CALM_TIMER_OPERATIONS asks for
// another number of them, CALM_TIMER_SEED for another seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <set>
#include <tuple>

#include "calm/clock/wheel.hpp"
#include "calm/model/split_mix.hpp"

namespace calm::clock {
namespace {

constexpr std::uint64_t hour_ns = 3600ULL * 1'000'000'000;
constexpr std::size_t alarms_max = 400;

std::uint64_t timer_number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 10);
}

/// A wheel and a sorted list that live through the same operations.
class WheelBesideList {
 public:
  WheelBesideList(std::uint64_t seed, Time start) : numbers_(seed), now_(start), alarms_(alarms_max) {
    EXPECT_EQ(wheel_.take_due(now_), nullptr);
  }
  ~WheelBesideList() {
    for (Alarm& alarm : alarms_) (void)wheel_.disarm(alarm);
  }
  WheelBesideList(const WheelBesideList&) = delete;
  WheelBesideList& operator=(const WheelBesideList&) = delete;

  void run(std::uint64_t operations) {
    for (std::uint64_t i = 0; i < operations && !testing::Test::HasFatalFailure(); ++i) {
      const std::uint64_t what = numbers_.below(100);
      if (what < 45) {
        arm();
      } else if (what < 75) {
        disarm();
      } else if (what < 90) {
        take_one();
      } else {
        advance();
      }
      compare(i);
    }
  }

  [[nodiscard]] std::uint64_t fired() const noexcept { return fired_; }
  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }

 private:
  using Entry = std::tuple<Time, std::uint64_t, Alarm*>;

  /// Gives: a length near a boundary of the wheel, or of any magnitude.
  Duration distance() {
    constexpr std::array<std::uint64_t, 10> edges = {0,
                                                     1'000'000,
                                                     255'000'000,
                                                     256'000'000,
                                                     65'536'000'000,
                                                     16'777'216'000'000,
                                                     24 * hour_ns,
                                                     25 * hour_ns,
                                                     33 * hour_ns,
                                                     7 * 24 * hour_ns};
    std::uint64_t ns = edges[numbers_.below(edges.size())];
    switch (numbers_.below(4)) {
      case 0:
        ns += numbers_.below(3'000'000);
        break;
      case 1:
        ns -= ns == 0 ? 0 : numbers_.below(1'000'000) + 1;
        break;
      case 2:
        ns = numbers_.next() % (std::uint64_t{2} << numbers_.below(49));
        break;
      default:
        break;
    }
    return Duration::nanoseconds(static_cast<std::int64_t>(ns));
  }

  void arm() {
    Alarm& alarm = alarms_[numbers_.below(alarms_.size())];
    if (alarm.is_armed()) return;
    alarm.at = numbers_.below(20) == 0 ? now_ - distance() : now_ + distance();
    const bool too_long = alarm.at > now_ && alarm.at - now_ > max_timer;
    const Status status = wheel_.arm(alarm, now_);
    ASSERT_EQ(status, too_long ? Status(Errc::duration_exceeded) : Status());
    if (too_long) {
      ++refused_;
    } else {
      list_.emplace(alarm.at, alarm.sequence, &alarm);
    }
  }

  void disarm() {
    Alarm& alarm = alarms_[numbers_.below(alarms_.size())];
    const std::size_t was = list_.erase({alarm.at, alarm.sequence, &alarm});
    ASSERT_EQ(wheel_.disarm(alarm), was == 1);
  }

  void take_one() {
    Alarm* const expected = list_.empty() || std::get<0>(*list_.begin()) > now_ ? nullptr : std::get<2>(*list_.begin());
    ASSERT_EQ(wheel_.take_due(now_), expected);
    if (expected == nullptr) return;
    ++fired_;
    list_.erase(list_.begin());
  }

  void advance() {
    switch (numbers_.below(8)) {
      case 0:
        now_ = now_ + distance();
        break;
      case 1:
        if (!list_.empty()) now_ = std::max(now_, std::get<0>(*list_.begin()) - Duration::nanoseconds(1));
        break;
      case 2:
        if (!list_.empty()) now_ = std::max(now_, std::get<0>(*list_.begin()));
        break;
      case 3:
        now_ = now_ + Duration::nanoseconds(static_cast<std::int64_t>(numbers_.below(2'000)));
        break;
      default:
        now_ = now_ + Duration::nanoseconds(static_cast<std::int64_t>(numbers_.below(5'000'000)));
        break;
    }
    if (numbers_.below(2) == 0) return;  // what is due may also be taken bit by bit
    std::uint64_t before = fired_ + 1;
    while (before != fired_ && !testing::Test::HasFatalFailure()) {
      before = fired_;
      take_one();
    }
  }

  void compare(std::uint64_t operation) {
    ASSERT_EQ(wheel_.size(), list_.size());
    if (list_.empty()) return;
    const Time next = std::get<0>(*list_.begin());
    ASSERT_EQ(wheel_.next(), next);
    if (next > now_) {
      ASSERT_LE(wheel_.quiet_until(), next);
    }
    if (operation % 64 == 0) wheel_.verify();
  }

  SplitMix numbers_;
  Time now_;
  Wheel wheel_;
  std::deque<Alarm> alarms_;
  std::set<Entry> list_;
  std::uint64_t fired_ = 0;
  std::uint64_t refused_ = 0;
};

/// A tenth of the operations each.
class WheelModel : public testing::TestWithParam<std::uint64_t> {};

TEST_P(WheelModel, TMR_3_wheel_and_sorted_list_fire_the_same_alarms_in_the_same_order) {
  const std::uint64_t operations = timer_number_from("CALM_TIMER_OPERATIONS", 300'000) / 10;
  SplitMix seeds(timer_number_from("CALM_TIMER_SEED", 1) * 10 + GetParam());
  std::uint64_t fired = 0;
  std::uint64_t refused = 0;
  for (std::uint64_t done = 0; done < operations && !HasFatalFailure();) {
    // Every other one begins so late that it comes to the last instant there is.
    const bool late = seeds.below(2) == 0;
    const Time start = late ? Time::max() - Duration::nanoseconds(static_cast<std::int64_t>(seeds.next() >> 13))
                            : Time::at_ns(seeds.next() >> 13);
    const std::uint64_t length = late ? 500 : 3'000;
    WheelBesideList both(seeds.next(), start);
    both.run(length);
    done += length;
    fired += both.fired();
    refused += both.refused();
  }
  EXPECT_GT(fired, operations / 20);
  EXPECT_GT(refused, operations / 1'000);
}

INSTANTIATE_TEST_SUITE_P(Seeds, WheelModel, testing::Range(std::uint64_t{0}, std::uint64_t{10}));

}  // namespace
}  // namespace calm::clock
