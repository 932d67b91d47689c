// scope.hpp — a child region around a piece of code: what is started in it has ended when it is left.
// Laws:    I1, I2, I5, OUT-4, REG-2, CTX-2, CTX-4, TSK-4, TSK-5, CAN-13, BUD-3
// Threads: a scope is used by the task that opened it, and by fibers that it was passed to, each in its own poll. From its
//          first fiber until it is closed the task that opened it stays on one worker, so all of them are there (TSK-4)
// Cancel:  a cancelled scope cancels everything in it and still waits until that is quiet; a task that is forced leaves its
//          scopes one by one from the inside: the frames of the body first, then its children, then its finalizers
#pragma once

#include <concepts>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "calm/cx/crew.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/finalizer.hpp"
#include "calm/cx/sendable.hpp"
#include "calm/cx/spawn.hpp"
#include "calm/cx/spawned.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"
#include "calm/kernel/config.hpp"

// As in spawn.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

namespace calm {

struct ScopeOptions {
  FoldPolicy policy = FoldPolicy::fail_fast;
  Budget budget{};
  kernel::Limits limits{};
  kernel::CleanupMode cleanup_mode = kernel::CleanupMode::bounded;
  kernel::Escalation escalation = kernel::Escalation::drop;
  Duration cleanup_time = default_cleanup_time;
};

namespace cx {

/// A plain function as a Task.
template <class F>
Task<void> call(CxOf<> /*cx*/, F callable) {
  callable();
  co_return;
}

/// Parks until a region is Closed. A cancel is passed on to the region, and the wait goes on: nothing is left behind.
class ClosedWait : public Wait {
 public:
  ClosedWait(const Context* context, RegionId region) noexcept : Wait(context), region_(region) {}
  WaitState step(TaskRoot& root, ChildEnd& end) noexcept override;
  WaitState cancel(TaskRoot& root, Reason& reason, ChildEnd& end) noexcept override;
  [[nodiscard]] trace::ResourceId resource() const noexcept override { return region_; }
  static void result() noexcept {}

 protected:
  ~ClosedWait() = default;

 private:
  RegionId region_;
  bool registered_ = false;
  bool passed_on_ = false;
};

/// Parks until the tasks of a scope whose body has ended are done, or the scope is cancelled. A cancel is passed on to the
/// region and ends the wait: what remains is to close.
class LingerWait : public Wait {
 public:
  LingerWait(const Context* context, RegionId region, Crew* crew) noexcept
      : Wait(context), region_(region), crew_(*crew) {}
  WaitState step(TaskRoot& root, ChildEnd& end) noexcept override;
  WaitState cancel(TaskRoot& root, Reason& reason, ChildEnd& end) noexcept override;
  [[nodiscard]] trace::ResourceId resource() const noexcept override { return region_; }
  static void result() noexcept {}

 protected:
  ~LingerWait() = default;

 private:
  RegionId region_;
  Crew& crew_;
};

/// A scope without its capabilities: what does not depend on them.
class ScopeBase {
 public:
  ScopeBase(const ScopeBase&) = delete;
  ScopeBase& operator=(const ScopeBase&) = delete;

  [[nodiscard]] RegionId region() const noexcept { return context_.opened; }

  /// Stops everything in the scope.
  void cancel(std::string_view message = {}) const;

  // --- for those who spawn from other threads ---

  [[nodiscard]] Port& port_for_outside() const noexcept { return port(); }
  [[nodiscard]] Crew& crew_for_outside() noexcept { return crew_; }

  // --- for scope() ---

  explicit ScopeBase(const Context& outer) noexcept : context_(outer), crew_(outer.root()->id()) {}
  Status open(const ScopeOptions& options);
  /// The body has ended; the region stays open for those who are still in it.
  [[nodiscard]] WaitFor<LingerWait, const Context*, RegionId, Crew*> end_body(const ChildEnd& body);
  [[nodiscard]] WaitFor<ClosedWait, const Context*, RegionId> close();
  /// Needs: Closed. Gives: how the region ended; its record is let go.
  [[nodiscard]] ChildEnd take_end();

 protected:
  ~ScopeBase();

