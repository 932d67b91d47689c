// spawn.hpp — how a task comes to be: its callable and arguments in its own frame, its shell, its place in a region.
// Laws:    I1, CTX-2, TSK-3, TSK-4, TSK-5, BUD-3, REG-6
// Threads: by the task that spawns, in its own poll
// Cancel:  a region that closes or is cancelled takes no task any more; what was to run has ended then
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "calm/cx/crew.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/sendable.hpp"
#include "calm/cx/spawned.hpp"
#include "calm/cx/task.hpp"

// g++ takes a lambda in the frame of a coroutine template for a member of a type in a header and warns that it has no linkage.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

namespace calm {

/// What a task is spawned with, beside its callable.
struct TaskOptions {
  std::string_view name{};  ///< for people; the characters outlive the task, as a literal does
  Budget budget{};          ///< asked for; what the scope and the spawner have left bounds it (BUD-3)
};

namespace cx {

/// The type of the value that a Task-returning callable gives.
template <class F, class... Arguments>
using TaskValue = typename std::invoke_result_t<F, Arguments...>::Value;

/// True for a function that takes its arguments by value: its coroutine keeps all there is (TSK-5).
template <class Function>
inline constexpr bool takes_values = false;
template <class T, class... Parameters>
inline constexpr bool takes_values<Task<T> (*)(Parameters...)> = !(std::is_reference_v<Parameters> || ...);

/// True for such a function, and for a lambda without captures that is one.
template <class F>
concept KeepsItself = requires(const F& callable) { requires takes_values<decltype(+callable)>; };

/// Keeps the callable and its arguments in the task's own frame until it has ended (TSK-5).
template <class T, class C, class F, class... Arguments>
Task<T> keep_in_frame(C cx, F callable, Arguments... arguments) {
  if constexpr (std::is_void_v<T>) {
    co_await callable(cx, std::move(arguments)...);
  } else {
    co_return co_await callable(cx, std::move(arguments)...);
  }
}
/// The same, without a frame of its own where that is not needed.
template <class T, class C, class F, class... Arguments>
CALM_CORO_WRAPPER Task<T> keep(C cx, F callable, Arguments... arguments) {
  if constexpr (KeepsItself<F>) {
    return (+callable)(cx, std::move(arguments)...);
  } else {
    return keep_in_frame<T>(cx, std::move(callable), std::move(arguments)...);
  }
}
/// Needs: options, or none.
[[nodiscard]] inline std::string_view name_in(const TaskOptions* options) noexcept {
  return options == nullptr ? std::string_view() : options->name;
}

/// The shell of a task with what it runs, for a callable that does not keep itself: that and its arguments lie here until the frames
/// are gone (TSK-5), so there is no frame around those of the callable. It is called in the first poll.
template <class T, class C, class F, class... Arguments>
class KeepingShell final : public Shell<T> {
 public:
  KeepingShell(Port& port, F&& callable, Arguments&&... arguments)
      : Shell<T>(port), given_{std::move(callable), {std::move(arguments)...}} {
    this->owners_.set_larger();
    this->keep_callable();
  }
  KeepingShell(const KeepingShell&) = delete;
  KeepingShell& operator=(const KeepingShell&) = delete;
  ~KeepingShell() {
    if (this->keeps_callable()) std::destroy_at(std::addressof(given_));
  }

 private:
  void call_it() override { this->start_with(call_with(std::index_sequence_for<Arguments...>()).leave().promise()); }
  void drop_callable() noexcept override { std::destroy_at(std::addressof(given_)); }
  std::size_t end_here() noexcept override {
    std::destroy_at(this);
    return sizeof(KeepingShell);
  }

  template <std::size_t... index>
  CALM_CORO_WRAPPER Task<T> call_with(std::index_sequence<index...> /*each*/) {
    return given_.callable(C(this->context()), std::move(std::get<index>(given_.arguments))...);
  }

