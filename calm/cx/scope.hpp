// scope.hpp — a child region around a piece of code: what is started in it has ended when it is left.
// Laws:    I1, I2, OUT-4, REG-2, CTX-4, TSK-5, CAN-13
// Threads: a scope is used by the task that opened it, and by those it was passed to, each in its own poll
// Cancel:  a cancelled scope cancels everything in it and still waits until that is quiet
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "calm/cx/cx.hpp"
#include "calm/cx/spawned.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"
#include "calm/kernel/config.hpp"

// g++ takes a lambda in the frame of a coroutine template for a member of a type in a header and warns that it has no linkage.
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

/// The type of the value that a Task-returning callable gives.
template <class F, class... Arguments>
using TaskValue = typename std::invoke_result_t<F, Arguments...>::Value;

/// Keeps the callable and its arguments in the task's own frame until it has ended (TSK-5).
template <class T, class F, class... Arguments>
Task<T> keep(Cx cx, F callable, Arguments... arguments) {
  if constexpr (std::is_void_v<T>) {
    co_await callable(cx, std::move(arguments)...);
  } else {
    co_return co_await callable(cx, std::move(arguments)...);
  }
}

/// Parks until a region is Closed. A cancel is passed on to the region, and the wait goes on: nothing is left behind.
class ClosedWait : public Wait {
 public:
  ClosedWait(const Context* context, RegionId region) noexcept : Wait(context), region_(region) {}
  WaitState step(TaskRoot& root, ChildEnd& end) noexcept override;
  WaitState cancel(TaskRoot& root, const Reason& reason, ChildEnd& end) noexcept override;
  [[nodiscard]] trace::ResourceId resource() const noexcept override { return region_; }
  static void result() noexcept {}

 protected:
  ~ClosedWait() = default;

 private:
  RegionId region_;
  bool registered_ = false;
  bool passed_on_ = false;
};

}  // namespace cx

/// What the body of a scope is given.
class Scope {
 public:
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  /// The context of the scope: what it spawns is owned by the scope, and a cancel of the scope is seen through it.
  [[nodiscard]] Cx cx() const noexcept { return Cx(context_); }
  [[nodiscard]] RegionId region() const noexcept { return context_.region; }

  /// Starts `callable(cx, arguments...)` as a task of the scope. Callable and arguments live in the task.
  /// Fails: region_not_open once the scope is closing; admission_limit; resource_exhausted.
  template <class F, class... Arguments>
  [[nodiscard]] auto spawn(F callable, Arguments... arguments) -> Outcome<Handle<cx::TaskValue<F, Cx, Arguments...>>> {
    using T = cx::TaskValue<F, Cx, Arguments...>;
    auto shell = mem::Ref<cx::Shell<T>>::adopt(new cx::Shell<T>(port(), context_.region));
    shell->begin(cx::keep<T>(Cx(shell->context()), std::move(callable), std::move(arguments)...));
    const kernel::TaskSpec spec{.spawner = context_.root->id(), .frame = static_cast<cx::TaskRoot*>(shell.get())};
    const auto made = port().spawn(worker(), context_.region, spec);
    if (!made) {
      shell->drop(worker(), {});
      return err(made.status.error(), "a task was not admitted");
    }
    shell->retain();
    return ok(Handle<T>(std::move(shell), made.id, context_));
  }

  /// Runs `callable(cx, arguments...)` when everything in the scope has ended, newest first, masked (CTX-4).
  /// Fails: resource_exhausted; region_not_open when finalizers run already.
  template <class F, class... Arguments>
  [[nodiscard]] Outcome<void> defer_async(F callable, Arguments... arguments) {
    auto shell = mem::Ref<cx::Shell<void>>::adopt(new cx::Shell<void>(port(), context_.region));
    shell->begin(cx::keep<void>(Cx(shell->context()), std::move(callable), std::move(arguments)...));
    const auto made = port().defer(worker(), context_.region, *shell);
    if (!made) {
      shell->drop(worker(), {});
      return err(made.status.error(), "a finalizer was not registered");
    }
    (void)shell.leak();
    return ok();
  }

  /// Stops everything in the scope.
  void cancel(std::string_view message = {}) const {
    (void)port().cancel(worker(), context_.region, {.task = context_.root->id(), .message = message});
  }

  explicit Scope(const cx::Context& outer) noexcept : context_{outer.root, {}, &outer} {}
  Status open(const ScopeOptions& options);
  [[nodiscard]] cx::WaitFor<cx::ClosedWait, const cx::Context*, RegionId> close(const ChildEnd& body);
  /// Needs: Closed. Gives: how the region ended; its record is let go.
  [[nodiscard]] ChildEnd take_end();

 private:
  [[nodiscard]] cx::Port& port() const noexcept { return context_.root->port(); }
  [[nodiscard]] kernel::Worker& worker() const noexcept { return context_.root->worker(); }

  cx::Context context_;
};

/// Opens a child region, runs `body(scope)` in this task, closes the region and returns when it is quiet.
/// Gives: the value of the body when nothing in the scope failed; else the end of the region (OUT-4).
template <class F>
auto scope(Cx cx, F body, ScopeOptions options = {}) -> Task<cx::TaskValue<F, Scope&>> {
  using T = cx::TaskValue<F, Scope&>;
  Scope scope(cx::context_of(cx));
  if (const Status status = scope.open(options); !status) co_await fail(Error(status.error()));
  Outcome<T> end = co_await outcome(body(scope));
  co_await scope.close(cx::without_value(end));
  ChildEnd fold = scope.take_end();
  if (fold.is_ok()) fold = cx::without_value(end);
  if (fold.is_panicked()) std::rethrow_exception(fold.panic().exception());
  if (!fold.is_ok()) co_await fail_with(std::move(fold));
  if constexpr (!std::is_void_v<T>) co_return std::move(end).value();
}

}  // namespace calm

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
