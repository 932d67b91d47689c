// tropical.hpp — the planning side of budgets: lengths of time where "one after the other" adds and "at most" meets.
// Laws:    BUD-7
// Threads: values
// Cancel:  not applicable
//
// (min, +) over the non-negative durations and infinity: meet is the semiring's sum with identity infinite, then is its
// product with identity zero and absorbing infinite; then distributes over meet.
#pragma once

#include <compare>

#include "calm/check/require.hpp"
#include "calm/model/time.hpp"

namespace calm {

/// A non-negative length of time, or infinite (unbounded).
class TimeSpan {
 public:
  /// Zero: the length of doing nothing.
  constexpr TimeSpan() noexcept = default;

  /// Needs: not negative. Duration::max() is infinite, as everywhere.
  constexpr explicit TimeSpan(Duration length) noexcept : length_(length) {
    CALM_REQUIRE(BUD_7, length >= Duration(), length.ns());
  }

  static constexpr TimeSpan infinite() noexcept { return TimeSpan(Duration::max()); }

  [[nodiscard]] constexpr Duration length() const noexcept { return length_; }
  [[nodiscard]] constexpr bool is_infinite() const noexcept { return length_ == Duration::max(); }

  friend constexpr bool operator==(TimeSpan, TimeSpan) noexcept = default;
  friend constexpr auto operator<=>(TimeSpan, TimeSpan) noexcept = default;

 private:
  Duration length_;
};

/// Gives: the length of a, then b. Saturates at infinite.
constexpr TimeSpan then(TimeSpan a, TimeSpan b) noexcept { return TimeSpan(a.length() + b.length()); }

/// Gives: the length allowed by both constraints, the shorter one.
constexpr TimeSpan meet(TimeSpan a, TimeSpan b) noexcept { return a < b ? a : b; }

/// Gives: how long a and b take side by side, the longer one; the critical path of a join.
constexpr TimeSpan beside(TimeSpan a, TimeSpan b) noexcept { return a < b ? b : a; }

/// Gives: the deadline that is `span` after `start`; none when it is infinite.
constexpr Deadline deadline_after(Time start, TimeSpan span) noexcept {
  return span.is_infinite() ? Deadline::none() : Deadline(start + span.length());
}

}  // namespace calm
