// spawn.hpp — how a task comes to be: its callable and arguments in its own frame, its shell, its place in a region.
// Laws:    I1, CTX-2, TSK-3, TSK-4, TSK-5, BUD-3, REG-6
// Threads: by the task that spawns, in its own poll
// Cancel:  a region that closes or is cancelled takes no task any more; what was to run has ended then
#pragma once

#include <new>
#include <string_view>
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
/// Gives: the shell of a task that runs `callable(cx, arguments...)`; nothing without memory.
template <class T, class C, class F, class... Arguments>
[[gnu::always_inline]] inline mem::Ref<Shell<T>> make_shell(Port& port, RegionId region, F callable,
                                                            Arguments... arguments) {
  try {
    auto shell = mem::Ref<Shell<T>>::adopt(new Shell<T>(port, region));
    shell->begin(keep<T>(C(shell->context()), std::move(callable), std::move(arguments)...));
    return shell;
  } catch (const std::bad_alloc&) {
    return {};
  }
}

/// Needs: a shell with its frame, for the region of this context; the crew of that region's scope, none where there is no
///        scope. Gives: it is the kernel's; on failure its frames are gone.
kernel::Made<TaskId> admit(const Context& context, Crew* crew, TaskRoot& shell, const TaskOptions& options);

/// Needs: as admit().
template <class T>
Spawned<T> start(const Context& context, Crew* crew, const TaskOptions& options, mem::Ref<Shell<T>> shell) {
  shell->retain();
  const auto made = admit(context, crew, *shell, options);
  if (!made) [[unlikely]] {
    shell->let_go();
    return Spawned<T>(made.status);
  }
  return Spawned<T>(Handle<T>(std::move(shell), made.id));
}

/// Gives: the crew of the scope whose region this context spawns into; nullptr in the region of the program itself.
[[nodiscard]] Crew* crew_of(const Context& context) noexcept;

}  // namespace cx

/// Starts `callable(cx, arguments...)` as a task beside this one, in the region of the context: the scope around is left when
/// this task and that one have ended. Where a task must not outlive the code that starts it, open a scope.
/// Fails: region_not_open once the region is closing; admission_limit; resource_exhausted.
template <class... Caps, class F, class... Arguments>
  requires(!std::same_as<F, TaskOptions>)
[[nodiscard]] auto spawn(CxOf<Caps...> cx, F callable, Arguments... arguments)
    -> Spawned<cx::TaskValue<F, CxOf<Caps...>, Arguments...>> {
  return spawn(cx, TaskOptions{}, std::move(callable), std::move(arguments)...);
}
template <class... Caps, class F, class... Arguments>
[[nodiscard]] auto spawn(CxOf<Caps...> cx, TaskOptions options, F callable, Arguments... arguments)
    -> Spawned<cx::TaskValue<F, CxOf<Caps...>, Arguments...>> {
  static_assert(cx::has_cap<cap::spawn, Caps...>,
                "calm: this context may not spawn, cap::spawn was not passed (CTX-2)");
  static_assert(
      (sendable<Arguments> && ...),
      "calm: a task may run on another thread, so its arguments are values: no references, pointers, views or "
      "reference wrappers (TSK-4); pass a copy or an owner, or start a fiber in a scope");
  using T = cx::TaskValue<F, CxOf<Caps...>, Arguments...>;
  const cx::Context& context = cx::context_of(cx);
  auto shell = cx::make_shell<T, CxOf<Caps...>>(context.root->port(), context.region, std::move(callable),
                                                std::move(arguments)...);
  if (!shell) return Spawned<T>(Errc::resource_exhausted);
  return cx::start(context, cx::crew_of(context), options, std::move(shell));
}

}  // namespace calm

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
