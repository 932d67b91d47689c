// race.hpp — the first of several branches that ends; the others are cancelled and drained before it is over.
// Laws:    COM-2, COM-3, I5, OUT-5
// Threads: branches are fibers of the task that waits
// Cancel:  a cancel of the task goes to all branches; the race ends when all have ended, as the first of them did
//
//   auto first = co_await calm::race(cx, load(cx, a), load(cx, b));
//
// The first end of any kind wins: a value, an error, a cancellation, an exception. The others get RaceLost, and when they
// have ended the race is over with the winner's end. A loser that panics then, or came to a panic too late, is in the notes
// of the outcome: `co_await outcome(race(...))` shows them, and unasked they go on to the end of the task.
// A race of one is that one. `race(cx, x, never(cx))` is x. `race(cx, a, race(cx, b, c))` is `race(cx, a, b, c)`: the inner one
// is decided with the outer one, not when it is drained (ADR 8).
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "calm/combinator/branches.hpp"
#include "calm/combinator/contest.hpp"
#include "calm/combinator/never.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/task.hpp"
#include "calm/model/outcome.hpp"

namespace calm {
namespace combinator {

/// What a race of such branches gives: their value where all have the same type, else which of them and its value.
template <class First, class... Rest>
struct Raced {
  using Type = std::conditional_t<(std::same_as<First, Rest> && ...), First,
                                  std::variant<detail::Held<First>, detail::Held<Rest>...>>;
};
template <class... Ts>
using RacedValue = typename Raced<Ts...>::Type;

/// Gives: the winner's end as that of the race.
template <class R, class Number, class T>
Outcome<R> won(Number /*branch*/, Outcome<T> end) {
  if constexpr (std::same_as<R, T>) {
    return end;
  } else {
    if (!end.is_ok()) return cx::failure_as<R>(cx::without_value(end));
    return Outcome<R>(ok(R(std::in_place_index<Number::value>, std::move(end).value()))).with_notes(end.notes());
  }
}

/// Gives: the winner's end, with notes of what the losers threw. Needs: all have ended.
template <class R, class Branches>
Outcome<R> race_result(Branches& branches, const Contest& contest) {
  std::optional<Outcome<R>> first;
  Notes notes;
  branches.each_end([&]<class Number, class T>(Number branch, Outcome<T> end) {
    if (branch == contest.decided_by()) {
      first.emplace(won<R>(branch, std::move(end)));
      notes.merge(first->notes());
    } else {
      note_loser(notes, "race: branch", branch, cx::without_value(end), contest.region());
    }
  });
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): one of them ended first
  return std::move(*first).with_notes(std::move(notes));
}

template <class R, class C, class Branches>
Task<R> run_race(C cx, Branches branches) {
  Contest contest(cx::context_of(cx), Wanted::first_end, branches.size());
  co_await run_branches(cx, FoldPolicy::collect, &branches, &contest);
  co_await contest.refusal();
  Outcome<R> result = race_result<R>(branches, contest);
  if constexpr (std::is_void_v<R>) {
    co_await std::move(result);
  } else {
    co_return co_await std::move(result);
  }
}

}  // namespace combinator

/// Runs the branches side by side until the first of them ends.
/// Gives: its value; where the branches give values of several types a std::variant whose index is the branch (Unit for
///        void).
/// Fails: as the winner does; with the error of a branch that could not be started.
template <class... Caps, class... Branches>
CALM_CORO_WRAPPER auto race(CxOf<Caps...> cx, Branches... branches)
    -> Task<combinator::RacedValue<combinator::BranchValue<Branches, CxOf<Caps...>>...>> {
  static_assert(combinator::are_branches<CxOf<Caps...>, Branches...>,
                "COM-1: a branch is a Task, or a callable that takes the context and gives one");
  using R = combinator::RacedValue<combinator::BranchValue<Branches, CxOf<Caps...>>...>;
  return combinator::run_race<R>(cx, combinator::Several<CxOf<Caps...>, Branches...>(std::move(branches)...));
}

/// The same for a list. Of nothing it waits until it is cancelled, as never() does.
template <class... Caps, class B>
CALM_CORO_WRAPPER auto race_all(CxOf<Caps...> cx, std::vector<B> branches)
    -> Task<combinator::BranchValue<B, CxOf<Caps...>>> {
  using R = combinator::BranchValue<B, CxOf<Caps...>>;
  if (branches.empty()) return never<R>(cx);
  return combinator::run_race<R>(cx, combinator::Many<CxOf<Caps...>, B>(std::move(branches)));
}

}  // namespace calm
