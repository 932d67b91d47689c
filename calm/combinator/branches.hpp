// branches.hpp — what combinators run: Tasks, or callables that make them; each becomes a fiber of one region.
// Laws:    I1, I5, TSK-4, TSK-5, BUD-3, CTX-2
// Threads: fibers of the task that waits
// Cancel:  a cancel of the task goes to all branches; what they come to then is their end
//
// A branch is a Task, `load(cx, a)`, or a callable that makes one, `load_a(cx)`. A Task was made with the context of
// the one who waits and runs with that of its fiber: what it opens, spawns and waits for is the fiber's. Its context is the
// one that the combinator was given, or one further out; a tighter one is made inside the branch.
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "calm/combinator/contest.hpp"
#include "calm/cx/context.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/spawned.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/outcome.hpp"

namespace calm::combinator {

template <class B>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<Task<T>> = true;

/// A Task, or what makes one of a context.
template <class B, class C>
concept Branch =
    is_task<B> || requires(B& branch, C cx) { requires is_task<std::remove_cvref_t<decltype(branch(cx))>>; };

template <class C, class... Bs>
inline constexpr bool are_branches = (Branch<Bs, C> && ...);

/// The value of a branch; of something else it is void, and an assertion says what is wrong.
template <class B, class C>
struct ValueOf {
  using Type = void;
};
template <class B, class C>
  requires(!is_task<B> && Branch<B, C>)
struct ValueOf<B, C> {
  using Type = typename std::remove_cvref_t<decltype(std::declval<B&>()(std::declval<C>()))>::Value;
};
template <class T, class C>
struct ValueOf<Task<T>, C> {
  using Type = T;
};
template <class B, class C>
using BranchValue = typename ValueOf<B, C>::Type;

/// Awaits the Task that is the whole of a branch.
template <class T>
class AwaitBranch final : public cx::AwaitEnd<T> {
 public:
  using Promise = typename cx::AwaitEnd<T>::Promise;

  AwaitBranch(std::coroutine_handle<Promise> child, cx::Frame& parent, std::source_location where,
              Ticket& ticket) noexcept
      : cx::AwaitEnd<T>(child, parent, where), ticket_(ticket) {}
  [[nodiscard]] Ticket* ticket() const noexcept override { return &ticket_; }

 private:
  Ticket& ticket_;
};

/// A Task to be awaited as the whole of a branch. Needs: the ticket outlives the wait.
template <class T>
class [[nodiscard]] WholeBranch {
 public:
  using CalmAwait = void;

  WholeBranch(Task<T> task, Ticket& ticket) noexcept : task_(std::move(task)), ticket_(ticket) {}
  [[nodiscard]] AwaitBranch<T> awaiter(cx::Frame& parent, std::source_location site) && noexcept {
    return {task_.leave(), parent, site, ticket_};
  }

 private:
  Task<T> task_;
  Ticket& ticket_;
};

/// The fiber of a Task.
template <class T, class C>
Task<T> run_task(C cx, Ticket ticket, const cx::Context* made_with, Task<T> task) {
  const cx::StandIn here(cx::context_of(cx), *made_with);
  WholeBranch<T> whole(std::move(task), ticket);
  if constexpr (std::is_void_v<T>) {
    co_await std::move(whole);
    ticket.succeed();
  } else {
    T value = co_await std::move(whole);
    ticket.succeed();
    co_return std::move(value);
  }
}

/// The fiber of a callable.
template <class T, class C, class F>
Task<T> run_callable(C cx, Ticket ticket, F callable) {
  WholeBranch<T> whole(callable(cx), ticket);
  if constexpr (std::is_void_v<T>) {
    co_await std::move(whole);
    ticket.succeed();
  } else {
    T value = co_await std::move(whole);
    ticket.succeed();
    co_return std::move(value);
  }
}

/// Gives: the handle of the fiber, or why there is none: an exception on the way is one more reason. The branch is moved from.
template <class S, class B>
auto start_branch(S& scope, const cx::Context& made_with, Ticket ticket, B& branch) noexcept
    -> Outcome<Handle<BranchValue<B, typename S::Context>>> {
  using C = typename S::Context;
  using T = BranchValue<B, C>;
  try {
    if constexpr (is_task<B>) {
      return scope.fiber(&run_task<T, C>, std::move(ticket), &made_with, std::move(branch));
    } else {
      return scope.fiber(&run_callable<T, C, B>, std::move(ticket), std::move(branch));
    }
  } catch (...) {
    return panicked();
  }
}

/// Branches that are written side by side.
template <class C, class... Bs>
class Several {
 public:
  static constexpr std::size_t count = sizeof...(Bs);

  explicit Several(Bs... branches) : branches_(std::move(branches)...) {}

  [[nodiscard]] static constexpr std::size_t size() noexcept { return count; }

