// line.hpp — the line of those who wait for a primitive: first come, first served, without memory of its own.
// Laws:    CHN-2, CHN-4, CHN-12, CAN-13, LAB-4
// Threads: the tasks of one runtime, whichever worker polls them; see below
// Cancel:  a waiter that is cancelled or dropped leaves; one that was granted and has not run yet passes the grant on
//
// Who is granted is decided when it is granted: from then on the waiter has what it waited for, whether its task was polled
// or not, and nobody can take it meanwhile. So there are two ends of a wait and nothing between them: the grant is used by
// result(), or it goes back to the primitive.
//
// A primitive may also call its first waiter, which keeps its place and takes what it finds when it is polled (CallsWaiters).
//
// Only join(), leave(), grant(), take(), admit() and use() change a line; a primitive decides in the functions that HasLine names.
// Each change tells an exploration what it touched: the line, as one resource with its primitive.
//
// Several workers. A primitive has one short lock, that of its first line, and a Line::Turn is the only way to it; where the
// runtime has one worker a turn is a branch, and where one of several works while the others sleep it is two writes. The rules:
//   * Lines, waiters in them and the state of the primitive are touched in a turn. What HasLine names is called in one.
//   * `place` alone is looked at outside: only the waiter's own task makes it `outside`, and only it leaves that.
//   * A turn ends before another begins: nobody has the turns of two primitives, and no order of them is needed.
//   * No code of the user's runs in a turn. Values are made, copied, moved and destroyed in places that are one task's alone
//     at that moment. Two exceptions: a value in the frame of a sender which may end meanwhile (rendezvous), and one that
//     takes the place of another which somebody may have been granted (eviction). These are moved in the turn, and such a
//     move must not use the channel.
//   * What a wake leads to is Host::schedule(), which never comes back here.
// Lifetime: the last thing that an operation does to a primitive is to end its turn, and who was granted has a turn before it
// goes on, or when it takes what it was granted. So by then the one who granted it has let go of the primitive, and it may end it.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include "calm/check/require.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/port.hpp"
#include "calm/cx/task_root.hpp"
#include "calm/lockfree/relaxed.hpp"
#include "calm/lockfree/turn.hpp"
#include "calm/model/fold.hpp"
#include "calm/model/id.hpp"
#include "calm/trace/event.hpp"
#include "calm/trace/resource.hpp"

namespace calm::sync {

enum class Place : std::uint8_t {
  outside,  ///< not in line: it has not come yet, has left, or has used its grant
  waiting,
  granted,  ///< it has what it came for, and has not used it yet
};

class Waiter;

/// What the line knows of one who waits.
class InLine {
 public:
  InLine(const InLine&) = delete;
  InLine& operator=(const InLine&) = delete;

  /// Outside a turn it is good for one question: whether it is `outside`; see is_plainly_granted(). Needs: its own task, or a turn.
  [[nodiscard]] Place place() const noexcept { return static_cast<Place>(before_.get() & place_bits); }
  /// The primitive notes that it is granted in the other of two ways, as it understands them. Needs: a turn.
  void set_other_way() noexcept { before_.set(before_.get() | other_way_bit); }
  /// Needs: its own task, or a turn.
  [[nodiscard]] bool is_other_way() const noexcept { return (before_.get() & other_way_bit) != 0; }
  /// Gives: true when it is granted, and not in the other way. Needs: its own task; where that has no turn, it has one before it
  ///        touches what was granted or ends the wait: by then who granted it has let go of the line.
  [[nodiscard]] bool is_plainly_granted() const noexcept {
    return (before_.get() & bits) == static_cast<std::uintptr_t>(Place::granted);
  }

 protected:
  InLine() noexcept = default;
  ~InLine() = default;

 private:
  friend class Line;
  // A waiter is aligned to a pointer, which leaves three bits of one.
  static constexpr std::uintptr_t place_bits = 3;
  static constexpr std::uintptr_t other_way_bit = 4;
  static constexpr std::uintptr_t bits = place_bits | other_way_bit;

  void set_place(Place place) noexcept {
    before_.set((before_.get() & ~place_bits) | static_cast<std::uintptr_t>(place));
  }
  [[nodiscard]] Waiter* before() const noexcept {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): it is one, but for the bits
    return reinterpret_cast<Waiter*>(before_.get() & ~bits);
  }
  void set_before(Waiter* waiter) noexcept {
    before_.set(reinterpret_cast<std::uintptr_t>(waiter) | (before_.get() & bits));
  }

  lockfree::Relaxed<std::uintptr_t>
      before_;  // in a turn, but for the step that use() is; its last bits are not the address's
  Waiter* after_ = nullptr;
};

