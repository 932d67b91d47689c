// task_root.hpp — a task as its host sees it: one thing to poll. Runs the chain of frames and leaves it when it fails.
// Laws:    TSK-5, TSK-7, TSK-8, CAN-7, CAN-8, OUT-5
// Threads: poll(), drop_inside_scope() and drop() by whoever polls the task in the kernel's sense; is_pinned(), home() and, with
//          several workers, await_point() by whoever else looks at a task that the kernel has not let go; the rest in its poll
// Cancel:  a wait that is cancelled fails; drop() destroys the frames from the leaf on, never by recursion; before that
//          drop_inside_scope() does it for one open scope after the other
#pragma once

#include <climits>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <string_view>
#include <utility>

#include "calm/check/require.hpp"
#include "calm/cx/context.hpp"
#include "calm/cx/frame.hpp"
#include "calm/cx/shell_owners.hpp"
#include "calm/kernel/host.hpp"
#include "calm/kernel/worker.hpp"
#include "calm/lockfree/relaxed.hpp"
#include "calm/mem/fetch_ahead.hpp"
#include "calm/model/fold.hpp"
#include "calm/model/id.hpp"
#include "calm/model/notes.hpp"
#include "calm/trace/resource.hpp"

namespace calm::cx {

class Crew;
class Port;

/// How control goes from one frame to the next. Where symmetric transfer is a tail call in every build, frames hand over to
/// each other; elsewhere (g++ at low optimisation or with sanitizers, and no macro tells) each suspends and a loop goes on.
class Handover {
 public:
  /// Gives: what await_suspend gives for control to go there.
  auto to(std::coroutine_handle<> frame) noexcept {
#if defined(__clang__)
    return frame;
#else
    next_ = frame;
#endif
  }

  /// Resumes this frame and those that control goes to from there.
  void run(std::coroutine_handle<> frame) noexcept {
    frame.resume();
#if !defined(__clang__)
    while (next_) std::exchange(next_, {}).resume();
#endif
  }

 private:
#if !defined(__clang__)
  std::coroutine_handle<> next_;
#endif
};

/// How a wait stands.
enum class WaitState : std::uint8_t { ready, pending, failed };

/// Something a task can park at: the one kind of suspension there is. It lives in the frame that waits.
class Wait : public Awaiter {
 public:
  /// Needs: the context of the code that waits; with none the wait cannot be cancelled.
  explicit Wait(const Context* context) noexcept : context_(context) {}

  [[nodiscard]] const Context* context() const noexcept { return context_; }

  /// Called when the frame suspends and at every poll after that, until it says something else than pending.
  /// Gives: ready: the frame goes on; pending: who can end the wait knows the task; failed: `end` says how.
  virtual WaitState step(TaskRoot& root, ChildEnd& end) noexcept = 0;

  /// The task was cancelled: leave the line. The reason is the wait's to take.
  /// Gives: failed: the wait ends as `end` says, Cancelled unless it is overridden; ready or pending, as step(), when the
  ///        wait is not to be cancelled.
  virtual WaitState cancel(TaskRoot& root, Reason& reason, ChildEnd& end) noexcept;

  /// Gives: what must happen to something else before this ends: a task that ends, a region that closes, a channel, …
  ///        Nothing when only time ends it, or nothing has to.
  [[nodiscard]] virtual trace::ResourceId resource() const noexcept { return {}; }

  /// Gives: who has that, when it is one task and known: a lock. For who inspects; a wait is not slower for it.
  [[nodiscard]] virtual TaskId holder() const noexcept { return {}; }

 protected:
  ~Wait() = default;

 private:
  const Context* context_;
};

/// A scope whose body runs in the task; it lives in the frame of that scope, around the frames of the body.
struct OpenScope : Fixture {
  static constexpr Kind kind = Kind::scope;

  OpenScope() noexcept : Fixture(kind) {}

  RegionId region{};
  Crew* crew = nullptr;    ///< of its tasks
  Frame* frame = nullptr;  ///< the one that opened it, until its body has ended
};

/// The outer shell of a task: its chain of frames, and what the frames need to know of the world.
class TaskRoot {
 public:
  TaskRoot(Port& port, RegionId region) noexcept;
  TaskRoot(const TaskRoot&) = delete;
  TaskRoot& operator=(const TaskRoot&) = delete;

