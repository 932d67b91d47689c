// context.hpp — where a piece of code stands: its task, its innermost scope, and the tighter budgets it runs under.
// Laws:    CTX-1, CAN-7, CAN-12, BUD-3, BUD-4, BUD-5, BUD-6
// Threads: by the task itself, in its own poll
// Cancel:  acknowledge() is where a task learns of it: its own, that of a scope it is in, and that of a budget used up
#pragma once

#include <cstdint>
#include <string_view>

#include "calm/clock/alarm.hpp"
#include "calm/cx/frame.hpp"
#include "calm/model/budget.hpp"
#include "calm/model/error_code.hpp"
#include "calm/model/id.hpp"
#include "calm/model/reason.hpp"
#include "calm/trace/resource.hpp"

namespace calm::cx {

class Crew;
class TaskRoot;
struct Context;

/// What code has put into a frame of a task that the task has to know of. Few tasks have any, so they are all in one list, whose
/// end is the crew that the task belongs to: that one lies in the frame of a scope around, and all of the crew end with it.
class Fixture {
 public:
  enum class Kind : std::uint8_t { limit, scope, stand_in, notes, crew };

  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  template <class F>
  [[nodiscard]] static bool is(const Fixture& fixture) noexcept {
    return fixture.kind_ == F::kind;
  }
  /// Gives: the first one of this kind from here on outwards; nullptr when there is none.
  template <class F>
  [[nodiscard]] static F* first(Fixture* from) noexcept {
    while (from != nullptr && from->kind_ != F::kind) from = from->outer_;
    return static_cast<F*>(from);
  }
  /// Gives: the next one of the same kind outwards in the same task; nullptr when there is none.
  template <class F>
  [[nodiscard]] static F* outer(const F& fixture) noexcept {
    return first<F>(fixture.outer_);
  }

 protected:
  explicit Fixture(Kind kind) noexcept : kind_(kind) {}
  ~Fixture() = default;

 private:
  friend class TaskRoot;
  Fixture* outer_ = nullptr;
  Kind kind_;
};

/// A tighter budget for a part of a task, counted from its making; the poll under way is not counted. It lives in the
/// frame that asked for it. Used up, it ends every wait under it with Deadline, PollQuota or CostBudget, except under a
/// mask that was put on inside. A timeout says Timeout where others say Deadline.
class Limit : public Fixture {
 public:
  static constexpr Kind kind = Kind::limit;

  /// Needs: the context whose budget this is, which need not have begun to live; the task's, and the region where it is said.
  /// Fails: std::bad_alloc; what its reason needs is taken now (HND-3).
  Limit(const Context& of, TaskRoot& root, RegionId region, const Budget& budget,
        CancelKind late = CancelKind::deadline);
  ~Limit();

  /// Gives: the context whose budget it is.
  [[nodiscard]] const Context& of() const noexcept { return of_; }
  /// Gives: what may still be used; the deadline and the priority as they were asked for.
  [[nodiscard]] Budget left() const noexcept;

  [[nodiscard]] bool is_used_up() const noexcept;
  /// Gives: false under a mask inside.
  [[nodiscard]] bool is_observable() const noexcept;
  /// Gives: why it is used up, the same every time. Needs: it is.
  [[nodiscard]] const Reason& reason() const noexcept;

  /// Sets the alarm again that goes off before a deadline more than clock::max_timer away (TMR-2).
  void renew_alarm() const noexcept {
    if (!alarm_.is_armed() && !budget_.deadline.is_none()) arm();
  }

  /// A cost that it does not cover was asked for.
  void refuse_cost() const noexcept { cost_refused_ = true; }

 private:
  friend class TaskRoot;  // which counts
  [[nodiscard]] bool polls_used_up() const noexcept;
  void arm() const noexcept;

  const Context& of_;
  TaskRoot& root_;
  RegionId region_;
  Budget budget_;
  std::uint64_t polls_ = 0;  // that the task has begun since
  std::uint64_t cost_ = 0;
  std::int32_t masks_ = 0;  // put on since, less those taken off
  CancelKind late_;
  mutable bool cost_refused_ = false;
  mutable Reason reason_;
  mutable ReasonReserve reserve_;
  mutable clock::Alarm alarm_;
};

/// A scope whose body runs in the task; it lives in the frame of that scope, around the frames of the body.
struct OpenScope : Fixture {
  static constexpr Kind kind = Kind::scope;

  OpenScope() noexcept : Fixture(kind) {}

  RegionId region{};
  Crew* crew = nullptr;    ///< of its tasks
  Frame* frame = nullptr;  ///< the one that opened it, until its body has ended
};

struct Context : Above {
  /// Gives: where it spawns into.
  [[nodiscard]] RegionId region() const noexcept;
  /// Gives: the context around it; nullptr for the task's own, which lies in its root.
  [[nodiscard]] const Context* outer() const noexcept;

  /// Gives: the reason when the task, a scope of it that this context is in, or a budget of it was cancelled or used up
  ///        and nothing masks that; the task has acknowledged then.
  [[nodiscard]] Reason acknowledge() const;
  /// The same without the task's own cancellation, for who has asked that already.
  [[nodiscard]] Reason acknowledge_around() const;
  /// Only looks.
  [[nodiscard]] bool is_cancelled() const noexcept;
  /// Gives: what all budgets around the code together still allow, without the task's own.
  [[nodiscard]] Budget narrowed() const noexcept;
  /// Gives: the same with the task's own.
  [[nodiscard]] Budget budget() const noexcept;
  /// Fails: budget_exhausted, nothing is used up, and CostBudget is seen from then on (BUD-4, BUD-5).
  Status spend(std::uint64_t cost) const;
  /// Puts a mark of the user's into the trace.
  void mark(std::string_view name, std::uint64_t value) const noexcept;
  /// Gives: the context that this one stands for in the task that runs, see StandIn; itself where it stands for none.
  [[nodiscard]] const Context& in_running_task() const noexcept;

 protected:
  using Above::Above;
  ~Context() = default;
};

/// One that is not the task's own.
struct InnerContext : Context {
  /// Needs: the one around it outlives this.
  explicit InnerContext(const Context& its_outer) noexcept : Context(its_outer.root()), around(&its_outer) {}

  [[nodiscard]] TaskRoot* root() const noexcept { return root_elsewhere(); }

  const Context* around;
  RegionId opened{};  ///< by the scope whose context it is; none for others, which are where the one around is
};

inline const Context* Context::outer() const noexcept {
  return is_in_root() ? nullptr : static_cast<const InnerContext*>(this)->around;
}

/// While it lives, code that was made with a context of another task runs in this one: there that context, and those around
/// it, stand for this task's own. `race(cx, load(cx, a), load(cx, b))` makes two Tasks here and runs each as a fiber.
class StandIn : public Fixture {
 public:
  static constexpr Kind kind = Kind::stand_in;

  /// Needs: the context of the running task; that with which the code was made, which outlives this.
  StandIn(const Context& own, const Context& made_with) noexcept;
  ~StandIn();

  [[nodiscard]] const Context& own() const noexcept { return own_; }
  [[nodiscard]] const Context& made_with() const noexcept { return made_with_; }

 private:
  const Context& own_;
  const Context& made_with_;
};

/// Gives: what a mark of this name touches in the trace, the same in every run.
[[nodiscard]] trace::ResourceId mark_resource(std::string_view name) noexcept;

}  // namespace calm::cx