/// One who waits, or has been granted. It lives in the awaiting frame, and a million of them may: so it does not say again what its
/// context says, whose wait it is.
class Waiter : public cx::Wait, public InLine {
 public:
  /// Gives: the task that waits, or has been granted.
  [[nodiscard]] TaskId task() const noexcept { return context()->root()->id(); }

 protected:
  /// Needs: a context of the task in whose frame it is.
  explicit Waiter(const cx::Context* context) noexcept : Wait(context) {}
  ~Waiter() { CALM_REQUIRE(CHN_4, place() == Place::outside, task().bits()); }
};

/// One that wants so many of what the primitive has.
class WaiterForMany : public Waiter {
 public:
  [[nodiscard]] std::uint32_t wants() const noexcept { return wants_; }

 protected:
  explicit WaiterForMany(const cx::Context* context, std::uint32_t wants = 1) noexcept
      : Waiter(context), wants_(wants) {}
  ~WaiterForMany() = default;

 private:
  std::uint32_t wants_;
};

/// What those who wait for a primitive are; it says so where that is not a Waiter.
template <class P>
struct WaiterFor {
  using Type = Waiter;
};

class Line {
 public:
  /// From its beginning to its end the primitive is the caller's alone. Needs: it has no turn of this or another primitive.
  class Turn : public lockfree::CompanyTurn {
   public:
    [[gnu::always_inline]] explicit Turn(const Line& line) noexcept
        : lockfree::CompanyTurn(line.port_->company(), *line.lock_) {}
  };

  /// Needs: the context of the code that makes the primitive, in the frame where it lives or for that frame; the runtime
  ///        outlives the line.
  explicit Line(CxOf<> cx) noexcept
      : port_(&cx::context_of(cx).root()->port()), resource_(port_->new_object()), lock_(&own_lock_) {}
  /// A second line of the same primitive: both are one resource, with one lock.
  struct Beside {
    const Line& first;
  };
  explicit Line(Beside beside) noexcept
      : port_(beside.first.port_), resource_(beside.first.resource_), lock_(beside.first.lock_) {}
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  /// Needs: nobody waits.
  ~Line() { CALM_REQUIRE(CHN_12, first_ == nullptr, first_->task().bits()); }

  [[nodiscard]] cx::Port& port() const noexcept { return *port_; }
  /// Gives: true when others may come at the same time.
  [[nodiscard]] bool is_shared() const noexcept { return port_->is_shared(); }
  /// A turn that costs next to nothing, for what is done most often. Gives: false when others may be there: then it takes a
  /// Turn. end_short_turn() is the last that is done to the line.
  [[nodiscard, gnu::always_inline]] bool begin_short_turn() const noexcept {
    lockfree::Company<>* const company = port_->company();
    return company == nullptr || company->begin_alone();
  }
  [[gnu::always_inline]] void end_short_turn() const noexcept {
    if (lockfree::Company<>* const company = port_->company()) company->end_alone();
  }
  /// Gives: `there`; the short turn goes on if so.
  [[nodiscard, gnu::always_inline]] bool keep_short_turn_if(bool there) const noexcept {
    if (!there) end_short_turn();
    return there;
  }
  /// Gives: the worker that does all that is done here, while nobody follows it; nullptr when there are others or somebody does.
  [[nodiscard]] cx::Port::Worker* only_worker() const noexcept { return resource_ ? nullptr : port_->only_worker(); }
  /// Gives: the task that runs, which does what is done to the line.
  [[nodiscard]] TaskId running() const noexcept { return port_->here().running(); }
  /// Gives: what the primitive is called in footprints; nothing where nobody asks.
  [[nodiscard]] trace::ResourceId resource() const noexcept { return resource_; }

  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  /// Gives: how many wait.
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  /// Gives: who waits longest; nullptr when nobody does.
  [[nodiscard]] Waiter* first() const noexcept { return first_; }
  /// Gives: who came next after this one. Needs: it waits here.
  [[nodiscard]] static Waiter* after(const Waiter& waiter) noexcept { return waiter.after_; }

  /// The running step looked at the primitive, or changed it: for changes that are none of the line's.
  void reads() const noexcept { touch(trace::Access::read); }
  void writes() const noexcept { touch(trace::Access::write); }

  /// To the end of the line. Needs: outside.
  void join(Waiter& waiter, TaskId task) noexcept {
    CALM_REQUIRE(CHN_2, waiter.place() == Place::outside, task.bits());
    CALM_SLOW(CHN_2, waiter.task() == task, task.bits(), waiter.task().bits());
    waiter.set_before(last_);
    waiter.set_place(Place::waiting);
    waiter.after_ = nullptr;
    (last_ == nullptr ? first_ : last_->after_) = &waiter;
    last_ = &waiter;
    ++size_;
    writes();
  }

  /// Out of the line without a grant. Needs: it waits here.
  void leave(Waiter& waiter) noexcept {
    unlink(waiter);
    waiter.set_place(Place::outside);
    writes();
  }

