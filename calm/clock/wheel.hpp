// wheel.hpp — pending alarms of one worker in a hierarchical wheel: arming and disarming cost the same for one and a million.
// Laws:    TMR-1 to TMR-8
// Threads: one thread at a time
// Cancel:  disarm() in O(1), wherever the alarm stands; true is final (TMR-7)
//
// Four levels of 256 slots, each slot of a level as long as a whole turn of the level below. An alarm goes where its
// distance from the wheel's present millisecond says; when time comes to a slot its alarms move down, so an alarm moves
// at most three times. The slot of the present millisecond is spread over pieces of 4 us, so that a look at what is due by now
// touches little else, however many alarms a millisecond has. Beyond 24 h stands a heap of buckets as wide as a slot of the last level: the clock never goes
// back, so the lowest bucket is found by one bit, and it goes to the wheel once all of it is within 24 h.
// Alarms are linked where they are: the wheel takes no memory, ever, and what is disarmed leaves nothing (TMR-5, TMR-8).
#pragma once

#include <array>
#include <cstdint>

#include "calm/clock/alarm.hpp"
#include "calm/clock/coalescing.hpp"
#include "calm/clock/slots.hpp"
#include "calm/model/error_code.hpp"
#include "calm/model/time.hpp"

namespace calm::clock {

inline constexpr Duration max_timer = Duration::seconds(7L * 86'400);  ///< beyond it nothing

/// What becomes of an alarm beyond max_timer (TMR-2).
enum class Beyond : std::uint8_t {
  refuse,
  clamp,  ///< it goes off after max_timer, before its time
};

/// Where alarms stand, for tests and those who inspect.
struct WheelCensus {
  std::array<std::uint64_t, 4> levels{};  ///< with those of the present millisecond in the first
  std::uint64_t overflow = 0;
  std::uint64_t due = 0;   ///< collected and not taken yet
  std::uint64_t held = 0;  ///< for the end of their window
};

class Wheel {
 public:
  static constexpr std::uint64_t tick_ns = 1'000'000;
  static constexpr std::uint8_t overflow_level = 4;

  explicit Wheel(Coalescing coalescing = {}) noexcept;
  Wheel(const Wheel&) = delete;
  Wheel& operator=(const Wheel&) = delete;

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  /// Needs: not armed; the alarm stays in place until it fires or is disarmed, and `now` is never earlier than before.
  /// Fails: duration_exceeded, when it is more than max_timer away and clamping was not asked for; nothing has changed.
  Status arm(Alarm& alarm, Time now, Beyond beyond = Beyond::refuse) noexcept {
    CALM_REQUIRE(TMR_4, !alarm.is_armed());
    if (alarm.at > now && alarm.at - now > max_timer) [[unlikely]] {
      if (beyond == Beyond::refuse) return Errc::duration_exceeded;
      alarm.at = now + max_timer;
    }
    if (now.ns() - now_ns_ >= tick_ns) turn(now);
    alarm.sequence = sequence_++;
    alarm.state.arm();
    ++size_;
    file(alarm);
    if (alarm.at.ns() < look_ns_) look_ns_ = alarm.at.ns();
    return {};
  }

  /// Gives: false when it had fired or was not armed.
  bool disarm(Alarm& alarm) noexcept;

  /// Gives: the next one that is due by now, disarmed; nullptr when there is none. By time, then by arming (TMR-3), among
  ///        all that are due. Needs: `now` is never earlier than before.
  [[nodiscard]] Alarm* take_due(Time now) noexcept {
    if (due_ == nullptr && now.ns() < look_ns_) [[likely]]
      return nullptr;
    Alarm* const alarm = unlink_due(now);
    if (alarm != nullptr) fire(*alarm);
    return alarm;
  }

  /// The same in two steps, for who has something to do with the alarm before its owner may end it: unlink_due() gives one
  /// that is still armed and in no slot any more, fire() is the last that the wheel does with it.
  [[nodiscard]] Alarm* unlink_due(Time now) noexcept;
  static void fire(Alarm& alarm) noexcept {
    const bool fired = alarm.state.fire();
    CALM_INVARIANT(TMR_7, fired);
  }

  /// Gives: when the next one is due. Needs: not empty. Looks at the alarms of five slots at most; with coalescing that
  ///        alarm may only join its group then.
  [[nodiscard]] Time next() const noexcept;

  /// Gives: until when nothing is due, without a look at any alarm: never later than next(), often earlier; take_due() at
  ///        that time goes on from there. Needs: not empty.
  [[nodiscard]] Time quiet_until() const noexcept { return Time::at_ns(due_ != nullptr ? now_ns_ : look_ns_); }

  [[nodiscard]] WheelCensus census() const noexcept;

  /// Checks that size_ counts all alarms, each stands where TMR-1 and TMR-2 say, and no time of theirs is before look_ns_.
  void verify() const noexcept;

 private:
  static constexpr std::uint64_t none = UINT64_MAX;
  static constexpr std::uint8_t due_level = 5;
  static constexpr std::uint8_t held_level = 6;
  static constexpr std::uint8_t present_level = 7;
  static constexpr std::uint64_t piece_bits = 12;  // of nanoseconds
  static_assert((tick_ns >> piece_bits) + 2 <= 256, "the pieces of a millisecond have slots of their own");
  static constexpr std::uint64_t bucket_bits = 24;  // of ticks: as a slot of the last level
  static constexpr std::uint64_t wheel_ticks = static_cast<std::uint64_t>(max_wheel.ns()) / tick_ns;

  static std::uint64_t tick_of(Time time) noexcept { return time.ns() / tick_ns; }
  static std::uint64_t piece_of(std::uint64_t at_ns) noexcept { return at_ns >> piece_bits; }
  [[nodiscard]] static std::uint64_t first_bucket_beyond(std::uint64_t tick) noexcept {
    return (tick + wheel_ticks + 1) >> bucket_bits;
  }
  [[nodiscard]] std::uint64_t window_end(std::uint64_t at_ns) const noexcept;

  void file(Alarm& alarm) noexcept;
  void make_due(Alarm& alarm) noexcept;
  void turn(Time now) noexcept;
  void hold(Alarm& alarm, std::uint64_t end_ns) noexcept;
  void settle_held() noexcept;
  [[nodiscard]] std::uint64_t earliest_look() const noexcept;
  [[nodiscard]] bool group_is_complete() const noexcept;

  /// Calls `visit(alarm)` for alarms in slots that begin by `until_tick`, until it gives false.
  template <class Visit>
  void visit_slots(std::uint64_t until_tick, const Visit& visit) const;

  // size_ counts all armed alarms: those in present_, levels_, overflow_, due_ and held_.
  // An alarm of present_, levels_ or overflow_ is later than now_ns_, those of tick_ are in present_, and none of all is earlier than look_ns_ but those of due_.
  std::uint64_t size_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t now_ns_ = 0;      // when it was turned last
  std::uint64_t tick_ = 0;        // the millisecond of that
  std::uint64_t look_ns_ = none;  // before it nothing can be due that is not in due_
  Alarm* due_ = nullptr;
  Alarm* held_ = nullptr;  // due, and waiting for held_until_
  std::uint64_t held_until_ = none;
  bool due_is_sorted_ = true;
  bool group_is_formed_ = false;  // the window of held_ has reached its minimum
  Coalescing coalescing_;
  Slots<256> present_;  // by pieces
  std::array<Slots<256>, 4> levels_;
  Slots<64> overflow_;
};

}  // namespace calm::clock
