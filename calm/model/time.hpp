// time.hpp — instants, lengths of time and deadlines, as plain saturating numbers that no clock is needed for.
// Laws:    BUD-1
// Threads: values
// Cancel:  not applicable
//
// The kernel is told the time and never reads it. Standard durations (`5s`, `20ms`) convert to Duration without this
// header knowing <chrono>: anything with rep, period and count() does.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <string>

#include "calm/check/require.hpp"

namespace calm {

namespace detail {
__extension__ typedef __int128 Wide;  // room for any product of two 64-bit numbers
}  // namespace detail

/// A type shaped like std::chrono::duration.
template <class D>
concept DurationLike = requires(D d) {
  typename D::rep;
  { D::period::num } -> std::convertible_to<std::intmax_t>;
  { D::period::den } -> std::convertible_to<std::intmax_t>;
  { d.count() } -> std::convertible_to<typename D::rep>;
};

/// A signed length of time in nanoseconds. Arithmetic saturates: about ±292 years is "for ever".
class Duration {
 public:
  constexpr Duration() noexcept = default;

  /// From a standard duration, rounded toward zero and saturated. Needs: not a floating-point NaN.
  template <DurationLike D>
  constexpr Duration(D d) noexcept  // NOLINT(google-explicit-constructor): `sleep(cx, 5ms)`
      : ns_(from_ticks(d.count(), D::period::num, D::period::den)) {}