  /// Out of the line with what it waited for; its task is woken. Needs: it waits here, and what it is granted is noted.
  void grant(Waiter& waiter) noexcept {
    unlink(waiter);
    waiter.set_place(Place::granted);
    writes();
    (void)port_->wake(port_->here(), waiter.task());
  }

  /// Its task is woken to look again; it keeps its place. Needs: it waits here.
  void call(const Waiter& waiter) noexcept {
    writes();
    (void)port_->wake(port_->here(), waiter.task());
  }

  /// Out of the line with what it found when it looked again. Needs: its own task; it waits here.
  void take(Waiter& waiter) noexcept {
    unlink(waiter);
    waiter.set_place(Place::granted);
    writes();
  }

  /// The same for one that never had to wait. Needs: outside.
  void admit(Waiter& waiter, TaskId task) noexcept {
    CALM_REQUIRE(CHN_2, waiter.place() == Place::outside, task.bits());
    CALM_SLOW(CHN_2, waiter.task() == task, task.bits(), waiter.task().bits());
    waiter.set_place(Place::granted);
    writes();
  }

  /// The grant is used, or about to be passed on. Needs: granted, and its own task has seen so in a turn. Nobody else can see
  /// it, so it is no write.
  static void use(Waiter& waiter) noexcept {
    CALM_REQUIRE(CHN_4, waiter.place() == Place::granted, waiter.task().bits());
    waiter.set_place(Place::outside);
  }

 private:
  void touch(trace::Access access) const noexcept {
    if (resource_) [[unlikely]]
      touch_resource(access);
  }
  [[gnu::noinline]] void touch_resource(trace::Access access) const noexcept {
    (void)port_->here().recorder().touch(resource_, access, running());
  }
  void unlink(Waiter& waiter) noexcept {
    CALM_REQUIRE(CHN_4, waiter.place() == Place::waiting, waiter.task().bits());
    Waiter* const before = waiter.before();
    (before == nullptr ? first_ : before->after_) = waiter.after_;
    if (waiter.after_ == nullptr) {
      last_ = before;
    } else {
      waiter.after_->set_before(before);
    }
    waiter.set_before(nullptr);
    waiter.after_ = nullptr;
    --size_;
  }

  cx::Port* port_;
  trace::ResourceId resource_;
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
  std::uint32_t size_ = 0;
  lockfree::TurnLock own_lock_;
  lockfree::TurnLock* lock_;  // of the primitive: that of its first line
};

/// What a primitive decides, each in one step, in a turn that its caller has:
///   line()                where its waiters stand
///   try_admit(w, task)    one comes. True: it has what it came for; the primitive's state says so already
///   refuses(w, task, e)   one that was not admitted: true when it may not wait either, and `e` says why
///   left(w)               one that waited has left: those behind it may be grantable now
///   take_back(w)          a grant was not used: it goes to the next
template <class P>
concept HasLine = requires(P& primitive, const Waiter& waiter, TaskId task, ChildEnd& end) {
  { primitive.line() } noexcept -> std::same_as<Line&>;
  { primitive.try_admit(waiter, task) } noexcept -> std::same_as<bool>;
  { primitive.refuses(waiter, task, end) } noexcept -> std::same_as<bool>;
  { primitive.left(waiter) } noexcept;
  { primitive.take_back(waiter) } noexcept;
};

/// One that calls who waits, to look whether it is free, instead of granting it, decides one thing more:
///   try_again(w)          one that waits was polled. True: it has what it came for; the primitive's state says so already
template <class P>
concept CallsWaiters = requires(P& primitive, const Waiter& waiter) {
  { primitive.try_again(waiter) } noexcept -> std::same_as<bool>;
};

/// One that can be had by one task alone says by which, for who inspects; none when nobody has it, or several do.
template <class P>
concept HasHolder = requires(const P& primitive) {
  { primitive.holder() } noexcept -> std::same_as<TaskId>;
};

/// A wait in the line of a primitive. Who derives from it adds `result()`, which calls use_grant().
template <class P>
class LineWait : public WaiterFor<P>::Type {
  using Base = typename WaiterFor<P>::Type;

 public:
  using CalmSelectable = void;

  LineWait(const cx::Context* context, P* primitive) noexcept : Base(context), primitive_(primitive) {
    static_assert(HasLine<P>);
  }
  LineWait(const cx::Context* context, P* primitive, std::uint32_t wants) noexcept
    requires std::same_as<Base, WaiterForMany>
      : Base(context, wants), primitive_(primitive) {}
  using Base::place;

