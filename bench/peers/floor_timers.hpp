// floor_timers.hpp — timers of the floor: a ring of lists, one for each millisecond, whose nodes live in the sleeping frames.
#pragma once

#include <array>

#include "bench/peers/floor.hpp"

namespace bench::peers::floor {

inline constexpr std::uint64_t ms_ns = 1'000'000;

struct Timer {
  Timer* before = this;
  Timer* after = this;
  std::uint64_t due_ms = 0;
  Node* sleeper = nullptr;

  void unlink() noexcept {
    before->after = after;
    after->before = before;
    before = after = this;
  }
};

class Timers {
 public:
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

  void add(Timer& timer, std::uint64_t in_ms) noexcept {
    timer.due_ms = now_ms() + in_ms;
    Timer& head = ring_[timer.due_ms % ring_.size()];
    timer.before = head.before;
    timer.after = &head;
    head.before = head.before->after = &timer;
    ++count_;
  }
  void cancel(Timer& timer) noexcept {
    timer.unlink();
    --count_;
  }
  /// Needs: timers that are due within one turn of the ring.
  void fire_or_sleep() noexcept {
    for (const std::uint64_t now = now_ms(); looked_at_ms_ <= now; ++looked_at_ms_) {
      Timer& head = ring_[looked_at_ms_ % ring_.size()];
      for (Timer* timer = head.after; timer != &head;) {
        Timer* const next = timer->after;
        if (timer->due_ms <= now) {
          cancel(*timer);
          ready.push(*timer->sleeper);
        }
        timer = next;
      }
    }
    if (!ready.empty()) return;
    const timespec pause{0, static_cast<long>(ms_ns / 4)};
    nanosleep(&pause, nullptr);
  }

 private:
  static std::uint64_t now_ms() noexcept { return read_clock(CLOCK_MONOTONIC) / ms_ns; }

  std::array<Timer, 4096> ring_;
  std::uint64_t looked_at_ms_ = now_ms();
  std::uint64_t count_ = 0;
};

inline Timers timers;

struct Sleep {
  std::uint64_t for_ms;
  Timer timer{};

  [[nodiscard]] static bool await_ready() noexcept { return false; }
  template <class Other>
  void await_suspend(std::coroutine_handle<Other> frame) noexcept {
    timer.sleeper = &frame.promise();
    timers.add(timer, for_ms + 1);  // never early
  }
  void await_resume() const noexcept {}
};

}  // namespace bench::peers::floor