  [[nodiscard]] Port& port() const noexcept { return port_; }
  /// Gives: where its outermost code stands.
  [[nodiscard]] const Context& context() const noexcept { return context_; }
  [[nodiscard]] RegionId region() const noexcept { return context_.region; }
  [[nodiscard]] TaskId id() const noexcept { return id_; }
  /// Needs: a poll of this task; the worker that makes it.
  [[nodiscard]] kernel::Worker& worker() const noexcept { return *worker_; }
  [[nodiscard]] bool was_polled() const noexcept { return worker_ != nullptr; }
  /// Gives: true in a poll of this task.
  [[nodiscard]] bool is_running() const noexcept { return worker_ != nullptr && worker_->running() == id_; }

  /// Needs: a frame that was never started; it is this object's from now on.
  void start_with(Frame& frame) noexcept;

  enum class Progress : std::uint8_t {
    parked,
    again,  ///< parked, and to be polled again after others
    ended,
  };
  /// Runs the task until it parks or ends. Needs: the kernel said `run`.
  [[nodiscard]] Progress poll(kernel::Worker& worker, TaskId id) noexcept;
  /// The same without a call, for a loop that polls one after the other. Defined in drive.hpp.
  [[nodiscard]] Progress poll_here(kernel::Worker& worker, TaskId id) noexcept;

  /// Asks the wait that it is parked at once more and stays there, whatever the answer: for one who looks for lost wakes.
  /// Needs: parked; the kernel said `run`, and end_poll() follows.
  [[nodiscard]] WaitState ask(kernel::Worker& worker) noexcept;

  /// Destroys the frames of the body of the innermost open scope, innermost first; the frame that opened it and all further
  /// out stay parked. Needs: the kernel said `unwind`. Gives: the region of the scope, whose body has ended so.
  [[nodiscard]] RegionId drop_inside_scope(kernel::Worker& worker, TaskId id) noexcept;

  /// Destroys the frames, innermost first. Needs: the kernel said `drop`.
  void drop(kernel::Worker& worker, TaskId id) noexcept;

  /// Needs: ended. Gives: true when it gave a value and has nothing to say beside it.
  [[nodiscard]] bool ended_plainly() const noexcept { return stand_ == Stand::ended && live_.notes.empty(); }

  /// Needs: ended. Gives: how, when it failed as Cancelled and has nothing to say beside it; otherwise nullptr.
  [[nodiscard]] const ChildEnd* cancelled_end() const noexcept {
    return has_end() && end_.is_cancelled() && end_.notes().empty() ? &end_ : nullptr;
  }

  /// Needs: ended. Gives: how, without its value.
  [[nodiscard]] ChildEnd end() const noexcept { return has_end() ? end_ : with_notes(ok()); }

  /// Takes the end that the kernel makes of it, for whoever joins. Needs: ended or dropped; before the kernel completes it.
  void store(ChildEnd end) noexcept;

  /// The kernel is about to hear of its end, which is not a plain one. Gives: true when somebody may still ask how it ended.
  [[nodiscard]] virtual bool about_to_end() noexcept = 0;

  /// The kernel has let the task go: the shell may end with this call.
  virtual void let_go() noexcept = 0;

  /// For people; empty when the spawner gave none.
  [[nodiscard]] std::string_view name() const noexcept { return {name_, name_size_}; }
  /// Needs: characters that outlive the task; those beyond name_max are not shown.
  void set_name(std::string_view name) noexcept {
    name_ = name.data();
    name_size_ = static_cast<std::uint16_t>(name.size() < name_max ? name.size() : name_max);
  }
  /// A fiber stays on the worker where it was spawned (TSK-4).
  void become_fiber(std::uint16_t worker) noexcept { pin(worker); }
  /// Gives: true when only its home may poll it: a fiber, and a task while a scope of it has fibers (TSK-4). It changes in
  ///        polls of the task only, so who is about to put it into a queue sees what holds until its next poll.
  [[nodiscard]] bool is_pinned() const noexcept { return home_.get() != nowhere; }
  /// Gives: the worker that it is pinned to. Needs: is_pinned().
  [[nodiscard]] std::uint16_t home() const noexcept { return home_.get(); }
  /// It stays on this worker, which polls it, until unpin() was called as often. Needs: not pinned to another.
  void pin(std::uint16_t worker) noexcept {
    CALM_REQUIRE(TSK_4, (!is_pinned() || home() == worker) && pins_ != UINT16_MAX, id_.bits(), worker);
    ++pins_;
    home_.set(worker);
  }
  void unpin() noexcept {
    if (--pins_ == 0) home_.set(nowhere);
  }

  /// Gives: true when another worker than this one polled it last.
  [[nodiscard]] bool comes_from_another(std::uint16_t worker) const noexcept {
    const std::uint16_t last = polled_on_.get();
    return last != worker && last != nowhere;
  }
  /// Needs: the worker that polls it.
  void set_polled_on(std::uint16_t worker) noexcept { polled_on_.set(worker); }

