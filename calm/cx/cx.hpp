// cx.hpp — the authority to act: passed in as a parameter, pointer-sized, convertible to less and never to more.
// Laws:    CTX-1, CTX-2, I7, CAN-7
// Threads: used by the task it was given to, in its own poll
// Cancel:  is_cancelled() only looks; checkpoints and waits acknowledge
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "calm/cx/capability.hpp"
#include "calm/cx/context.hpp"
#include "calm/cx/port.hpp"
#include "calm/cx/task_root.hpp"
#include "calm/model/budget.hpp"

namespace calm {

namespace cx {
struct ContextAccess;

/// Gives: where code that was given this context acts: in the task that runs.
inline const Context& acting(const Context& context) noexcept {
  return context.root()->is_running() ? context : context.in_running_task();
}
}  // namespace cx

template <class... Caps>
class NarrowedCx;

/// A context with these capabilities. It converts to one with fewer; what was not passed cannot be used.
template <class... Caps>
class CxOf {
 public:
  template <class Cap>
  static constexpr bool allows = cx::has_cap<Cap, Caps...>;

  explicit constexpr CxOf(const cx::Context& context) noexcept : context_(&context) {}

  template <class... More>
    requires((cx::has_cap<Caps, More...> && ...) && !std::same_as<CxOf<More...>, CxOf>)
  constexpr CxOf(CxOf<More...> wider) noexcept : context_(wider.context_) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] RegionId region() const noexcept { return here().region(); }
  [[nodiscard]] TaskId task() const noexcept { return here().root()->id(); }
  [[nodiscard]] Time now() const noexcept {
    const cx::TaskRoot& root = *here().root();
    return root.port().now(root.worker());
  }
  /// Gives: what is left: of the task's budget, and of those that narrow it here.
  [[nodiscard]] Budget budget() const noexcept { return here().budget(); }
  /// Only looks (CAN-7).
  [[nodiscard]] bool is_cancelled() const noexcept { return here().is_cancelled(); }

  /// Uses up cost. Fails: budget_exhausted, and CostBudget is requested (BUD-5).
  Status spend(std::uint64_t cost) const { return here().spend(cost); }

  /// Gives: the same context with less to use: nothing can widen a budget (BUD-3). It lives where it is made, at least as
  ///        long as what it is passed to: `co_await fetch(cx.with_deadline(cx.now() + limit), url)`. Used up, waits under
  ///        it end with Deadline, PollQuota or CostBudget.
  /// Fails: std::bad_alloc.
  [[nodiscard]] NarrowedCx<Caps...> with_budget(const Budget& budget) const {
    return NarrowedCx<Caps...>(here(), budget);
  }
  /// The same for the deadline alone; priority and quotas stay (BUD-6).
  [[nodiscard]] NarrowedCx<Caps...> with_deadline(Time deadline) const {
    return NarrowedCx<Caps...>(here(), tighten(Budget::infinite(), deadline));
  }

  /// Puts a mark into the trace: what a program says of itself, seen by tools and by the lab (COM-3).
  void trace(std::string_view name, std::uint64_t value = 0) const noexcept
    requires allows<cap::trace>
  {
    here().mark(name, value);
  }

  /// A number from the runtime's own source: the same in every run of the lab with the same seed.
  [[nodiscard]] std::uint64_t entropy() const noexcept
    requires allows<cap::entropy>
  {
    const cx::TaskRoot& root = *here().root();
    return root.port().entropy(root.worker());
  }

 private:
  template <class...>
  friend class CxOf;
  friend struct cx::ContextAccess;
  [[nodiscard]] const cx::Context& here() const noexcept { return cx::acting(*context_); }
  const cx::Context* context_;
};

/// Every capability.
using Cx = CxOf<cap::time, cap::spawn, cap::fiber, cap::io, cap::remote, cap::supervise, cap::entropy, cap::trace>;
static_assert(sizeof(Cx) == sizeof(void*) && std::is_trivially_copyable_v<Cx>);

/// What with_budget() gives: a context that lives in the frame of the one who narrowed it.
template <class... Caps>
class [[nodiscard]] NarrowedCx : public CxOf<Caps...> {
 public:
  NarrowedCx(const cx::Context& outer, const Budget& budget)
      : CxOf<Caps...>(context_), limit_(context_, *outer.root(), outer.region(), budget), context_(outer) {}
  NarrowedCx(const NarrowedCx&) = delete;
  NarrowedCx& operator=(const NarrowedCx&) = delete;

 private:
  cx::Limit limit_;
  cx::InnerContext context_;
};

namespace cx {

/// For the rooms that build on cx: the context behind a Cx.
struct ContextAccess {
  template <class... Caps>
  static const Context& of(CxOf<Caps...> cx) noexcept {
    return acting(*cx.context_);
  }
  template <class... Caps>
  static const Context* given(CxOf<Caps...> cx) noexcept {
    return cx.context_;
  }
};

template <class... Caps>
const Context& context_of(CxOf<Caps...> cx) noexcept {
  return ContextAccess::of(cx);
}

/// What a wait is made of instead of a Context, where it may turn out that no wait is needed: where the code acts is found
/// when the wait is made.
class GivenContext {
 public:
  template <class... Caps>
  explicit GivenContext(CxOf<Caps...> cx) noexcept : context_(ContextAccess::given(cx)) {}

  /// Gives: true when the code acts in this context, and it is one of that task. Needs: the task runs.
  [[nodiscard]] bool is_of(const TaskRoot& root) const noexcept {
    return context_ == &root.context() || context_->root() == &root;
  }
  /// Gives: true when that is the task's own, and the frame is the outermost one of that task, as most frames that give way are.
  [[nodiscard]] bool is_that_of(const Frame& frame) const noexcept { return frame.above == context_; }
  /// Gives: it, whoever acts.
  [[nodiscard]] const Context* given() const noexcept { return context_; }
  operator const Context*() const noexcept { return &acting(*context_); }  // NOLINT(google-explicit-constructor)
  /// The same for who knows the task that runs.
  [[nodiscard]] const Context* in(const TaskRoot& running) const noexcept {
    return is_of(running) ? context_ : &context_->in_running_task();
  }

 private:
  const Context* context_;
};

}  // namespace cx
}  // namespace calm
