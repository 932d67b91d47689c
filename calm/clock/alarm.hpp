// alarm.hpp — an alarm in memory of the one who waits for it, and rings of alarms in the wheel's slots.
// Laws:    TMR-3 (order), TMR-4 (the alarm is its own handle), TMR-7
// Threads: one thread at a time; is_armed() by its owner at any time
// Cancel:  Wheel::disarm() takes an alarm out wherever it stands
//
// Why the alarm carries TMR-4: its owner holds the object itself, which cannot be another one's by mistake, cannot be
// copied, and stops the program when it ends while armed. Its generation is `sequence`, new with every arming and never
// used twice. Where a number must name a timer, clock::Timers gives ids.
#pragma once

#include <cstdint>

#include "calm/check/require.hpp"
#include "calm/clock/fire_or_cancel.hpp"
#include "calm/lockfree/atomics.hpp"
#include "calm/model/id.hpp"
#include "calm/model/time.hpp"

namespace calm::clock {

/// Lives with the one who waits for it; in a wheel it stays where it is.
struct Alarm {
  Time at{};                   ///< set before arming, then left alone
  TaskId task{};               ///< who is woken
  std::uint64_t sequence = 0;  ///< of its arming; the wheel's
  Alarm* after = nullptr;      ///< the wheel's: next in its slot, the last one's is the first
  Alarm* before = nullptr;     ///< the wheel's
  std::uint8_t level = 0;      ///< the wheel's: where it stands
  std::uint8_t slot = 0;       ///< the wheel's
  FireOrCancel<lockfree::RealAtomics> state;
  std::uint16_t wheel = 0;  ///< of several, which one it was armed in last; SharedWheel's

  Alarm() noexcept = default;
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  ~Alarm() { CALM_REQUIRE(TMR_4, !state.is_armed(), at.ns()); }

  [[nodiscard]] bool is_armed() const noexcept { return state.is_armed(); }
};
static_assert(sizeof(Alarm) <= 64, "a pending timer costs at most 64 bytes beyond the frame that awaits it");

/// Gives: true when `a` goes off before `b`: by time, then by arming (TMR-3).
[[nodiscard]] inline bool goes_off_before(const Alarm& a, const Alarm& b) noexcept {
  return a.at != b.at ? a.at < b.at : a.sequence < b.sequence;
}

/// Alarms linked in a ring, found by the first of them; nullptr is none.
namespace ring {

/// Behind all others.
inline void append(Alarm*& first, Alarm& alarm) noexcept {
  if (first == nullptr) {
    first = alarm.after = alarm.before = &alarm;
    return;
  }
  alarm.after = first;
  alarm.before = first->before;
  first->before->after = &alarm;
  first->before = &alarm;
}

/// Needs: it is in this ring.
inline void remove(Alarm*& first, Alarm& alarm) noexcept {
  if (alarm.after == &alarm) {
    first = nullptr;
  } else {
    alarm.before->after = alarm.after;
    alarm.after->before = alarm.before;
    if (first == &alarm) first = alarm.after;
  }
  alarm.after = alarm.before = nullptr;
}

/// Needs: not empty.
inline Alarm& take_first(Alarm*& first) noexcept {
  Alarm& alarm = *first;
  remove(first, alarm);
  return alarm;
}

/// Puts all of another ring behind this one.
inline void splice(Alarm*& first, Alarm* other) noexcept {
  if (first == nullptr) {
    first = other;
  } else if (other != nullptr) {
    Alarm* const last = first->before;
    Alarm* const other_last = other->before;
    last->after = other;
    other->before = last;
    other_last->after = first;
    first->before = other_last;
  }
}

/// Puts the ring in the order in which alarms go off; one look when it is so already.
void sort(Alarm*& first) noexcept;

}  // namespace ring
}  // namespace calm::clock
