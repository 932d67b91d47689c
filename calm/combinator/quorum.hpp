// quorum.hpp — enough values of several branches: the first one, or the first k.
// Laws:    COM-1, COM-2, I5, OUT-4
// Threads: branches are fibers of the task that waits
// Cancel:  a cancel of the task goes to all branches; it ends when all have ended
//
//   auto page = co_await calm::first_ok(cx, load(cx, mirror_a), load(cx, mirror_b));
//   auto votes = co_await calm::quorum(cx, 2, ask(cx, a), ask(cx, b), ask(cx, c));
//
// A failure of a branch does not end it as long as there can still be enough values. When it is decided, either way, the
// branches that still run are cancelled with RaceLost and drained. What the others failed with is in the notes of the outcome.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "calm/combinator/branches.hpp"
#include "calm/combinator/contest.hpp"
#include "calm/combinator/race.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/fold.hpp"
#include "calm/model/outcome.hpp"

namespace calm {
namespace combinator {

/// The failures among the ends of branches: their fold, and a note for each.
class Failures {
 public:
  Failures(const char* what, RegionId region) noexcept : what_(what), region_(region) {}

  void add(std::size_t branch, const ChildEnd& end) {
    note_loser(notes_, what_, branch, end, region_, true);
    fold_ = fold_child(std::move(fold_), end, region_);
  }
  /// Gives: how it ends when there was not enough. Needs: one of them was a failure.
  template <class R>
  [[nodiscard]] Outcome<R> end() const {
    return cx::failure_as<R>(fold_).with_notes(notes_);
  }
  [[nodiscard]] const Notes& notes() const noexcept { return notes_; }

 private:
  const char* what_;
  RegionId region_;
  ChildEnd fold_ = ok();
  Notes notes_;
};

/// Gives: the value that came first, or how all failed. Needs: all have ended.
template <class R, class Branches>
Outcome<R> first_ok_result(Branches& branches, const Contest& contest) {
  std::optional<Outcome<R>> first;
  Failures failures("first_ok: branch", contest.region());
  branches.each_end([&]<class Number, class T>(Number branch, Outcome<T> end) {
    if (branch == contest.decided_by() && end.is_ok()) {
      first.emplace(won<R>(branch, std::move(end)));
    } else {
      failures.add(branch, cx::without_value(end));
    }
  });
  if (!first) return failures.template end<R>();
  Notes notes = first->notes();
  notes.merge(failures.notes());
  return std::move(*first).with_notes(std::move(notes));
}

/// Gives: the values that were counted, in the order of the branches, or how the others failed. Needs: all have ended.
template <class R, class Branches>
Outcome<R> quorum_result(Branches& branches, const Contest& contest, std::size_t oks) {
  R values;
  values.reserve(oks);
  Failures failures("quorum: branch", contest.region());
  branches.each_end([&]<class Number, class T>(Number branch, Outcome<T> end) {
    if (!end.is_ok() || !contest.counts(branch)) return failures.add(branch, cx::without_value(end));
    failures.add(branch, ChildEnd(ok()).with_notes(end.notes()));
    values.push_back(std::move(end).value());
  });
  if (values.size() < oks) return failures.template end<R>();
  return Outcome<R>(ok(std::move(values))).with_notes(failures.notes());
}

template <class R, class C, class Branches>
Task<R> run_first_ok(C cx, Branches branches) {
  if (branches.size() == 0) co_await fail(Error(Errc::empty, "first_ok of no branches has no value [COM-1]"));
  Contest contest(cx::context_of(cx), Wanted::enough_oks, branches.size(), 1);
  co_await run_branches(cx, FoldPolicy::collect, &branches, &contest);
  co_await contest.refusal();
  Outcome<R> result = first_ok_result<R>(branches, contest);
  if constexpr (std::is_void_v<R>) {
    co_await std::move(result);
  } else {
    co_return co_await std::move(result);
  }
}

template <class R, class C, class Branches>
Task<R> run_quorum(C cx, std::size_t oks, Branches branches) {
  if (oks == 0 || oks > branches.size()) {
    co_await fail(Error(Errc::invalid_argument, "a quorum is of one branch at least, and of all at most [COM-1]"));
  }
  Contest contest(cx::context_of(cx), Wanted::enough_oks, branches.size(), oks);
  co_await run_branches(cx, FoldPolicy::collect, &branches, &contest);
  co_await contest.refusal();
  Outcome<R> result = quorum_result<R>(branches, contest, oks);
  co_return co_await std::move(result);
}

}  // namespace combinator

/// Runs the branches side by side until one of them has come to a value.
/// Gives: that value, as race() does.
/// Fails: when all have failed, with the fold of their ends: the worst of them, of equals the first.
template <class... Caps, class... Branches>
CALM_CORO_WRAPPER auto first_ok(CxOf<Caps...> cx, Branches... branches)
    -> Task<combinator::RacedValue<combinator::BranchValue<Branches, CxOf<Caps...>>...>> {
  static_assert(combinator::are_branches<CxOf<Caps...>, Branches...>,
                "COM-1: a branch is a Task, or a callable that takes the context and gives one");
  using R = combinator::RacedValue<combinator::BranchValue<Branches, CxOf<Caps...>>...>;
  return combinator::run_first_ok<R>(cx, combinator::Several<CxOf<Caps...>, Branches...>(std::move(branches)...));
}

/// The same for a list. Fails: empty, for nothing.
template <class... Caps, class B>
CALM_CORO_WRAPPER auto first_ok_all(CxOf<Caps...> cx, std::vector<B> branches)
    -> Task<combinator::BranchValue<B, CxOf<Caps...>>> {
  using R = combinator::BranchValue<B, CxOf<Caps...>>;
  return combinator::run_first_ok<R>(cx, combinator::Many<CxOf<Caps...>, B>(std::move(branches)));
}

/// Runs the branches, all of one value type, side by side until `oks` of them have come to a value.
/// Gives: those values, in the order of the branches.
/// Fails: invalid_argument, for 0 or more than there are; as soon as there cannot be enough, with the fold of the failures.
template <class... Caps, class... Branches>
CALM_CORO_WRAPPER auto quorum(CxOf<Caps...> cx, std::size_t oks, Branches... branches)
    -> Task<std::vector<detail::Held<combinator::RacedValue<combinator::BranchValue<Branches, CxOf<Caps...>>...>>>> {
  static_assert(combinator::are_branches<CxOf<Caps...>, Branches...>,
                "COM-1: a branch is a Task, or a callable that takes the context and gives one");
  using R = std::vector<detail::Held<combinator::RacedValue<combinator::BranchValue<Branches, CxOf<Caps...>>...>>>;
  return combinator::run_quorum<R>(cx, oks, combinator::Several<CxOf<Caps...>, Branches...>(std::move(branches)...));
}

/// The same for a list.
template <class... Caps, class B>
CALM_CORO_WRAPPER auto quorum_all(CxOf<Caps...> cx, std::size_t oks, std::vector<B> branches)
    -> Task<std::vector<detail::Held<combinator::BranchValue<B, CxOf<Caps...>>>>> {
  using R = std::vector<detail::Held<combinator::BranchValue<B, CxOf<Caps...>>>>;
  return combinator::run_quorum<R>(cx, oks, combinator::Many<CxOf<Caps...>, B>(std::move(branches)));
}

}  // namespace calm