  /// The crew it belongs to: it leaves when its frames are gone, before it is completed.
  void join_crew(Crew& crew) noexcept { crew_ = &crew; }
  [[nodiscard]] Crew* crew() const noexcept { return crew_; }
  void leave_crew(kernel::Worker& worker) noexcept;

  /// From put_up() to take_down() the fixture is the task's, the innermost first. Needs: it stays where it is.
  void put_up(Fixture& fixture) noexcept;
  void take_down(const Fixture& fixture) noexcept;

  /// Where code runs that was made in another task; nullptr where none does.
  [[nodiscard]] const StandIn* stand_in() const noexcept { return Fixture::first<StandIn>(live_.fixtures); }

  // What work that ended with a value has to say beside it (OUT-5): for the next who asks with outcome(), or for the end.
  void add_notes(const Notes& notes) noexcept {
    if (!notes.empty()) live_.notes.merge(notes);
  }
  [[nodiscard]] const Notes& notes() const noexcept { return live_.notes; }
  /// Gives: those there were.
  [[nodiscard]] Notes exchange_notes(Notes notes) noexcept { return std::exchange(live_.notes, std::move(notes)); }

  /// Gives: true when the task, and whatever scope it has open, was found uncancelled and nothing was cancelled since, in the
  ///        whole runtime (K2). Then a checkpoint has nothing to see.
  [[nodiscard]] bool is_quiet() const noexcept;
  /// It was found so, after the stamp was read. Needs: no walk ran after that; no limits.
  void found_quiet(std::uint64_t stamp) noexcept { live_.quiet_at = stamp; }
  // Budgets of parts of it, which count what it uses while they last: they are looked at each time, so a task that has one is
  // never quiet.
  void add_limit(Limit& limit) noexcept;
  void take_limit(const Limit& limit) noexcept;
  [[nodiscard]] const Limit* innermost_limit() const noexcept { return Fixture::first<Limit>(live_.fixtures); }
  [[nodiscard]] bool has_limits() const noexcept { return limited_; }
  void add_spent(std::uint64_t cost) noexcept;
  void add_mask() noexcept {
    if (has_limits()) count_mask(1);
  }
  void take_mask() noexcept {
    if (has_limits()) count_mask(-1);
  }

  /// Gives: the innermost frame, for backtraces; nullptr when all are gone.
  [[nodiscard]] const Frame* leaf() const noexcept { return has_end() ? nullptr : live_.leaf; }
  /// Has the processor fetch its innermost frame.
  void fetch_leaf() const noexcept { mem::fetch_ahead(live_.leaf, usual_frame); }
  /// Gives: what it is parked at; nullptr while it runs, and before it has begun.
  [[nodiscard]] const Wait* wait() const noexcept { return has_end() ? nullptr : live_.wait; }
  /// Gives: how many polls of it were begun, modulo 256: for who wants to know whether there was one.
  [[nodiscard]] std::uint8_t polls() const noexcept { return polls_; }
  /// Gives: a number that is higher after each await point that it comes to, those included that were ready at once; after some
  ///        thousand million parks it begins again.
  [[nodiscard]] std::uint64_t awaits() const noexcept { return (std::uint64_t{parks_} << CHAR_BIT) + ready_; }
  /// Gives: the place of the last of them that its innermost frame came to; nothing where that came to none yet.
  [[nodiscard]] std::source_location last_await() const noexcept { return last_await_.get(); }
  /// Gives: when its last poll began, by the worker's clock, to a millisecond or so; nothing before the first one, and
  ///        nonsense after seven weeks.
  [[nodiscard]] std::optional<Time> last_poll(Time now) const noexcept {
    const std::uint32_t began = polled_.get();
    if (began == 0) return std::nullopt;
    const std::uint32_t ago = tick_of(now) - began;
    if (ago > UINT32_MAX - UINT16_MAX) return now;  // the clock of another worker is a little ahead
    return now - Duration::nanoseconds(std::int64_t{ago} << tick_bits);
  }
  /// Gives: where it stands, for the kernel's people and detectors; with several workers where it parked last, as it was then.
  [[nodiscard]] kernel::AwaitPoint await_point() const noexcept;

  // --- for scopes ---

  /// Gives: the innermost scope whose body runs; nullptr when there is none.
  [[nodiscard]] const OpenScope* innermost_scope() const noexcept { return Fixture::first<OpenScope>(live_.fixtures); }

