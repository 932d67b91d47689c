// parting.hpp — whether the workers of one runtime are in each other's way, and for how long they then work apart.
// Laws:    SCH-6
// Threads: everything by any worker
// Cancel:  not applicable
//
// Tasks that talk to each other all the time, or want the same lock, are slower on two cores than on one: each takes away what
// the other has in its cache. Nobody can know this beforehand. So work is shared, and each worker counts what it took over
// from others: tasks that another one polled last, and turns of primitives that another one had last. When that costs more
// than working side by side can save, or when who came to help has nothing to do again before that was worth the call,
// nobody takes work from another one for a while, twice as long each time it happens again.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "calm/model/time.hpp"

namespace calm::runtime {

class Parting {
 public:
  /// Of one takeover: cache misses on both sides, and the wait.
  static constexpr Duration cost = Duration::microseconds(1);
  /// After so many takeovers it is time to see how long they took.
  static constexpr std::uint32_t worth_a_look = 64;
  /// To wake a thread takes as long as this.
  static constexpr Duration worth_a_call = Duration::microseconds(50);
  /// Who comes to help stays for as long at least.
  static constexpr Duration worth_a_visit = Duration::microseconds(200);
  /// How long they work apart, the first time and after many.
  static constexpr Duration shortest = Duration::milliseconds(2);
  static constexpr Duration longest = Duration::milliseconds(100);

  /// Gives: true when so many takeovers in this time are too many for one worker.
  [[nodiscard]] static bool is_too_much(std::uint64_t takeovers, Duration in) noexcept {
    return takeovers > 1 && takeovers > static_cast<std::uint64_t>(std::max<std::int64_t>(in.ns(), 0) / cost.ns());
  }

  /// They work apart from now on. Gives: false when they did already.
  bool begin(Time now) noexcept {
    // Relaxed, here and below: where two begin at once, or one learns of it a moment later, no harm is done.
    const std::uint64_t until = until_ns_.load(std::memory_order_relaxed);
    if (now.ns() < until) return false;
    const std::uint64_t before = for_ns_.load(std::memory_order_relaxed);
    const bool again = now.ns() - until < 4 * before;
    const std::uint64_t time = again ? std::min(2 * before, static_cast<std::uint64_t>(longest.ns()))
                                     : static_cast<std::uint64_t>(shortest.ns());
    for_ns_.store(time, std::memory_order_relaxed);
    until_ns_.store(now.ns() + time, std::memory_order_relaxed);
    return true;
  }

  /// Gives: true while nobody is to take work from another one.
  [[nodiscard]] bool lasts(Time now) const noexcept { return now.ns() < until_ns_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> until_ns_{0};
  std::atomic<std::uint64_t> for_ns_{0};
};

}  // namespace calm::runtime