  static constexpr Duration nanoseconds(std::int64_t n) noexcept { return Duration(n); }
  static constexpr Duration microseconds(std::int64_t n) noexcept { return Duration(scale(n, 1'000)); }
  static constexpr Duration milliseconds(std::int64_t n) noexcept { return Duration(scale(n, 1'000'000)); }
  static constexpr Duration seconds(std::int64_t n) noexcept { return Duration(scale(n, 1'000'000'000)); }
  static constexpr Duration max() noexcept { return Duration(INT64_MAX); }
  static constexpr Duration min() noexcept { return Duration(INT64_MIN); }

  [[nodiscard]] constexpr std::int64_t ns() const noexcept { return ns_; }

  /// Gives: this length as a standard duration, rounded toward zero.
  template <DurationLike D>
  [[nodiscard]] constexpr D to() const noexcept {
    using Rep = typename D::rep;
    if constexpr (std::floating_point<Rep>) {
      return D(static_cast<Rep>(static_cast<long double>(ns_) * D::period::den / D::period::num / 1e9L));
    } else {
      return D(static_cast<Rep>(static_cast<detail::Wide>(ns_) * D::period::den / D::period::num / 1'000'000'000));
    }
  }

  friend constexpr Duration operator+(Duration a, Duration b) noexcept {
    return Duration(saturate(static_cast<detail::Wide>(a.ns_) + b.ns_));
  }
  friend constexpr Duration operator-(Duration a, Duration b) noexcept {
    return Duration(saturate(static_cast<detail::Wide>(a.ns_) - b.ns_));
  }
  friend constexpr Duration operator*(Duration a, std::int64_t n) noexcept { return Duration(scale(a.ns_, n)); }
  friend constexpr bool operator==(Duration, Duration) noexcept = default;
  friend constexpr auto operator<=>(Duration, Duration) noexcept = default;

 private:
  constexpr explicit Duration(std::int64_t ns) noexcept : ns_(ns) {}

  static constexpr std::int64_t saturate(detail::Wide wide) noexcept {
    if (wide > INT64_MAX) return INT64_MAX;
    if (wide < INT64_MIN) return INT64_MIN;
    return static_cast<std::int64_t>(wide);
  }
  static constexpr std::int64_t scale(std::int64_t n, std::int64_t by) noexcept {
    return saturate(static_cast<detail::Wide>(n) * by);
  }

  template <class Rep>
  static constexpr std::int64_t from_ticks(Rep ticks, std::intmax_t num, std::intmax_t den) noexcept {
    if constexpr (std::floating_point<Rep>) {
      CALM_REQUIRE(BUD_1, ticks == ticks);
      const long double ns =
          static_cast<long double>(ticks) * 1e9L * static_cast<long double>(num) / static_cast<long double>(den);
      if (ns >= 0x1p63L) return INT64_MAX;
      if (ns <= -0x1p63L) return INT64_MIN;
      return static_cast<std::int64_t>(ns);
    } else {
      // Whole seconds and the rest apart: each product stays within 128 bits, whatever the ratio.
      const detail::Wide scaled = static_cast<detail::Wide>(ticks) * num;
      const detail::Wide seconds = scaled / den;
      constexpr detail::Wide second_max = INT64_MAX / 1'000'000'000 + 1;
      if (seconds > second_max) return INT64_MAX;
      if (seconds < -second_max) return INT64_MIN;
      return saturate(seconds * 1'000'000'000 + scaled % den * 1'000'000'000 / den);
    }
  }

  std::int64_t ns_ = 0;
};

/// An instant: nanoseconds since the runtime's own zero. Time 0 is an instant like any other (BUD-1).
class Time {
 public:
  constexpr Time() noexcept = default;

  /// Needs: ns is at most Time::max().
  static constexpr Time at_ns(std::uint64_t ns) noexcept {
    CALM_REQUIRE(BUD_1, ns <= limit, ns);
    return Time(ns);
  }
  static constexpr Time max() noexcept { return Time(limit); }

  [[nodiscard]] constexpr std::uint64_t ns() const noexcept { return ns_; }

  friend constexpr Time operator+(Time t, Duration d) noexcept {
    return saturate(static_cast<detail::Wide>(t.ns_) + d.ns());
  }
  friend constexpr Time operator-(Time t, Duration d) noexcept {
    return saturate(static_cast<detail::Wide>(t.ns_) - d.ns());
  }
  friend constexpr Duration operator-(Time a, Time b) noexcept {
    const detail::Wide wide = static_cast<detail::Wide>(a.ns_) - static_cast<detail::Wide>(b.ns_);
    if (wide > INT64_MAX) return Duration::max();
    if (wide < INT64_MIN) return Duration::min();
    return Duration::nanoseconds(static_cast<std::int64_t>(wide));
  }
  friend constexpr bool operator==(Time, Time) noexcept = default;
  friend constexpr auto operator<=>(Time, Time) noexcept = default;

 private:
  friend class Deadline;
  static constexpr std::uint64_t limit = UINT64_MAX - 1;  // the last value says "no deadline"
  constexpr explicit Time(std::uint64_t ns) noexcept : ns_(ns) {}

  static constexpr Time saturate(detail::Wide wide) noexcept {
    if (wide < 0) return Time();
    return wide > static_cast<detail::Wide>(limit) ? max() : Time(static_cast<std::uint64_t>(wide));
  }

  std::uint64_t ns_ = 0;
};

/// An instant by which something must have ended, or none. None is later than every instant.
class Deadline {
 public:
  /// No deadline.
  constexpr Deadline() noexcept = default;
  constexpr Deadline(Time at) noexcept : ns_(at.ns()) {}  // NOLINT(google-explicit-constructor): a Time is a deadline

  static constexpr Deadline none() noexcept { return Deadline(); }

  [[nodiscard]] constexpr bool is_none() const noexcept { return ns_ == UINT64_MAX; }

  /// Needs: not none.
  [[nodiscard]] constexpr Time time() const noexcept {
    CALM_REQUIRE(BUD_1, !is_none());
    return Time(ns_);
  }

  /// Gives: the number that stands for it, 2^64 - 1 for none; the smaller number is the earlier deadline.
  [[nodiscard]] constexpr std::uint64_t raw() const noexcept { return ns_; }
  static constexpr Deadline from_raw(std::uint64_t raw) noexcept {
    Deadline deadline;
    deadline.ns_ = raw;
    return deadline;
  }

  /// Gives: true from the instant itself on (`now >= deadline`, BUD-5).
  [[nodiscard]] constexpr bool reached(Time now) const noexcept { return now.ns() >= ns_; }

  /// Gives: how much is left, never negative; Duration::max() when there is no deadline.
  [[nodiscard]] constexpr Duration left(Time now) const noexcept {
    if (is_none()) return Duration::max();
    return reached(now) ? Duration() : time() - now;
  }

  friend constexpr bool operator==(Deadline, Deadline) noexcept = default;
  friend constexpr auto operator<=>(Deadline, Deadline) noexcept = default;

 private:
  std::uint64_t ns_ = UINT64_MAX;
};

/// Gives: the length in the largest unit that shows it exactly, `1500us`, `2s`, `0s`.
std::string to_string(Duration duration);

/// Gives: seconds since zero with nanoseconds when there are any, `1.25s`; a deadline may be `none`.
std::string to_string(Time time);
std::string to_string(Deadline deadline);

}  // namespace calm