  /// The running frame opens a scope. Needs: `scope` stays where it is until its body has ended.
  void enter_scope(OpenScope& scope) noexcept {
    scope.frame = live_.leaf;
    put_up(scope);
  }
  /// Its body has ended. Needs: it is the innermost open one.
  void leave_scope(OpenScope& scope) noexcept {
    CALM_REQUIRE(CAN_8, innermost_scope() == &scope);
    scope.frame = nullptr;
    take_down(scope);
  }

  // --- for frames ---

  /// Needs: a frame of this task.
  [[nodiscard]] bool is_outermost(const Frame& frame) const noexcept { return frame.above == &context_; }
  /// Gives: what awaits the frame; nullptr for the outermost. Needs: a frame of this task.
  [[nodiscard]] FrameAwaiter* awaiter_of(const Frame& frame) const noexcept {
    return is_outermost(frame) ? nullptr : static_cast<FrameAwaiter*>(frame.above);
  }

  /// The frame suspends here; it goes on when the wait says so.
  void park(Frame& frame, Wait& wait) noexcept {
    live_.leaf = &frame;
    live_.wait = &wait;
    stand_ = Stand::arrived;
    ++parks_;
  }
  /// Gives: true when the wait that the frame has just parked at may be asked by the frame: nobody else could tell the
  ///        difference, and it is not one that only the next poll would ask (SCH-10).
  [[nodiscard]] bool may_ask_now() const noexcept { return is_quiet() && ready_ + 1U < ready_in_a_row; }
  /// It was asked so and said pending.
  void stands_in_line(const Wait& wait, trace::ResourceId resource) noexcept;
  /// Gives: where a wait that is asked says how it failed.
  [[nodiscard]] ChildEnd& end_of_wait() noexcept { return worker_->failure(); }
  /// The wait that is being asked only lets others run first. It says pending then.
  void ask_for_another_poll() noexcept;
  /// The frame that has just parked only lets others run first. Gives: true when that is all there is to it: it is not asked,
  ///        and goes on in the next poll, unless there is something to see by then.
  [[nodiscard]] bool give_way() noexcept {
    if (!is_quiet()) return false;
    stand_ = Stand::gave_way;
    waits_for_.set({});
    return true;
  }
  /// Gives: true when the running frame may go on at an await point that is ready, without a suspension (SCH-10).
  [[nodiscard]] bool may_pass() const noexcept { return ready_ < ready_in_a_row; }
  /// It does. Needs: may_pass().
  void pass() noexcept { ++ready_; }
  /// The running frame is at this await point: it has come to it, or what it awaited there has ended.
  void stands_at(std::source_location site) noexcept { last_await_.set(site); }
  /// Gives: what await_suspend gives for control to go to a frame that begins.
  auto begin(Frame& frame) noexcept {
    last_await_.set({});
    live_.leaf = &frame;
    return handover_.to(frame.coroutine());
  }
  /// The frame has ended otherwise than with a value.
  void fail(ChildEnd end) noexcept {
    stand_ = Stand::failed;
    worker_->failure() = std::move(end);
  }
  /// Gives: what await_suspend gives when a frame has ended.
  auto finish(Frame& frame) noexcept {
    if (stand_ == Stand::failed || is_outermost(frame)) [[unlikely]] {
      leave(frame);
      return handover_.to(std::noop_coroutine());
    }
    live_.leaf = &static_cast<FrameAwaiter*>(frame.above)->frame;
    return handover_.to(live_.leaf->coroutine());
  }

  /// Calls with the await point of each frame, innermost first; a frame that came to none has a place without a line.
  template <class F>
  void for_each_site(F&& visit) const {
    std::source_location site = last_await_.get();
    for (const Frame* frame = leaf(); frame != nullptr;) {
      visit(site);
      const FrameAwaiter* const above = awaiter_of(*frame);
      if (above == nullptr) return;
      site = above->site;
      frame = &above->frame;
    }
  }

  /// Where its parts lie, for a debugger. Defined where it is used, in live_kernel.cpp.
  struct Offsets {
    std::size_t stand, over, context, leaf, wait, last_await, waits_for, name, name_size;
  };
  static consteval Offsets offsets() noexcept;

  /// How many waits in a row may be ready at once before the task gives way to others (SCH-10).
  static constexpr std::uint32_t ready_in_a_row = 128;
  static constexpr std::size_t name_max = UINT16_MAX;
  static constexpr std::size_t usual_frame = 256;

 protected:
  [[gnu::always_inline]] ~TaskRoot() {
    if (has_end()) {
      std::destroy_at(&end_);
    } else {
      std::destroy_at(&live_);
    }
  }