  /// For Parking: what nobody else has is taken without a suspension.
  [[nodiscard]] bool at_once(cx::TaskRoot& root) noexcept {
    const Line& line = primitive_->line();
    if (!line.begin_short_turn()) return at_once_among_others(root);
    const bool there = at_once_in_turn(root);
    line.end_short_turn();
    return there;
  }
  /// For Parking: the first step, for one that will most likely wait. Gives: true when it stands in the line; false: step()
  /// is asked as always, and says what it would have said. Needs: outside.
  [[nodiscard, gnu::always_inline]] bool joins_line(cx::TaskRoot& root, ChildEnd& end) noexcept {
    const Line& line = primitive_->line();
    if (!line.begin_short_turn()) return step_among_others(root, end) == cx::WaitState::pending;
    const cx::WaitState state = come(root, end);
    line.end_short_turn();
    return state == cx::WaitState::pending;
  }
  cx::WaitState step(cx::TaskRoot& root, ChildEnd& end) noexcept override { return step_of_line(root, end); }
  cx::WaitState cancel(cx::TaskRoot& root, Reason& reason, ChildEnd& end) noexcept override {
    withdraw();
    return Base::cancel(root, reason, end);
  }
  void abandon() noexcept override { withdraw(); }
  [[nodiscard]] trace::ResourceId resource() const noexcept override {
    return place() == Place::waiting ? primitive_->line().resource() : trace::ResourceId();
  }
  [[nodiscard]] TaskId holder() const noexcept override {
    if constexpr (HasHolder<P>) {
      const Line::Turn turn(primitive_->line());
      return place() == Place::waiting ? primitive_->holder() : TaskId();
    }
    return {};
  }

 protected:
  ~LineWait() { withdraw(); }

  [[nodiscard]] P& primitive() const noexcept { return *primitive_; }
  /// What was granted is in the hands of the task from here on. Needs: granted.
  void use_grant() noexcept { Line::use(*this); }
  /// To the end of the line, in a short turn that has gone on since what it is for was seen not to be there; the turn ends.
  [[gnu::always_inline]] void join_and_end_turn(cx::TaskRoot& root) noexcept {
    const Line& line = primitive_->line();
    primitive_->line().join(*this, root.id());
    line.end_short_turn();
  }
  void end_turn() const noexcept { primitive_->line().end_short_turn(); }

  /// step(), for those who have their own around it.
  [[gnu::always_inline]] cx::WaitState step_of_line(cx::TaskRoot& root, ChildEnd& end) noexcept {
    const Line& line = primitive_->line();
    if (!line.begin_short_turn()) return step_among_others(root, end);
    const cx::WaitState state = step_in_turn(root, end);
    line.end_short_turn();
    return state;
  }

  // For those who have more to decide in the same turn, which they have.

  [[nodiscard]] bool at_once_in_turn(cx::TaskRoot& root) noexcept {
    if (!primitive_->try_admit(*this, root.id())) return false;
    primitive_->line().admit(*this, root.id());
    return true;
  }
  cx::WaitState step_in_turn(cx::TaskRoot& root, ChildEnd& end) noexcept {
    if (place() == Place::outside) return arrive(root, end);
    if constexpr (CallsWaiters<P>) {
      if (place() == Place::waiting && primitive_->try_again(*this)) primitive_->line().take(*this);
    }
    return place() == Place::granted ? cx::WaitState::ready : cx::WaitState::pending;
  }
  void withdraw_in_turn() noexcept {
    if (place() == Place::waiting) {
      primitive_->line().leave(*this);
      primitive_->left(*this);
    } else if (place() == Place::granted) {
      Line::use(*this);
      primitive_->line().writes();
      primitive_->take_back(*this);
    }
  }

 private:
  [[gnu::noinline]] bool at_once_among_others(cx::TaskRoot& root) noexcept {
    const Line::Turn turn(primitive_->line());
    return at_once_in_turn(root);
  }
  [[gnu::noinline]] cx::WaitState step_among_others(cx::TaskRoot& root, ChildEnd& end) noexcept {
    const Line::Turn turn(primitive_->line());
    return step_in_turn(root, end);
  }
  [[gnu::noinline]] cx::WaitState arrive(cx::TaskRoot& root, ChildEnd& end) noexcept { return come(root, end); }
  [[gnu::always_inline]] cx::WaitState come(cx::TaskRoot& root, ChildEnd& end) noexcept {
    if (at_once_in_turn(root)) return cx::WaitState::ready;
    if (primitive_->refuses(*this, root.id(), end)) {
      primitive_->line().reads();
      return cx::WaitState::failed;
    }
    primitive_->line().join(*this, root.id());
    return cx::WaitState::pending;
  }

  void withdraw() noexcept {
    if (place() != Place::outside) [[unlikely]]
      withdraw_now();
  }
  [[gnu::noinline]] void withdraw_now() noexcept {
    const Line::Turn turn(primitive_->line());
    withdraw_in_turn();
  }

  P* primitive_;
};

}  // namespace calm::sync
