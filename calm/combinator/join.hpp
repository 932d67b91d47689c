// join.hpp — several branches side by side, until all of them have ended.
// Laws:    COM-1, COM-3, I5, OUT-2, OUT-4
// Threads: branches are fibers of the task that waits
// Cancel:  a cancel of the task goes to all branches; the join ends when all have ended
//
//   auto [page, user] = co_await calm::join(cx, load(cx, url), find(cx, name));
//
// join() fails fast: the first branch that fails cancels the others with FailFast, and when they have ended the join ends
// with their fold. join_outcomes() cancels nobody and gives every outcome.
#pragma once

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "calm/combinator/branches.hpp"
#include "calm/combinator/contest.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/task.hpp"
#include "calm/model/outcome.hpp"

namespace calm {
namespace combinator {

/// What joined branches give: nothing where none of them gives anything.
template <class... Ts>
using JoinedValues = std::conditional_t<(std::is_void_v<Ts> && ...), void, std::tuple<detail::Held<Ts>...>>;
template <class T>
using JoinedList = std::conditional_t<std::is_void_v<T>, void, std::vector<detail::Held<T>>>;

template <class R, class C, class Branches>
Task<R> run_join(C cx, Branches branches) {
  Contest contest(cx::context_of(cx), Wanted::all_ends, branches.size());
  co_await run_branches(cx, FoldPolicy::fail_fast, &branches, &contest);
  co_await contest.fold();
  if constexpr (!std::is_void_v<R>) co_return branches.values();
}

template <class R, class C, class Branches>
Task<R> run_join_outcomes(C cx, Branches branches) {
  Contest contest(cx::context_of(cx), Wanted::all_ends, branches.size());
  co_await run_branches(cx, FoldPolicy::collect, &branches, &contest);
  co_await contest.refusal();
  co_return branches.ends();
}

}  // namespace combinator

/// Runs the branches side by side until all have ended.
/// Gives: a tuple of their values, Unit for void; nothing when all are void.
/// Fails: with the fold of their ends in the order they are written: the worst of them, of equals the first; those that were
///        cancelled for another's failure do not count (OUT-4). With the error of a branch that could not be started.
template <class... Caps, class... Branches>
CALM_CORO_WRAPPER auto join(CxOf<Caps...> cx, Branches... branches)
    -> Task<combinator::JoinedValues<combinator::BranchValue<Branches, CxOf<Caps...>>...>> {
  static_assert(combinator::are_branches<CxOf<Caps...>, Branches...>,
                "COM-1: a branch is a Task, or a callable that takes the context and gives one");
  using R = combinator::JoinedValues<combinator::BranchValue<Branches, CxOf<Caps...>>...>;
  return combinator::run_join<R>(cx, combinator::Several<CxOf<Caps...>, Branches...>(std::move(branches)...));
}

/// The same for a list. Gives: their values in its order; of nothing an empty list.
template <class... Caps, class B>
CALM_CORO_WRAPPER auto join_all(CxOf<Caps...> cx, std::vector<B> branches)
    -> Task<combinator::JoinedList<combinator::BranchValue<B, CxOf<Caps...>>>> {
  using R = combinator::JoinedList<combinator::BranchValue<B, CxOf<Caps...>>>;
  return combinator::run_join<R>(cx, combinator::Many<CxOf<Caps...>, B>(std::move(branches)));
}

/// Waits for all whatever becomes of them. Gives: a tuple of their outcomes, cancelled ones included.
/// Fails: with the error of a branch that could not be started.
template <class... Caps, class... Branches>
CALM_CORO_WRAPPER auto join_outcomes(CxOf<Caps...> cx, Branches... branches)
    -> Task<std::tuple<Outcome<combinator::BranchValue<Branches, CxOf<Caps...>>>...>> {
  static_assert(combinator::are_branches<CxOf<Caps...>, Branches...>,
                "COM-1: a branch is a Task, or a callable that takes the context and gives one");
  using R = std::tuple<Outcome<combinator::BranchValue<Branches, CxOf<Caps...>>>...>;
  return combinator::run_join_outcomes<R>(cx, combinator::Several<CxOf<Caps...>, Branches...>(std::move(branches)...));
}

/// The same for a list.
template <class... Caps, class B>
CALM_CORO_WRAPPER auto join_all_outcomes(CxOf<Caps...> cx, std::vector<B> branches)
    -> Task<std::vector<Outcome<combinator::BranchValue<B, CxOf<Caps...>>>>> {
  using R = std::vector<Outcome<combinator::BranchValue<B, CxOf<Caps...>>>>;
  return combinator::run_join_outcomes<R>(cx, combinator::Many<CxOf<Caps...>, B>(std::move(branches)));
}

}  // namespace calm
