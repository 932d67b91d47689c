// shared_wheel.hpp — the wheel of one worker among several: alarms are disarmed by whoever runs their task now.
// Laws:    TMR-1 to TMR-8 through the wheel; TMR-7 across threads
// Threads: take_due() by the worker whose wheel it is, or who does that for it; the rest anywhere. An alarm's owner arms and
//          disarms it
// Cancel:  disarm() that gave true is final, and one that gave false is too: take_due() is done with the alarm
//
// A task arms its alarm in the wheel of the worker that polls it, and may be polled by another one when it disarms it: the
// alarm remembers its wheel. Every wheel has a lock, which its own worker finds free nearly always. When the wheel must be
// looked at next stands in a word beside it, so that a worker that has nothing to do yet takes no lock. With one worker
// (LocalAtomics) there is no lock, and this is the wheel.
//
// A worker that is alone takes none either, in its own wheel. Whoever else goes there takes the lock, and is in company: who comes
// in ends that the worker is alone, and waits until it has done what it was at. Who is not in company goes to its own wheel only,
// and takes the lock.
//
// A worker parks until quiet_until(). When another thread arms an alarm that is earlier than all others, it wakes that worker,
// which looks again; a later one wakes nobody.
//
// look_ns_: Wheel::quiet_until() of the present, 0 when that has come, never_ns when empty; written under the lock.
//   [S1] arm() releases -> quiet_until() acquires: who was woken for an alarm finds its time. take_due() then takes the lock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "calm/clock/alarm.hpp"
#include "calm/clock/wheel.hpp"
#include "calm/lockfree/atomics.hpp"
#include "calm/lockfree/company.hpp"
#include "calm/lockfree/lock.hpp"
#include "calm/model/error_code.hpp"
#include "calm/model/id.hpp"
#include "calm/model/time.hpp"

namespace calm::clock {

template <lockfree::AtomicsPolicy Atomics = lockfree::RealAtomics, class Fence = lockfree::RealFence>
class SharedWheel {
 public:
  /// The worker whose wheel it is, among those who may be alone.
  using Member =
      typename lockfree::Company<std::conditional_t<Atomics::shared, Atomics, lockfree::RealAtomics>, Fence>::Member;

  struct Armed {
    Status status;
    bool is_earliest = false;  ///< earlier than all others: a worker that sleeps until one of those must be woken
    explicit operator bool() const noexcept { return status.is_ok(); }
  };

  /// `index`: which of several wheels it is; alarms remember it.
  explicit SharedWheel(std::uint16_t index = 0, Coalescing coalescing = {}) noexcept
      : wheel_(coalescing), index_(index) {}

  // `owner`: the worker whose wheel it is, where that is the caller.

  /// Needs: not armed, and as Wheel::arm(); `now` is the caller's, which may be behind that of others.
  /// Fails: as Wheel::arm().
  Armed arm(Alarm& alarm, Time now, Beyond beyond = Beyond::refuse, Member* owner = nullptr) noexcept {
    const Section section(lock_, owner);
    const std::uint64_t before = look_ns_.load(std::memory_order_relaxed);  // relaxed: written under the lock
    const Status status = wheel_.arm(alarm, latest(now), beyond);
    if (!status) return {.status = status};
    alarm.wheel = index_;
    const std::uint64_t look = publish();
    return {.status = status, .is_earliest = look < before};
  }

  /// Needs: the alarm's owner; an alarm that was armed here, as its `wheel` says.
  /// Gives: false when it had fired; the wheel is done with it in both cases.
  bool disarm(Alarm& alarm, Member* owner = nullptr) noexcept {
    const Section section(lock_, owner);
    const bool cancelled = wheel_.disarm(alarm);
    if (cancelled && wheel_.empty()) (void)publish();  // TMR-5; else a look too many is cheaper than to search the next
    return cancelled;
  }

  /// Gives: whose alarm is due by now, in the order of Wheel::take_due(). The alarm itself may be gone by then.
  [[nodiscard]] std::optional<TaskId> take_due(Time now, Member* owner = nullptr) noexcept {
    if (now < quiet_until()) [[likely]]
      return std::nullopt;
    const Section section(lock_, owner);
    Alarm* const alarm = wheel_.unlink_due(latest(now));
    (void)publish();
    if (alarm == nullptr) return std::nullopt;
    const TaskId task = alarm->task;
    Wheel::fire(*alarm);
    return task;
  }

  /// Gives: until when nothing is due, as Wheel::quiet_until(); Time::max() when there is no alarm.
  [[nodiscard]] Time quiet_until() const noexcept {
    return Time::at_ns(look_ns_.load(std::memory_order_acquire));  // [S1]
  }

  [[nodiscard]] std::uint64_t size() const noexcept {
    const Section section(lock_);
    return wheel_.size();
  }
  [[nodiscard]] std::uint16_t index() const noexcept { return index_; }

  /// As Wheel::verify().
  void verify() const noexcept {
    const Section section(lock_);
    wheel_.verify();
  }

 private:
  static constexpr std::uint64_t never_ns = Time::max().ns();

  /// Has the wheel to itself for as long as it lives; with one worker that is so anyway.
  class Section {
   public:
    explicit Section(lockfree::Lock<Atomics>& lock, Member* owner = nullptr) noexcept : lock_(lock), alone_(nullptr) {
      if constexpr (Atomics::shared) {
        if (owner != nullptr && owner->begin_turn(Member::Of::alarms)) {
          alone_ = owner;
        } else {
          lock_.lock();
        }
      }
    }
    Section(const Section&) = delete;
    Section& operator=(const Section&) = delete;
    ~Section() {
      if constexpr (Atomics::shared) {
        if (alone_ != nullptr) {
          alone_->end_turn(Member::Of::alarms);
        } else {
          lock_.unlock();
        }
      }
    }

   private:
    lockfree::Lock<Atomics>& lock_;
    Member* alone_;  // then there is no lock
  };

  /// The wheel's time never goes back, whoever reads which clock.
  Time latest(Time now) noexcept { return latest_ = std::max(latest_, now); }

  std::uint64_t publish() noexcept {
    std::uint64_t look = wheel_.empty() ? never_ns : wheel_.quiet_until().ns();
    if (look <= latest_.ns()) look = 0;               // due for everyone, whoever's clock is behind
    look_ns_.store(look, std::memory_order_release);  // [S1]
    return look;
  }

  mutable lockfree::Lock<Atomics> lock_;
  typename Atomics::template Atomic<std::uint64_t> look_ns_{never_ns};
  Time latest_{};
  Wheel wheel_;
  std::uint16_t index_;
};

}  // namespace calm::clock
