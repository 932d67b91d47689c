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
class Span {
 public:
  /// Zero: the length of doing nothing.
  constexpr Span() noexcept = default;

  /// Needs: not negative. Duration::max() is infinite, as everywhere.
  constexpr explicit Span(Duration length) noexcept : length_(length) {
    CALM_REQUIRE(BUD_7, length >= Duration(), length.ns());
  }

  static constexpr Span infinite() noexcept { return Span(Duration::max()); }

  [[nodiscard]] constexpr Duration length() const noexcept { return length_; }
  [[nodiscard]] constexpr bool is_infinite() const noexcept { return length_ == Duration::max(); }

  friend constexpr bool operator==(Span, Span) noexcept = default;
  friend constexpr auto operator<=>(Span, Span) noexcept = default;

 private:
  Duration length_;
};

/// Gives: the length of a, then b. Saturates at infinite.
constexpr Span then(Span a, Span b) noexcept { return Span(a.length() + b.length()); }

/// Gives: the length allowed by both constraints, the shorter one.
constexpr Span meet(Span a, Span b) noexcept { return a < b ? a : b; }

/// Gives: how long a and b take side by side, the longer one; the critical path of a join.
constexpr Span beside(Span a, Span b) noexcept { return a < b ? b : a; }

/// Gives: the deadline that is `span` after `start`; none when it is infinite.
constexpr Deadline deadline_after(Time start, Span span) noexcept {
  return span.is_infinite() ? Deadline::none() : Deadline(start + span.length());
}

}  // namespace calm