  /// Gives: why one of them could not be started; those after it are not.
  template <class S>
  ChildEnd start(S& scope, const cx::Context& made_with, Contest& contest) noexcept {
    return start_from<0>(scope, made_with, contest);
  }

  /// Shows the end of each to `visit(branch, Outcome<T>)`; the branch is a constant. Needs: all have ended, once.
  template <class F>
  void each_end(const F& visit) {
    each_from(visit, std::make_index_sequence<count>());
  }

  /// Gives: all ends, in order. Needs: all have ended, once.
  std::tuple<Outcome<BranchValue<Bs, C>>...> ends() { return ends_of(std::make_index_sequence<count>()); }
  /// Gives: all values. Needs: all have ended with one.
  std::tuple<detail::Held<BranchValue<Bs, C>>...> values() { return values_of(std::make_index_sequence<count>()); }

 private:
  template <std::size_t number, class S>
  ChildEnd start_from(S& scope, const cx::Context& made_with, Contest& contest) noexcept {
    if constexpr (number == count) {
      return ok();
    } else {
      auto started = start_branch(scope, made_with, Ticket(contest, number), std::get<number>(branches_));
      if (!started) return cx::without_value(started);
      contest.started(started.value().id());
      std::get<number>(handles_).emplace(std::move(started).value());
      return start_from<number + 1>(scope, made_with, contest);
    }
  }
  template <class F, std::size_t... number>
  void each_from(const F& visit, std::index_sequence<number...> /*each*/) {
    (visit(std::integral_constant<std::size_t, number>(), end_of<number>()), ...);
  }
  template <std::size_t... number>
  std::tuple<Outcome<BranchValue<Bs, C>>...> ends_of(std::index_sequence<number...> /*each*/) {
    return {end_of<number>()...};
  }
  template <std::size_t... number>
  std::tuple<detail::Held<BranchValue<Bs, C>>...> values_of(std::index_sequence<number...> /*each*/) {
    return {end_of<number>().value()...};
  }
  template <std::size_t number>
  auto end_of() {
    return std::move(*std::get<number>(handles_)).end();  // NOLINT(bugprone-unchecked-optional-access): it was started
  }

  std::tuple<Bs...> branches_;
  std::tuple<std::optional<Handle<BranchValue<Bs, C>>>...> handles_;
};

/// Branches in a list.
template <class C, class B>
class Many {
 public:
  using T = BranchValue<B, C>;

  /// Fails: std::bad_alloc.
  explicit Many(std::vector<B> branches) : branches_(std::move(branches)) { handles_.reserve(branches_.size()); }

  [[nodiscard]] std::size_t size() const noexcept { return branches_.size(); }

  template <class S>
  ChildEnd start(S& scope, const cx::Context& made_with, Contest& contest) noexcept {
    for (std::size_t number = 0; number < branches_.size(); ++number) {
      auto started = start_branch(scope, made_with, Ticket(contest, number), branches_[number]);
      if (!started) return cx::without_value(started);
      handles_.push_back(std::move(started).value());
      contest.started(handles_.back().id());
    }
    return ok();
  }

  template <class F>
  void each_end(const F& visit) {
    for (std::size_t number = 0; number < handles_.size(); ++number) visit(number, std::move(handles_[number]).end());
  }
  std::vector<Outcome<T>> ends() {
    std::vector<Outcome<T>> ends;
    ends.reserve(handles_.size());
    for (auto& handle : handles_) ends.push_back(std::move(handle).end());
    return ends;
  }
  std::vector<detail::Held<T>> values() {
    std::vector<detail::Held<T>> values;
    values.reserve(handles_.size());
    for (auto& handle : handles_) values.push_back(std::move(handle).end().value());
    return values;
  }

 private:
  std::vector<B> branches_;
  std::vector<Handle<T>> handles_;
};

/// Starts the branches in a region of their own and waits until all of them have ended, as scope() does. A checkpoint.
/// Needs: `branches` and `contest` outlive it: they live in the frame that awaits it.
/// Fails: when the region cannot be opened; a branch that cannot be started is the contest's to tell.
template <class... Caps, class Branches>
Task<void> run_branches(CxOf<Caps...> cx, FoldPolicy policy, Branches* branches, Contest* contest) {
  co_await checkpoint(cx);
  const cx::Context& context = cx::context_of(cx);
  ScopeOf<Caps...> scope(context);
  ScopeOptions options;
  options.policy = policy;
  const Status opened = scope.open(options);
  if (!opened) co_await fail(Error(opened.error(), "the branches of a combinator need a region"));
  contest->begin(scope.region());
  const ChildEnd refusal = branches->start(scope, context, *contest);
  if (!refusal.is_ok()) contest->call_off(refusal);
  co_await scope.end_body(refusal);
  co_await scope.close();
  contest->end(scope.take_end());
}

}  // namespace calm::combinator
