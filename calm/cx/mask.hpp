// mask.hpp — code that a cancellation does not interrupt: masks, commit sections, and brackets that always release.
// Laws:    CAN-12, CTX-4
// Threads: by the task itself, in its own poll
// Cancel:  deferred while a mask is on, to a depth of 64 and for 1000 polls; then it is taken off and reported
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "calm/cx/cx.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/task.hpp"

// As in spawn.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

namespace calm {

/// Masks from here to the end of its block. For code without a coroutine of its own; with_cancel_mask() reads better.
class CancelMask {
 public:
  explicit CancelMask(CxOf<> cx) : context_(cx::context_of(cx)) {
    context_.root()->add_mask();
    (void)context_.root()->port().enter_mask(context_.root()->worker(), context_.root()->id());
  }
  CancelMask(const CancelMask&) = delete;
  CancelMask& operator=(const CancelMask&) = delete;
  ~CancelMask() {
    context_.root()->take_mask();
    (void)context_.root()->port().leave_mask(context_.root()->worker(), context_.root()->id());
  }

 private:
  const cx::Context& context_;
};

/// Runs `body(cx)` without its seeing a cancellation; that is seen at the first checkpoint after it.
template <class... Caps, class F>
auto with_cancel_mask(CxOf<Caps...> cx, F body) -> Task<cx::TaskValue<F, CxOf<Caps...>>> {
  const CancelMask mask(cx);
  if constexpr (std::is_void_v<cx::TaskValue<F, CxOf<Caps...>>>) {
    co_await body(cx);
  } else {
    co_return co_await body(cx);
  }
}

/// A mask around what must happen as a whole: the second half of an effect whose first half has happened.
template <class... Caps, class F>
CALM_CORO_WRAPPER auto commit_section(CxOf<Caps...> cx, F body) -> Task<cx::TaskValue<F, CxOf<Caps...>>> {
  return with_cancel_mask(cx, std::move(body));
}

namespace cx {

/// The body of a bracket's scope. It stays in the scope's frame until the region is Closed, so the finalizer may use the
/// resource in it.
template <class C, class Acquire, class Use, class Release>
struct Bracket;
template <class... Caps, class Acquire, class Use, class Release>
struct Bracket<CxOf<Caps...>, Acquire, Use, Release> {
  using Cx = CxOf<Caps...>;
  using Resource = TaskValue<Acquire, Cx>;
  using Value = TaskValue<Use, Cx, Resource&>;

  Acquire acquire;
  Use use;
  Release release;
  std::optional<Resource> resource{};

  struct Releasing {
    Bracket* bracket;
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): it was acquired before this was made
    CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return bracket->release(cx, *bracket->resource); }
  };

  // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): scope() keeps it until this has ended
  Task<Value> operator()(ScopeOf<Caps...>& scope) {
    resource.emplace(co_await acquire(scope.cx()));
    Outcome<void> registered = scope.defer_async(Releasing{this});
    if (!registered) {
      co_await with_cancel_mask(scope.cx(), Releasing{this});
      co_await std::move(registered);
    }
    if constexpr (std::is_void_v<Value>) {
      co_await use(scope.cx(), *resource);
    } else {
      co_return co_await use(scope.cx(), *resource);
    }
  }
};

}  // namespace cx

/// `acquire(cx)` gives a resource, `use(cx, resource)` the value, `release(cx, resource)` ends it, masked: on every path
/// after acquire has given the resource, also when the task is cancelled, fails, throws, or is forced to end.
/// Cancel: acquire and use see it; release does not.
template <class... Caps, class Acquire, class Use, class Release>
CALM_CORO_WRAPPER auto bracket(CxOf<Caps...> cx, Acquire acquire, Use use, Release release)
    -> Task<typename cx::Bracket<CxOf<Caps...>, Acquire, Use, Release>::Value> {
  using Body = cx::Bracket<CxOf<Caps...>, Acquire, Use, Release>;
  return cx::scope_around(cx, Body{std::move(acquire), std::move(use), std::move(release)}, ScopeOptions{});
}

}  // namespace calm

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
