// cx.hpp — the authority to act: passed in as a parameter, pointer-sized, convertible to less and never to more.
// Laws:    CTX-1, CTX-2, I7, CAN-7
// Threads: used by the task it was given to, in its own poll
// Cancel:  is_cancelled() only looks; checkpoints and waits acknowledge
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "calm/cx/port.hpp"
#include "calm/cx/task_root.hpp"
#include "calm/model/budget.hpp"
#include "calm/model/reason.hpp"

namespace calm {

/// What a context may allow; a capability is a type (CTX-2).
namespace cap {
// NOLINTBEGIN(readability-identifier-naming): a capability reads as a word, cap::time
struct time {};
struct spawn {};
struct fiber {};
struct io {};
struct remote {};
struct supervise {};
struct entropy {};
struct trace {};
// NOLINTEND(readability-identifier-naming)
}  // namespace cap

namespace cx {

/// Where in the tree a piece of code stands: its task, and the innermost scope it runs in.
struct Context {
  TaskRoot* root = nullptr;
  RegionId region{};               ///< where it spawns into
  const Context* outer = nullptr;  ///< the context of the scope around it; none at the task's own region

  /// Gives: the reason when the task, or a scope of it that this context is in, was cancelled and nothing masks that; the
  ///        task has acknowledged then.
  [[nodiscard]] Reason acknowledge() const;
  /// Only looks.
  [[nodiscard]] bool is_cancelled() const noexcept;
};

template <class Cap, class... Caps>
inline constexpr bool has_cap = (std::same_as<Cap, Caps> || ...);

struct ContextAccess;

}  // namespace cx

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

  [[nodiscard]] RegionId region() const noexcept { return context_->region; }
  [[nodiscard]] TaskId task() const noexcept { return context_->root->id(); }
  [[nodiscard]] Time now() const noexcept { return context_->root->worker().now(); }
  /// Gives: what is left of the task's budget.
  [[nodiscard]] Budget budget() const noexcept {
    return context_->root->port().budget_of(task()).value_or(Budget::zero());
  }
  /// Only looks (CAN-7).
  [[nodiscard]] bool is_cancelled() const noexcept { return context_->is_cancelled(); }

  /// Uses up cost. Fails: budget_exhausted, and CostBudget is requested (BUD-5).
  Status spend(std::uint64_t cost) const {
    return context_->root->port().spend(context_->root->worker(), task(), cost);
  }

  /// A number from the runtime's own source: the same in every run of the lab with the same seed.
  [[nodiscard]] std::uint64_t entropy() const noexcept
    requires allows<cap::entropy>
  {
    return context_->root->port().entropy(context_->root->worker());
  }

 private:
  template <class...>
  friend class CxOf;
  friend struct cx::ContextAccess;
  const cx::Context* context_;
};

/// Every capability.
using Cx = CxOf<cap::time, cap::spawn, cap::fiber, cap::io, cap::remote, cap::supervise, cap::entropy, cap::trace>;
static_assert(sizeof(Cx) == sizeof(void*) && std::is_trivially_copyable_v<Cx>);

namespace cx {

/// For the rooms that build on cx: the context behind a Cx.
struct ContextAccess {
  template <class... Caps>
  static const Context& of(CxOf<Caps...> cx) noexcept {
    return *cx.context_;
  }
};

template <class... Caps>
const Context& context_of(CxOf<Caps...> cx) noexcept {
  return ContextAccess::of(cx);
}

}  // namespace cx
}  // namespace calm
