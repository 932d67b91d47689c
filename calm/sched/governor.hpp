// governor.hpp — who looks at the state of a worker in numbers and suggests an order, with the reasons for it.
// Laws:    SCH-3 (reorders runnable work, never changes meaning; an immutable snapshot, no clock, no entropy), PRF-1
// Threads: governors are constants, decide() is a pure function
// Cancel:  not applicable
//
// The Lyapunov governor. A potential is a number that says how far a worker is from quiet; it has four terms:
//
//   tasks         1 for each that is alive
//   obligations   4 for each open one, and 1 more for every millisecond of their ages
//   finalizers    8 for each that must still run
//   deadlines     for each runnable task with a deadline, by the slack of the most urgent: 64 when it is over, 32 within
//                 1 ms, 16 within 10 ms, 4 within 100 ms, else 1
//
// What a suggestion would do is worked out by walking `horizon` dispatches through the numbers under its limits: a timed
// dispatch takes one task out of the deadlines; a cancel dispatch takes one task and its share of the obligations and
// finalizers. A candidate's figure is the sum of the potentials on the way, so what is done earlier counts more. The least
// figure is suggested if it is better than that of `none` by a 64th at least, else none: near a tie nothing changes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "calm/sched/suggestion.hpp"

namespace calm::sched {

/// What a governor sees. Plain numbers, taken by the host at one moment.
struct Outlook {
  std::uint64_t live_tasks = 0;
  std::uint64_t obligations = 0;        ///< open
  std::uint64_t obligation_age_ms = 0;  ///< the sum of their ages
  std::uint64_t finalizers = 0;         ///< that have not run yet
  std::uint64_t closing_regions = 0;    ///< that have begun to close and are not closed
  std::uint64_t runnable_cancel = 0;    ///< in the lanes of this worker
  std::uint64_t runnable_timed = 0;
  std::uint64_t runnable_ready = 0;     ///< with those of the quick queue
  std::uint64_t slack_ns = UINT64_MAX;  ///< until the earliest deadline among the runnable; 0: it is over

  friend constexpr bool operator==(const Outlook&, const Outlook&) noexcept = default;
};

/// The potential by its terms. Sums stop at the largest number.
struct Potential {
  std::uint64_t tasks = 0;
  std::uint64_t obligations = 0;
  std::uint64_t finalizers = 0;
  std::uint64_t deadlines = 0;

  [[nodiscard]] std::uint64_t total() const noexcept;
  friend constexpr bool operator==(const Potential&, const Potential&) noexcept = default;
};

[[nodiscard]] Potential potential_of(const Outlook& outlook) noexcept;

/// What decided.
enum class Constraint : std::uint8_t {
  by_name,         ///< the governor suggests one thing only
  not_applicable,  ///< what it suggests would change nothing now
  one_lane,        ///< only one lane has work: there is nothing to reorder
  too_little,      ///< the best candidate is not better than none by a 64th
  potential,       ///< the least sum of potentials
};
inline constexpr std::uint8_t constraint_count = 5;

/// Gives: `by name`, `not applicable`, `one lane`, `too little to gain`, `least potential`.
[[nodiscard]] std::string_view to_string(Constraint constraint) noexcept;

/// A suggestion and how it came about.
struct Decision {
  Suggestion suggestion = Suggestion::none;
  Constraint constraint = Constraint::by_name;
  bool compared = false;  ///< candidates were
  Potential potential{};  ///< at the moment of the outlook
  std::array<std::uint64_t, suggestion_count>
      candidates{};  ///< their figures, in order of the suggestions, if compared

  friend constexpr bool operator==(const Decision&, const Decision&) noexcept = default;
};

/// Gives: for example `drain-regions (least potential): tasks 40, obligations 12, finalizers 8, deadlines 0; none 1500,
///        meet-deadlines 1500, drain-obligations 1300, drain-regions 1300`.
[[nodiscard]] std::string to_string(const Decision& decision);

class Governor {
 public:
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// Gives: the same decision for the same outlook, always.
  [[nodiscard]] virtual Decision decide(const Outlook& outlook) const noexcept = 0;

 protected:
  ~Governor() = default;
};

/// So often a host asks: once per so many dispatches, while the lanes hold anything.
inline constexpr std::uint32_t governor_period = cancel_limit;
/// So far a candidate is followed.
inline constexpr std::uint32_t horizon = 2 * draining_limit;

/// Gives: all of them: none, meet-deadlines, drain-obligations, drain-regions, lyapunov.
[[nodiscard]] std::span<const Governor* const> governors() noexcept;
/// Gives: the one with this name, or nullptr.
[[nodiscard]] const Governor* find_governor(std::string_view name) noexcept;

}  // namespace calm::sched