  struct Given {
    F callable;
    [[no_unique_address]] std::tuple<Arguments...> arguments;
  };
  // NOLINTBEGIN(readability-identifier-naming): private as the others
  union {
    Given given_;
  };
  // NOLINTEND(readability-identifier-naming)
};

/// Ends a shell that neither the kernel nor a handle comes to own.
template <class T>
[[gnu::noinline]] void give_up(Shell<T>& shell) noexcept {
  shell.let_go();
  shell.let_go();
}

/// Gives: the shell of a task of this name that runs `callable(cx, arguments...)`, which is the caller's, for the kernel and for a
///        handle; nullptr without memory.
template <class T, class C, class F, class... Arguments>
[[gnu::always_inline]] inline Shell<T>* make_shell(Port& port, std::string_view name, F callable,
                                                   Arguments... arguments) {
  using Keeping = KeepingShell<T, C, F, Arguments...>;
  Shell<T>* shell = nullptr;
  try {
    if constexpr (!KeepsItself<F> && alignof(Keeping) <= alignof(TaskRoot::Name)) {
      shell = Shell<T>::template make<Keeping>(name, port, std::move(callable), std::move(arguments)...);
      shell->retain();
    } else {
      shell = Shell<T>::template make<Shell<T>>(name, port);
      shell->retain();
      shell->begin(keep<T>(C(shell->context()), std::move(callable), std::move(arguments)...));
    }
    return shell;
  } catch (const std::bad_alloc&) {
    if (shell != nullptr) give_up(*shell);
    return nullptr;
  } catch (...) {
    if (shell != nullptr) give_up(*shell);
    throw;
  }
}

/// Needs: as Port::admit(); a shell of the caller for both, which it is no more; `plain`: no options, and no fiber.
template <bool plain, class T>
[[gnu::always_inline]] inline Spawned<T> start(const Context& context, Crew* crew, const TaskOptions* options,
                                               Shell<T>& shell) {
  Port& port = shell.port();
  const Status admitted =
      plain && crew != nullptr ? port.admit_plainly(context, *crew, shell) : port.admit(context, crew, shell, options);
  if (!admitted) [[unlikely]] {
    give_up(shell);
    return Spawned<T>(admitted);
  }
  return Spawned<T>(Handle<T>(mem::Ref<Shell<T>>::adopt(&shell)));
}

/// Gives: the crew of the scope whose region this context spawns into; nullptr in the region of the program itself.
[[nodiscard]] Crew* crew_among_scopes(const Context& context) noexcept;
[[nodiscard]] inline Crew* crew_of(const Context& context) noexcept {
  return context.root()->has_fixtures() ? crew_among_scopes(context) : context.root()->only_crew();
}

/// Starts `callable(cx, arguments...)` beside the running task. Needs: options, or none where it asks for nothing.
template <class T, bool asks, class... Caps, class F, class... Arguments>
Spawned<T> spawn_beside(CxOf<Caps...> cx, const TaskOptions* options, F callable, Arguments... arguments) {
  static_assert(has_cap<cap::spawn, Caps...>, "calm: this context may not spawn, cap::spawn was not passed (CTX-2)");
  static_assert(
      (sendable<Arguments> && ...),
      "calm: a task may run on another thread, so its arguments are values: no references, pointers, views or "
      "reference wrappers (TSK-4); pass a copy or an owner, or start a fiber in a scope");
  const Context& context = context_of(cx);
  const std::string_view name = asks ? name_in(options) : std::string_view();
  auto* const shell =
      make_shell<T, CxOf<Caps...>>(context.root()->port(), name, std::move(callable), std::move(arguments)...);
  if (shell == nullptr) [[unlikely]]
    return Spawned<T>(Errc::resource_exhausted);
  return start<!asks>(context, crew_of(context), options, *shell);
}

}  // namespace cx

/// Starts `callable(cx, arguments...)` as a task beside this one, in the region of the context: the scope around is left when
/// this task and that one have ended. Where a task must not outlive the code that starts it, open a scope.
/// Fails: region_not_open once the region is closing; admission_limit; resource_exhausted.
template <class... Caps, class F, class... Arguments>
  requires(!std::same_as<F, TaskOptions>)
[[nodiscard]] auto spawn(CxOf<Caps...> cx, F callable, Arguments... arguments)
    -> Spawned<cx::TaskValue<F, CxOf<Caps...>, Arguments...>> {
  using T = cx::TaskValue<F, CxOf<Caps...>, Arguments...>;
  return cx::spawn_beside<T, false>(cx, nullptr, std::move(callable), std::move(arguments)...);
}
template <class... Caps, class F, class... Arguments>
[[nodiscard]] auto spawn(CxOf<Caps...> cx, const TaskOptions& options, F callable, Arguments... arguments)
    -> Spawned<cx::TaskValue<F, CxOf<Caps...>, Arguments...>> {
  using T = cx::TaskValue<F, CxOf<Caps...>, Arguments...>;
  return cx::spawn_beside<T, true>(cx, &options, std::move(callable), std::move(arguments)...);
}

}  // namespace calm

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