  [[nodiscard]] Port& port() const noexcept { return context_.root()->port(); }
  [[nodiscard]] kernel::Worker& worker() const noexcept { return context_.root()->worker(); }
  Status admit_finalizer(TaskRoot& shell);
  void become_home(TaskRoot& shell) noexcept;

  InnerContext context_;
  Crew crew_;

 private:
  std::optional<Limit> limit_;
  OpenScope open_;
  bool has_fibers_ = false;
};

}  // namespace cx

/// What the body of a scope is given, with the capabilities of the context it was opened with.
template <class... Caps>
class ScopeOf : public cx::ScopeBase {
 public:
  using Context = CxOf<Caps...>;
  using cx::ScopeBase::ScopeBase;

  /// The context of the scope: what it spawns is owned by the scope, and a cancel of the scope is seen through it.
  [[nodiscard]] Context cx() const noexcept { return Context(context_); }

  /// Starts `callable(cx, arguments...)` as a task of the scope. Callable and arguments live in the task, and end with it
  /// when it is refused.
  /// Fails: region_not_open once the scope is closing; admission_limit; resource_exhausted.
  template <class F, class... Arguments>
    requires(!std::same_as<F, TaskOptions>)
  [[nodiscard]] auto spawn(F callable, Arguments... arguments) -> Spawned<cx::TaskValue<F, Context, Arguments...>> {
    return start_task<false>(nullptr, std::move(callable), std::move(arguments)...);
  }
  template <class F, class... Arguments>
  [[nodiscard]] auto spawn(const TaskOptions& options, F callable, Arguments... arguments)
      -> Spawned<cx::TaskValue<F, Context, Arguments...>> {
    return start_task<true>(&options, std::move(callable), std::move(arguments)...);
  }

  /// The same for a fiber: it stays on the thread of this scope, so it may borrow what outlives the scope (TSK-4).
  template <class F, class... Arguments>
    requires(!std::same_as<F, TaskOptions>)
  [[nodiscard]] auto fiber(F callable, Arguments... arguments) -> Spawned<cx::TaskValue<F, Context, Arguments...>> {
    return start_fiber<false>(nullptr, std::move(callable), std::move(arguments)...);
  }
  template <class F, class... Arguments>
  [[nodiscard]] auto fiber(const TaskOptions& options, F callable, Arguments... arguments)
      -> Spawned<cx::TaskValue<F, Context, Arguments...>> {
    return start_fiber<true>(&options, std::move(callable), std::move(arguments)...);
  }

  /// Runs `callable(cx, arguments...)` when everything in the scope has ended, newest first, masked (CTX-4).
  /// Fails: resource_exhausted; region_not_open when finalizers run already.
  template <class F, class... Arguments>
  [[nodiscard]] Outcome<void> defer_async(F callable, Arguments... arguments) {
    auto* const shell = make_finalizer(std::move(callable), std::move(arguments)...);
    if (shell == nullptr) return err(Errc::resource_exhausted, "no memory for a finalizer");
    if (const Status status = admit_finalizer(*shell); !status) {
      shell->let_go();
      return err(status.error(), "a finalizer was not registered");
    }
    return ok();
  }
  /// The same for a plain function, `callable()`.
  template <class F>
  [[nodiscard]] Outcome<void> defer(F callable) {
    return defer_async(&cx::call<F>, std::move(callable));
  }

