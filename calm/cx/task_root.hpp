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
#include <type_traits>
#include <utility>

#include "calm/check/require.hpp"
#include "calm/cx/context.hpp"
#include "calm/cx/frame.hpp"
#include "calm/cx/handover.hpp"
#include "calm/cx/shell_owners.hpp"
#include "calm/cx/wait_base.hpp"
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

/// The outer shell of a task: its chain of frames, and what the frames need to know of the world.
class TaskRoot : private Context {
 public:
  explicit TaskRoot(Port& port) noexcept;
  TaskRoot(const TaskRoot&) = delete;
  TaskRoot& operator=(const TaskRoot&) = delete;

  [[nodiscard]] Port& port() const noexcept { return port_of_root(); }
  /// Gives: the root that this lies in. Needs: it is the context of a task.
  static TaskRoot& around(const Above& context) noexcept {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): a context is const for those who have it, its task is not
    return const_cast<TaskRoot&>(static_cast<const TaskRoot&>(context));
  }
  /// Gives: where its outermost code stands.
  [[nodiscard]] const Context& context() const noexcept { return *this; }
  /// Gives: the region that it was admitted to; none before, and when the kernel has let it go.
  [[nodiscard]] RegionId region() const noexcept;
  /// Gives: none before it was admitted.
  [[nodiscard]] TaskId id() const noexcept { return id_.get(); }
  /// The kernel has taken it. On another worker its first poll may say so at the same time.
  void set_id(TaskId id) noexcept { id_.set(id); }
  /// Gives: the worker that polls it; while it is parked, that of this thread, for fibers act in scopes of the task outside. Needs:
  ///        a poll of a task.
  [[nodiscard]] kernel::Worker& worker() const noexcept;
  /// The same for who knows that it runs. Needs: a poll of this task.
  [[nodiscard]] kernel::Worker& own_worker() const noexcept {
    CALM_SLOW(SHD_6, is_worker(runs_or_waits_.get()), id().bits());
    return worker_in(runs_or_waits_.get());
  }
  /// Gives: true when a worker has polled it and may do so again.
  [[nodiscard]] bool was_polled() const noexcept { return !has_end() && polled_.get() != 0; }
  /// Gives: the worker that polls it now; nullptr while none does.
  [[nodiscard]] kernel::Worker* polled_by() const noexcept {
    const std::uint64_t bits = runs_or_waits_.get();
    if (!is_worker(bits)) return nullptr;
    kernel::Worker& worker = worker_in(bits);
    return worker.running() == id() ? &worker : nullptr;
  }
  /// Gives: true in a poll of this task.
  [[nodiscard]] bool is_running() const noexcept { return polled_by() != nullptr; }

  /// The task has no frame yet. Needs: one that was never started; it is this object's from now on.
  void start_with(Frame& frame) noexcept {
    CALM_SLOW(TSK_5, live_.leaf == nullptr && frame.above == nullptr);  // a Task gives its frame away once
    frame.above = this;
    live_.leaf = &frame;
  }

  enum class Progress : std::uint8_t {
    parked,
    again,  ///< parked, and to be polled again after others
    ended,
  };
  /// Runs the task until it parks or ends. Needs: the kernel said `run`.
  [[nodiscard]] Progress poll(kernel::Worker& worker, TaskId id) noexcept;
  /// The same without a call, for a loop that polls one after the other, or for the first poll. Defined in drive.hpp, as what
  /// follows.
  template <bool first = false>
  [[nodiscard]] Progress poll_here(kernel::Worker& worker) noexcept;
  /// Gives: true when it gave way, and there is nothing to see by now; `stamp` is the kernel's, as Port::cancel_stamp() says.
  [[nodiscard]] bool only_gave_way(std::uint64_t stamp) const noexcept {
    return stand_ == Stand::gave_way && live_.quiet_at == stamp;
  }
  /// As poll_here(). Needs: only_gave_way(), this worker polled it last, and the kernel said `run`. Gives: true when that is all
  ///        it does again; false: after_frames() says what it does.
  [[nodiscard]] bool poll_after_yield(kernel::Worker& worker) noexcept;
  [[nodiscard]] Progress after_frames() noexcept;

  /// Asks the wait that it is parked at once more and stays there, whatever the answer: for one who looks for lost wakes.
  /// Needs: parked; the kernel said `run`, and end_poll() follows.
  [[nodiscard]] WaitState ask(kernel::Worker& worker) noexcept;

  /// Its frames are to be dropped. Gives: false while a call uses what lies in them, see Wait::take_back(). Needs: its poll, before
  ///        the kernel says what to do.
  [[nodiscard]] bool take_frames_back() noexcept;

  /// Destroys the frames of the body of the innermost open scope, innermost first; the frame that opened it and all further
  /// out stay parked. Needs: the kernel said `unwind`. Gives: the region of the scope, whose body has ended so.
  [[nodiscard]] RegionId drop_inside_scope(kernel::Worker& worker, TaskId id) noexcept;

  /// Destroys the frames, innermost first. Needs: the kernel said `drop`.
  void drop(kernel::Worker& worker, TaskId id) noexcept;

  /// Needs: ended. Gives: true when it gave a value and has nothing to say beside it.
  [[nodiscard]] bool ended_plainly() const noexcept { return stand_ == Stand::ended && !noted_; }

  /// Needs: ended, on this worker, which has done nothing else since. Gives: true when it failed as Cancelled and has nothing to
  ///        say beside it.
  [[nodiscard]] bool ended_cancelled(kernel::Worker& worker) const noexcept {
    return stand_ == Stand::failed && !noted_ && worker.failure().is_cancelled() && worker.failure().notes().empty();
  }

  /// Needs: the same. Gives: how, without its value; once.
  [[nodiscard]] ChildEnd take_end(kernel::Worker& worker) noexcept;

  /// Takes the end that the kernel makes of it, for whoever joins. Needs: ended or dropped, and it has left its crew; before the
  /// kernel completes it. Gives: it, as it is stored.
  const ChildEnd& store(ChildEnd&& end) noexcept;

  /// The kernel is about to hear of its end, which is not a plain one. Gives: true when somebody may still ask how it ended.
  [[nodiscard]] virtual bool about_to_end() noexcept = 0;

  /// The kernel has let the task go: the shell may end with this call.
  void let_go() noexcept {
    if (owners_.release()) end_shell();
  }
  /// The same while this thread joins it: whoever joins has the handle, and keeps it until the join is over.
  void let_go_to_joiner() noexcept {
    const bool last = owners_.release_alone();
    CALM_SLOW(TSK_3, !last, id().bits());
    (void)last;
  }

  /// Gives: true before the first poll of a task whose callable is with its shell: it has no frame yet.
  [[nodiscard]] bool is_to_be_called() const noexcept { return keeps_ && leaf() == nullptr; }

  /// For people; empty when the spawner gave none.
  [[nodiscard]] std::string_view name() const noexcept {
    return owners_.has_name() ? reinterpret_cast<const Name*>(this)[-1].text : std::string_view();
  }
  /// Few tasks have one: it lies in front of the shell then, in the same block. The characters outlive the task.
  struct alignas(16) Name {
    std::string_view text;
  };

  /// A fiber stays on the worker where it was spawned (TSK-4).
  void become_fiber(std::uint16_t worker) noexcept { pin(worker); }
  /// Gives: true when only its home may poll it: a fiber, and a task while a scope of it has fibers (TSK-4). It changes in
  ///        polls of the task only, so who is about to put it into a queue sees what holds until its next poll.
  [[nodiscard]] bool is_pinned() const noexcept { return (polled_on_.get() & pinned_bit) != 0; }
  /// Gives: the worker that it is pinned to. Needs: is_pinned().
  [[nodiscard]] std::uint16_t home() const noexcept { return polled_on_.get() & nowhere; }
  /// It stays on this worker, which polls it, until unpin() was called as often. Needs: not pinned to another.
  void pin(std::uint16_t worker) noexcept {
    CALM_REQUIRE(TSK_4, (!is_pinned() || home() == worker) && pins_ != UINT16_MAX && worker < nowhere, id().bits(),
                 worker);
    ++pins_;
    polled_on_.set(worker | pinned_bit);
  }
  void unpin() noexcept {
    if (--pins_ == 0) polled_on_.set(home());
  }

  /// Gives: true when another worker than this one polled it last.
  [[nodiscard]] bool comes_from_another(std::uint16_t worker) const noexcept {
    const std::uint16_t last = polled_on_.get() & nowhere;
    return last != worker && last != nowhere;
  }
  /// Gives: true when this one polled it last, and it is not pinned.
  [[nodiscard]] bool is_free_here(std::uint16_t worker) const noexcept { return polled_on_.get() == worker; }
  /// Needs: the worker that polls it. For one that is pinned that is its home, unless a ghost has something to say.
  void set_polled_on(std::uint16_t worker) noexcept {
    if (polled_on_.get() != worker && !is_pinned()) polled_on_.set(worker);
  }

  /// The crew it belongs to: it leaves when its frames are gone, before it is completed.
  void join_crew(Crew& crew) noexcept;
  [[nodiscard]] Crew* crew() const noexcept;
  /// The same. Needs: !has_fixtures(), as when its frames are gone.
  [[nodiscard]] Crew* only_crew() const noexcept;
  void forget_crew() noexcept { live_.fixtures = nullptr; }
  void leave_crew(kernel::Worker& worker) noexcept;

  /// From put_up() to take_down() the fixture is the task's, the innermost first. Needs: it stays where it is.
  void put_up(Fixture& fixture) noexcept;
  void take_down(const Fixture& fixture) noexcept;

  /// Where code runs that was made in another task; nullptr where none does.
  [[nodiscard]] const StandIn* stand_in() const noexcept { return Fixture::first<StandIn>(live_.fixtures); }

  // What work that ended with a value has to say beside it (OUT-5): for the next who asks with outcome(), or for the end.
  void add_notes(const Notes& notes) noexcept {
    if (!notes.empty()) [[unlikely]]
      keep_notes(notes);
  }
  /// Gives: those there were.
  [[nodiscard]] Notes exchange_notes(const Notes& notes) noexcept {
    Notes before = noted_ ? take_notes() : Notes();
    add_notes(notes);
    return before;
  }

  /// Gives: true when the task, and whatever scope it has open, was found uncancelled and nothing was cancelled since, in the
  ///        whole runtime (K2). Then a checkpoint has nothing to see.
  [[nodiscard]] bool is_quiet() const noexcept;
  /// It was found so, after the stamp was read. Needs: no walk ran after that; no limits.
  void found_quiet(std::uint64_t stamp) noexcept { live_.quiet_at = stamp; }
  /// Gives: true when code of it has put up something.
  [[nodiscard]] bool has_fixtures() const noexcept;
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
  /// Gives: what it is parked at; nullptr while it runs, where it gave way, and before it has begun.
  [[nodiscard]] const Wait* wait() const noexcept { return has_end() ? nullptr : live_.wait; }
  /// Gives: a number that is higher after each await point that it comes to, those included that were ready at once, and after
  ///        each poll; after 2^24 of those it begins again.
  [[nodiscard]] std::uint32_t awaits() const noexcept { return awaits_; }
  /// Gives: how many times it was polled or has parked, modulo 2^24.
  [[nodiscard]] std::uint32_t moves() const noexcept { return awaits_ / one_move; }
  /// Gives: the place of the last of them that its innermost frame came to; nothing where that came to none yet.
  [[nodiscard]] std::source_location last_await() const noexcept { return last_await_.get(); }
  /// Gives: when its last poll began, by the worker's clock, to a millisecond or so; nothing before the first one, and
  ///        nonsense after seven weeks.
  [[nodiscard]] std::optional<Time> last_poll(Time now) const noexcept {
    const std::uint32_t began = polled_.get();
    if (began == 0) return std::nullopt;
    const std::uint32_t ago = kernel::Worker::tick_of(now) - began;
    if (ago > UINT32_MAX - UINT16_MAX) return now;  // the clock of another worker is a little ahead
    return now - Duration::nanoseconds(std::int64_t{ago} << kernel::Worker::tick_bits);
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
  [[nodiscard]] bool is_outermost(const Frame& frame) const noexcept {
    CALM_SLOW(TSK_5, frame.root() == this, id().bits());
    return frame.above->is_in_root();
  }
  /// Gives: what awaits the frame; nullptr for the outermost. Needs: a frame of this task.
  [[nodiscard]] FrameAwaiter* awaiter_of(const Frame& frame) const noexcept {
    return is_outermost(frame) ? nullptr : static_cast<FrameAwaiter*>(frame.above);
  }

  /// The frame suspends here; it goes on when the wait says so.
  void park(Frame& frame, Wait& wait) noexcept {
    CALM_SLOW(TSK_5, live_.leaf == &frame, id().bits());
    live_.wait = &wait;
    stand_ = Stand::arrived;
    awaits_ += one_move;
  }
  /// Gives: true when the wait that the frame has just parked at may be asked by the frame: nobody else could tell the
  ///        difference, and it is not one that only the next poll would ask (SCH-10).
  [[nodiscard]] bool may_ask_now() const noexcept { return is_quiet() && ready() + 1U < ready_in_a_row; }
  /// It was asked so and said pending.
  void stands_in_line(const Wait& wait, trace::ResourceId resource) noexcept;
  /// Gives: where a wait that is asked says how it failed.
  [[nodiscard]] ChildEnd& end_of_wait() noexcept { return failure(); }
  /// The wait that is being asked only lets others run first. It says pending then.
  void ask_for_another_poll() noexcept;
  /// The frame lets others run first, in the context of the task itself: it goes on in the next poll, unless there is something
  /// to see by then, and there is no wait before that. Needs: is_quiet().
  void give_way(Frame& frame) noexcept {
    CALM_SLOW(TSK_5, live_.leaf == &frame && live_.wait == nullptr, id().bits());
    (void)frame;
    stand_ = Stand::gave_way;
  }  // the next poll is a move
  /// The same in another context of the task, which the wait knows.
  void give_way_inside(Frame& frame, Wait& wait) noexcept {
    CALM_SLOW(TSK_5, live_.leaf == &frame, id().bits());
    (void)frame;
    live_.wait = &wait;
    stand_ = Stand::gave_way_inside;
  }
  /// Gives: true when the running frame may go on at an await point that is ready, without a suspension (SCH-10).
  [[nodiscard]] bool may_pass() const noexcept { return ready() < ready_in_a_row; }
  /// It does. Needs: may_pass().
  void pass() noexcept { ++awaits_; }
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
    failure() = std::move(end);
  }
  /// The frame has ended. Gives: true when it was the outermost one and has given a value: the task has ended with that, and
  ///        the frame goes at once, what is still in it first.
  [[nodiscard]] static bool goes_with(const Frame& frame) noexcept {
    if (!frame.above->is_in_root()) return false;
    TaskRoot& root = around(*frame.above);
    if (root.stand_ == Stand::failed) [[unlikely]]
      return false;
    root.stand_ = Stand::ended;
    root.live_.leaf = nullptr;
    return true;
  }
  /// Gives: what await_suspend gives when a frame has ended. Needs: !goes_with().
  auto finish(Frame& frame) noexcept {
    // One that has failed is for the loop in poll_here().
    if (stand_ == Stand::failed) [[unlikely]] {
      live_.leaf = &frame;
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
    std::size_t stand, over, context, leaf, wait, last_await, runs_or_waits, named, named_bit, name_before;
  };
  static consteval Offsets offsets() noexcept;

  /// How many waits in a row may be ready at once before the task gives way to others (SCH-10).
  static constexpr std::uint32_t ready_in_a_row = 128;
  static constexpr std::size_t usual_frame = 256;

 protected:
  /// Nobody owns it any more.
  virtual void end_shell() noexcept = 0;

  [[gnu::always_inline]] ~TaskRoot() {
    CALM_SLOW(OUT_5, !noted_, id().bits());
    if (has_end()) std::destroy_at(&end_);
  }

  /// A task may begin without a frame: what there is to call is kept beside its shell until the frames are gone (TSK-5).
  void keep_callable() noexcept { keeps_ = true; }
  [[nodiscard]] bool keeps_callable() const noexcept { return keeps_; }
  /// Calls it, in the first poll: start_with() follows from that. Fails: what the callable throws; std::bad_alloc.
  virtual void call_it() {}
  virtual void drop_callable() noexcept {}

  /// Gives: false when it has ended plainly, or not at all yet.
  [[nodiscard]] bool has_end() const noexcept { return stand_ == Stand::over; }
  /// Gives: how the task ended. Needs: has_end().
  [[nodiscard]] const ChildEnd& stored_end() const noexcept { return end_; }

 private:
  static bool is_worker(std::uint64_t bits) noexcept { return bits - 1 < holds_id - 1; }
  static kernel::Worker& worker_in(std::uint64_t bits) noexcept {
    return *reinterpret_cast<kernel::Worker*>(bits);  // NOLINT(performance-no-int-to-ptr): it was made from one
  }
  /// Needs: a poll of this task. Gives: what the worker knows of how it fails.
  [[nodiscard]] ChildEnd& failure() const noexcept { return own_worker().failure(); }
  void be_with(kernel::Worker& worker) noexcept { runs_or_waits_.set(reinterpret_cast<std::uintptr_t>(&worker)); }
  /// Needs: the root knows this id, or the poll is the last one.
  void enter(kernel::Worker& worker, TaskId id) noexcept {
    worker.set_running(id);
    be_with(worker);
    polled_.set(worker.tick());
  }
  /// What comes next for the task, once its frames have given control back.
  enum class Stand : std::uint8_t {
    arrived,          ///< at a wait that was not asked yet
    waits,            ///< at a wait that was asked and said pending
    gave_way,         ///< it wants another poll, and there is nothing to ask then
    gave_way_inside,  ///< the same, at a wait that knows where
    failed,  ///< a frame ends, or has ended, otherwise than with a value, and the worker knows how: those around it are left;
             ///< where none is left, the task has ended so
    ended,  ///< the outermost frame has ended with a value
    over,   ///< it has ended, and how is stored
  };
  [[nodiscard]] bool is_between_yields() const noexcept {
    return stand_ == Stand::gave_way || stand_ == Stand::gave_way_inside;
  }
  Progress parked() noexcept {
    if (!again_) return Progress::parked;
    again_ = false;
    return Progress::again;
  }
  void count_for_limits() noexcept;
  void count_mask(std::int32_t more) noexcept;
  WaitState publish(WaitState state) noexcept;
  /// Gives: what others may know of a wait, as runs_or_waits_ keeps it.
  static std::uint64_t what_ends(const Wait& wait, trace::ResourceId resource) noexcept {
    if (resource) return resource.bits();
    const TaskId holder = wait.holder();
    return holder ? holder.bits() | holder_bit : 0;
  }
  void keep_notes(const Notes& notes) noexcept;
  Notes take_notes() noexcept;
  Awaiter* destroy_leaf() noexcept;
  bool unwind_to_asker() noexcept;
  bool has_first_frame() noexcept {
    if (live_.leaf != nullptr) [[likely]]
      return true;
    return make_first_frame();
  }
  bool make_first_frame() noexcept;
  void let_callable_go() noexcept;
  void destroy_up_to(const Frame* outer) noexcept;
  WaitState ask_wait() noexcept;
  WaitState ask_after_giving_way() noexcept;
  WaitState ask_plainly() noexcept;
  template <bool first>
  void begin_poll_here(kernel::Worker& worker) noexcept;
  void count_move() noexcept { awaits_ = awaits_ - ready() + one_move; }
  bool tell_frame(WaitState state) noexcept;
  Progress go_on() noexcept;

  // First what every poll touches.
  /// What a task has that has not ended.
  struct Live {
    Frame* leaf = nullptr;
    Wait* wait = nullptr;
    std::uint64_t quiet_at = 0;   // no stamp is 0
    Fixture* fixtures = nullptr;  // innermost first; the last ones are its notes and its crew
  };
  static_assert(sizeof(Live) <= sizeof(ChildEnd) && std::is_trivially_destructible_v<Live>);
  // NOLINTBEGIN(readability-identifier-naming): private as the others
  union {
    Live live_;
    ChildEnd end_;  // instead, when it has_end()
  };
  // NOLINTEND(readability-identifier-naming)
  lockfree::Relaxed<TaskId> id_;
  // Its last byte: waits in a row that were ready at once, in this poll; above: moves, which are polls begun, and parks.
  std::uint32_t awaits_ = 0;
  static constexpr std::uint32_t one_move = std::uint32_t{1} << CHAR_BIT;
  static_assert(ready_in_a_row < one_move - 1);
  [[nodiscard]] std::uint32_t ready() const noexcept { return awaits_ % one_move; }
  static constexpr std::uint16_t pinned_bit = 0x8000;
  static constexpr std::uint16_t nowhere = 0x7fff;
  lockfree::Relaxed<std::uint32_t> polled_;  // when its last poll began, as Worker::tick(); 0 before the first one
  std::uint16_t pins_ = 0;
  lockfree::Relaxed<std::uint16_t> polled_on_{nowhere};  // the worker, and whether it is its home
  Stand stand_ = Stand::waits;
  bool again_ : 1 = false;     // the wait that is being asked wants another poll when this one is over
  bool limited_ : 1 = false;   // a Limit is among the fixtures
  bool keeps_ : 1 = false;     // a callable
  bool noted_ : 1 = false;     // its notes are among the fixtures; where they are not, there was no memory for them
  std::uint8_t gave_ : 4 = 0;  // all there is left, so that all is set at once

 protected:
  // What belongs to those that derive from this, and has room here.
  enum class Gave : std::uint8_t { nothing, value, taken };
  /// Gives: what there is of the value that its outermost frame has given.
  [[nodiscard]] Gave gave() const noexcept { return static_cast<Gave>(gave_); }
  void set_gave(Gave gave) noexcept { gave_ = static_cast<std::uint8_t>(gave) & 3U; }
  ShellOwners owners_;

 private:
  lockfree::Relaxed<std::source_location> last_await_{};  // of the innermost frame
  // From the beginning of a poll on, the worker that makes it, as no id can look; from when a wait has said pending: what must
  // happen; with several workers, since frames are not for others to look at, who has that, with the bit set, where one task has it
  // and what it is has no name.
  lockfree::Relaxed<std::uint64_t> runs_or_waits_;
  static constexpr std::uint64_t holds_id = std::uint64_t{1} << 56;  // what names something has a type above this bit
  static constexpr std::uint64_t holder_bit = std::uint64_t{1}
                                              << 62;  // no id and no registered object comes to have it
  [[no_unique_address]] Handover handover_;
};
#if defined(__clang__)
static_assert(sizeof(TaskRoot) == 88, "what a parked task costs beside its record and its frame");
#endif

inline TaskRoot* Above::root() const noexcept { return is_in_root() ? &TaskRoot::around(*this) : root_elsewhere(); }

}  // namespace calm::cx
