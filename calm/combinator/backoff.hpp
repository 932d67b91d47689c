// backoff.hpp — how long to wait before the next attempt.
// Laws:    COM-1, I7 (what is random is passed in)
// Threads: values
// Cancel:  not applicable
#pragma once

#include <cstdint>

#include "calm/model/time.hpp"

namespace calm {

/// A delay for every attempt after the first: the same, growing by a step, or growing by a factor; with a ceiling, and with a
/// part of it left to chance so that many who failed together do not come back together.
class Backoff {
 public:
  /// Every delay is this one; none by default.
  static constexpr Backoff fixed(Duration delay = {}) noexcept { return Backoff(delay, {}, 1); }
  /// first, first + step, first + 2 step, …
  static constexpr Backoff linear(Duration first, Duration step) noexcept { return Backoff(first, step, 1); }
  /// first, first * factor, first * factor², …
  static constexpr Backoff exponential(Duration first, std::uint32_t factor = 2) noexcept {
    return Backoff(first, {}, factor);
  }

  /// Gives: the same with delays of at most this.
  [[nodiscard]] constexpr Backoff capped(Duration most) const noexcept {
    Backoff other = *this;
    other.most_ = most;
    return other;
  }
  /// Gives: the same with up to so many percent of each delay taken off by chance. Needs: at most 100.
  [[nodiscard]] constexpr Backoff jittered(std::uint32_t percent) const noexcept {
    CALM_REQUIRE(COM_1, percent <= 100, percent);
    Backoff other = *this;
    other.jitter_percent_ = percent;
    return other;
  }

  [[nodiscard]] constexpr bool has_jitter() const noexcept { return jitter_percent_ != 0; }

  /// Gives: the delay after this many failed attempts, 1 at least. `chance` is a random number; without jitter it is not used.
  [[nodiscard]] constexpr Duration after(std::uint32_t failures, std::uint64_t chance = 0) const noexcept {
    Duration delay = first_;
    if (factor_ == 1) {
      delay = delay + step_ * (static_cast<std::int64_t>(failures) - 1);
    } else {
      for (std::uint32_t grown = 1; grown < failures && delay < most_; ++grown) delay = delay * factor_;
    }
    if (delay > most_) delay = most_;
    if (delay < Duration()) delay = Duration();
    const auto span = static_cast<detail::Wide>(delay.ns()) * jitter_percent_ / 100;  // at most the delay itself
    const auto off = (static_cast<detail::Wide>(chance) * (span + 1)) >> 64;
    return delay - Duration::nanoseconds(static_cast<std::int64_t>(off));
  }

 private:
  constexpr Backoff(Duration first, Duration step, std::uint32_t factor) noexcept
      : first_(first), step_(step), factor_(factor) {}

  Duration first_;
  Duration step_;
  Duration most_ = Duration::max();
  std::uint32_t factor_;
  std::uint32_t jitter_percent_ = 0;
};

static_assert(Backoff::exponential(Duration::seconds(1)).capped(Duration::seconds(5)).after(4) == Duration::seconds(5));
static_assert(Backoff::fixed(Duration::seconds(1)).jittered(50).after(1, UINT64_MAX) >= Duration::milliseconds(500));

}  // namespace calm