  /// Gives: false when it has ended plainly, or not at all yet.
  [[nodiscard]] bool has_end() const noexcept { return stand_ == Stand::over; }
  /// Gives: the end that left the outermost frame; from store() on, how the task ended. Needs: has_end().
  [[nodiscard]] const ChildEnd& stored_end() const noexcept { return end_; }
  /// Gives: the end with the notes of the task. Needs: !has_end().
  [[nodiscard]] ChildEnd with_notes(ChildEnd end) const noexcept {
    if (live_.notes.empty()) return end;
    Notes notes = live_.notes;
    notes.merge(end.notes());
    return std::move(end).with_notes(std::move(notes));
  }

 private:
  void enter(kernel::Worker& worker, TaskId id) noexcept {
    worker_ = &worker;
    id_ = id;
    polled_.set(tick_of(worker.now()));
    worker.set_running(id);
  }
  /// What comes next for the task, once its frames have given control back.
  enum class Stand : std::uint8_t {
    arrived,   ///< at a wait that was not asked yet
    waits,     ///< at a wait that was asked and said pending
    gave_way,  ///< at a wait that wants another poll, and need not be asked then
    failed,  ///< a frame ends, or has ended, otherwise than with a value, and the worker knows how: those around it are left
    ended,  ///< the outermost frame has ended with a value
    over,   ///< it has ended, and how is stored
  };
  Progress parked() noexcept { return std::exchange(again_, false) ? Progress::again : Progress::parked; }
  /// Gives: the time in pieces of a millisecond and 5 %, which cost a shift; 0 only once in seven weeks.
  static std::uint32_t tick_of(Time time) noexcept { return static_cast<std::uint32_t>(time.ns() >> tick_bits) + 1; }
  void leave(Frame& frame) noexcept;
  void count_for_limits() noexcept;
  void count_mask(std::int32_t more) noexcept;
  WaitState publish(WaitState state) noexcept;
  Awaiter* destroy_leaf() noexcept;
  bool unwind_to_asker() noexcept;
  void set_end(ChildEnd&& end) noexcept;
  void destroy_up_to(const Frame* outer) noexcept;
  WaitState ask_wait() noexcept;
  WaitState ask_plainly() noexcept;

  // First what every poll touches.
  Port& port_;
  /// What a task has that has not ended.
  struct Live {
    Frame* leaf = nullptr;
    Wait* wait = nullptr;
    std::uint64_t quiet_at = 0;   // no stamp is 0
    Fixture* fixtures = nullptr;  // innermost first
    Notes notes;
  };
  // NOLINTBEGIN(readability-identifier-naming): private as the others
  union {
    Live live_;
    ChildEnd end_;  // instead, when it has_end()
  };
  // NOLINTEND(readability-identifier-naming)
  kernel::Worker* worker_ = nullptr;
  TaskId id_;
  static constexpr std::uint16_t nowhere = UINT16_MAX;
  static constexpr unsigned tick_bits = 20;
  lockfree::Relaxed<std::uint32_t> polled_;  // when its last poll began, as tick_of(); 0 before the first one
  std::uint32_t parks_ = 0;
  std::uint16_t pins_ = 0;
  lockfree::Relaxed<std::uint16_t> home_{nowhere};
  lockfree::Relaxed<std::uint16_t> polled_on_{nowhere};
  std::uint16_t name_size_ = 0;
  std::uint8_t ready_ = 0;  // waits in a row that were ready at once, in this poll
  static_assert(ready_in_a_row < UINT8_MAX);
  std::uint8_t polls_ = 0;
  Stand stand_ = Stand::waits;
  bool again_ = false;    // the wait that is being asked wants another poll when this one is over
  bool limited_ = false;  // a Limit is among the fixtures

 protected:
  // What belongs to those that derive from this, and has room here.
  enum class Gave : std::uint8_t { nothing, value, taken };
  Gave gave_ = Gave::nothing;  // what there is of the value that its outermost frame has given
  ShellOwners owners_;

 private:
  lockfree::Relaxed<std::source_location> last_await_{};  // of the innermost frame
  lockfree::Relaxed<trace::ResourceId> waits_for_;        // of the wait that said pending last
  Context context_;
  Crew* crew_ = nullptr;
  [[no_unique_address]] Handover handover_;
  lockfree::Relaxed<TaskId> held_by_;  // with several workers, of that wait: frames are not for others to look at
  const char* name_ = nullptr;
};

inline const Context* Context::outer() const noexcept {
  return this == &root->context() ? nullptr : static_cast<const InnerContext*>(this)->around;
}

}  // namespace calm::cx