 private:
  /// Gives: nullptr without memory.
  template <class F, class... Arguments>
  cx::TaskRoot* make_finalizer(F callable, Arguments... arguments) {
    using Shell = cx::FinalizerShell<Context, F, Arguments...>;
    try {
      auto shell = std::make_unique<Shell>(port(), std::move(callable), std::move(arguments)...);
      shell->begin();
      return shell.release();
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }

  // With options, or, where it asks for nothing, none.
  template <bool asks, class F, class... Arguments>
  auto start_task(const TaskOptions* options, F callable, Arguments... arguments)
      -> Spawned<cx::TaskValue<F, Context, Arguments...>> {
    static_assert(cx::has_cap<cap::spawn, Caps...>,
                  "calm: this context may not spawn, cap::spawn was not passed (CTX-2)");
    static_assert(
        (sendable<Arguments> && ...),
        "calm: a task may run on another thread, so its arguments are values: no references, pointers, views or "
        "reference wrappers (TSK-4); pass a copy or an owner, or start a fiber");
    return start<false, asks>(options, std::move(callable), std::move(arguments)...);
  }
  template <bool asks, class F, class... Arguments>
  auto start_fiber(const TaskOptions* options, F callable, Arguments... arguments)
      -> Spawned<cx::TaskValue<F, Context, Arguments...>> {
    static_assert(cx::has_cap<cap::fiber, Caps...>,
                  "calm: this context starts no fibers, cap::fiber was not passed (CTX-2)");
    return start<true, asks>(options, std::move(callable), std::move(arguments)...);
  }
  template <bool fiber, bool asks, class F, class... Arguments>
  auto start(const TaskOptions* options, F callable, Arguments... arguments)
      -> Spawned<cx::TaskValue<F, Context, Arguments...>> {
    using T = cx::TaskValue<F, Context, Arguments...>;
    const std::string_view name = asks ? cx::name_in(options) : std::string_view();
    auto* const shell = cx::make_shell<T, Context>(port(), name, std::move(callable), std::move(arguments)...);
    if (shell == nullptr) [[unlikely]]
      return Spawned<T>(Errc::resource_exhausted);
    if constexpr (fiber) become_home(*shell);
    return cx::start < !asks && !fiber > (context_, &crew_, options, *shell);
  }
};

/// With every capability.
using Scope =
    ScopeOf<cap::time, cap::spawn, cap::fiber, cap::io, cap::remote, cap::supervise, cap::entropy, cap::trace>;

namespace cx {

/// The Task that scope() gives, for contexts that may open one.
template <class F, class... Caps>
struct ScopeTask {
  static_assert(
      has_cap<cap::spawn, Caps...>,
      "calm: this context may not spawn, cap::spawn was not passed (CTX-2); take a Cx, or a CxOf with cap::spawn");
  using Type = Task<TaskValue<F, ScopeOf<Caps...>&>>;
};

/// Gives: the Task of the body; nothing when that could not be made, and `thrown` says why: a scope that was opened is
///        closed then as well.
template <class T, class F, class S>
std::optional<Task<T>> call_body(F& body, S& scope, std::exception_ptr& thrown) noexcept {
  try {
    return body(scope);
  } catch (...) {
    thrown = std::current_exception();
    return std::nullopt;
  }
}

template <class... Caps, class F>
auto scope_around(CxOf<Caps...> cx, F body, ScopeOptions options) -> Task<TaskValue<F, ScopeOf<Caps...>&>> {
  using T = TaskValue<F, ScopeOf<Caps...>&>;
  ScopeOf<Caps...> scope(context_of(cx));
  if (const Status status = scope.open(options); !status) co_await fail(Error(status.error()));
  std::exception_ptr thrown;
  std::optional<Task<T>> task = call_body<T>(body, scope, thrown);
  std::optional<Outcome<T>> end;
  if (task) {
    end.emplace(co_await outcome(std::move(*task)));
  } else {
    end.emplace(panicked(thrown));
  }
  co_await scope.end_body(without_value(*end));
  co_await scope.close();
  ChildEnd fold = scope.take_end();
  if (fold.is_ok()) fold = without_value(*end).with_notes(fold.notes());
  context_of(cx).root()->add_notes(fold.notes());
  if (fold.is_panicked()) std::rethrow_exception(fold.panic().exception());
  if (!fold.is_ok()) co_await fail_with(std::move(fold));
  if constexpr (!std::is_void_v<T>) co_return std::move(*end).value();
}

}  // namespace cx

/// Opens a child region, runs `body(scope)` in this task, closes the region and returns when it is quiet.
/// Gives: the value of the body when nothing in the scope failed; else the end of the region (OUT-4).
template <class... Caps, class F>
CALM_CORO_WRAPPER auto scope(CxOf<Caps...> cx, F body, ScopeOptions options = {}) ->
    typename cx::ScopeTask<F, Caps...>::Type {
  return cx::scope_around(cx, std::move(body), options);
}

}  // namespace calm

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
