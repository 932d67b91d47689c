// task_set.hpp — tasks that are started as work comes in and whose ends are taken as they come: dynamic fan-out.
// Laws:    COM-1, I1, I2, I5, CHN-4, CAN-13, OUT-4 (ends that nobody took), TSK-4
// Threads: the tasks of one worker; those of the set are fibers of it
// Cancel:  a waiting spawn() leaves the line and has started nothing, a waiting next() leaves it and has taken nothing; when
//          the body fails or is cancelled, the tasks of the set are cancelled and waited for
//
//   int sum = co_await with_task_set<int>(cx, body, {.limit = 8});     // body(set) gives a Task<int>
//
//   for (Order order : orders) (void)co_await set.spawn(cx, handle, order);   // waits while 8 run
//   while (true) {
//     std::optional<Finished<int>> done = co_await set.next(cx);              // nothing: every end was taken
//     if (!done) break;
//     if (done->end.is_ok()) sum += done->end.value();
//   }
//
// An end that was taken is the business of who took it: a task that failed stops nothing. No end is lost: what nobody took is
// folded into the end of the set, in the order of spawning, as a scope does it (OUT-4). Values that nobody took are dropped,
// and so are cancellations that the set itself asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <list>
#include <new>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "calm/check/require.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/outcome.hpp"
#include "calm/model/reason.hpp"
#include "calm/sync/line.hpp"
#include "calm/sync/notify.hpp"
#include "calm/sync/semaphore.hpp"

// As in scope.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

namespace calm {

struct TaskSetOptions {
  static constexpr std::uint32_t unlimited = UINT32_MAX;
  std::uint32_t limit = unlimited;  ///< tasks that run at a time; ends that wait to be taken do not count
};

/// How one task of a set ended.
template <class T>
struct Finished {
  std::uint64_t number;  ///< which: as spawn() said, counted from 0
  Outcome<T> end;        ///< of the callable; a value that it came to in spite of a cancel is not lost
};

/// COM-1: each task that was started is one of these.
struct TaskSetCounts {
  std::uint64_t running = 0;
  std::uint64_t finished = 0;  ///< ended, and not taken
  std::uint64_t taken = 0;

  friend constexpr bool operator==(const TaskSetCounts&, const TaskSetCounts&) noexcept = default;
};

/// What the body of with_task_set() is given. `S` is the scope that its tasks are in.
template <class T, class S = Scope>
class TaskSet {
  class Ticket;
  class RoomWait;
  class NextWait;

 public:
  using Context = typename S::Context;

  TaskSet(const TaskSet&) = delete;
  TaskSet& operator=(const TaskSet&) = delete;
  ~TaskSet() = default;

  /// The context of the set, for its body: as Scope::cx().
  [[nodiscard]] Context cx() const noexcept { return scope_->cx(); }

  /// Waits while the limit is reached, then starts `callable(cx, arguments...)` as a fiber of the set: it may borrow what
  /// outlives the set (TSK-4). Gives: its number.
  /// Fails: as Scope::fiber(); nothing was started then.
  template <class F, class... Arguments>
  Task<std::uint64_t> spawn(CxOf<> cx, F callable, Arguments... arguments) {
    sync::Permits* const room = &room_;
    Room place = co_await cx::WaitFor<RoomWait, const cx::Context*, sync::Permits*>(&cx::context_of(cx), room);
    Outcome<std::uint64_t> started = start(std::move(place), std::move(callable), std::move(arguments)...);
    co_return std::move(started);
  }
  /// The same without waiting. Fails: full while the limit is reached or others wait; as Scope::fiber().
  template <class F, class... Arguments>
  Outcome<std::uint64_t> try_spawn(F callable, Arguments... arguments) {
    if (!room_.try_take(1)) return err(Errc::full, "the task set runs as many tasks as its limit allows [COM-1]");
    return start(Room(room_), std::move(callable), std::move(arguments)...);
  }

  /// Waits for the next end that is not taken, in the order in which they come.
  /// Gives: a Finished<T>; nothing when no task runs and every end was taken.
  [[nodiscard]] cx::WaitFor<NextWait, const cx::Context*, TaskSet*> next(CxOf<> cx) noexcept;

  /// Asks every task that runs now to stop. The set stays open: what comes of them can be taken, and more can be spawned.
  void cancel_all(std::string_view message = {}) {
    line_.writes();
    for (auto entry = running_.begin(); entry != running_.end();) {
      Entry& stopped = *entry++;  // one that never ran is gone with its cancel
      stopped.stopped = true;
      if (stopped.handle) stopped.handle->cancel(message);
    }
  }
  /// Cancels all, waits until none runs and takes every end that was promised to nobody, in the order in which they came.
  /// Cancel: stops waiting and has taken nothing.
  Task<std::vector<Finished<T>>> drain(CxOf<> cx) {
    cancel_all();
    while (!running_.empty()) {
      co_await idle_.wait(cx);
      line_.reads();
    }
    co_return take_rest();
  }

  /// Only looks.
  [[nodiscard]] TaskSetCounts counts() const noexcept {
    line_.reads();
    return {.running = running_.size(), .finished = finished_.size(), .taken = taken_};
  }

  // --- for with_task_set() ---

  TaskSet(CxOf<> cx, const TaskSetOptions& options) noexcept : room_(cx, options.limit), line_(cx), idle_(cx) {}
  void set_scope(S& scope) noexcept { scope_ = &scope; }
  /// Needs: the scope is Closed. Gives: the end of the body with those that nobody took. Fails: std::bad_alloc.
  [[nodiscard]] ChildEnd fold_rest(ChildEnd end) {
    CALM_INVARIANT(I2, running_.empty(), running_.size());
    finished_.sort([](const Entry& a, const Entry& b) { return a.number < b.number; });
    for (const Entry& entry : finished_) {
      const Outcome<T>& own = *entry.end;  // NOLINT(bugprone-unchecked-optional-access): a finished one has its end
      const bool asked_for = entry.stopped && own.is_cancelled();
      if (!asked_for) end = join(std::move(end), cx::without_value(own));
    }
    return end;
  }

  // --- what a LineWait asks ---

  [[nodiscard]] sync::Line& line() noexcept { return line_; }
  [[nodiscard]] bool try_admit(const sync::Waiter& /*waiter*/, TaskId /*task*/) noexcept {
    if (!line_.empty() || promised_ == finished_.size()) return false;
    ++promised_;
    return true;
  }
  [[nodiscard]] bool refuses(const sync::Waiter& /*waiter*/, TaskId /*task*/, ChildEnd& end) const noexcept {
    if (!is_over()) return false;
    end = err(Errc::empty);
    return true;
  }
  static void left(const sync::Waiter& /*waiter*/) noexcept {}
  void take_back(const sync::Waiter& waiter) noexcept {
    if (waiter.is_other_way()) return;  // it has nothing
    --promised_;
    serve();
  }

 private:
  struct Entry {
    std::uint64_t number;
    std::optional<Handle<void>> handle{};
    std::optional<Outcome<T>> end{};
    bool stopped = false;  ///< by cancel_all()
  };
  using Place = typename std::list<Entry>::iterator;

  /// One of those that may run at a time.
  class Room {
   public:
    explicit Room(sync::Permits& permits) noexcept : permits_(&permits) {}
    Room(Room&& other) noexcept : permits_(std::exchange(other.permits_, nullptr)) {}
    Room& operator=(Room&&) = delete;
    ~Room() {
      if (permits_ != nullptr) permits_->give_back(1);
    }

   private:
    sync::Permits* permits_;
  };

  class RoomWait : public sync::LineWait<sync::Permits> {
   public:
    using sync::LineWait<sync::Permits>::LineWait;
    [[nodiscard]] Room result() noexcept {
      this->use_grant();
      return Room(this->primitive());
    }

   protected:
    ~RoomWait() = default;
  };

  /// A part of the task's frame: whatever becomes of the task, the set learns it.
  class Ticket {
   public:
    Ticket(TaskSet& set, Place entry, Room room) noexcept : set_(&set), entry_(entry), room_(std::move(room)) {}
    Ticket(Ticket&& other) noexcept
        : set_(std::exchange(other.set_, nullptr)), entry_(other.entry_), room_(std::move(other.room_)) {}
    Ticket& operator=(Ticket&&) = delete;
    /// Without an end: the task was forced, or dropped before it began. Nobody gives a reason when the host is given up.
    ~Ticket() {
      if (set_ == nullptr) return;
      const std::optional<Handle<void>>& handle = entry_->handle;
      if (!handle) return;  // refused by the scope; start() takes it out of the set
      cx::Port& port = set_->line_.port();
      const Reason reason = port.reason_of(port.here(), handle->id());
      finish(reason ? Outcome<T>(cancelled(reason)) : Outcome<T>(err(Errc::cancelled)));
    }
    void finish(Outcome<T> end) noexcept { std::exchange(set_, nullptr)->finish(entry_, std::move(end)); }

   private:
    TaskSet* set_;
    Place entry_;
    Room room_;
  };

  /// The task of a callable. It ends as the callable did, so that a trace shows it.
  template <class F, class... Arguments>
  static Task<void> run(Context cx, Ticket ticket, F callable, Arguments... arguments) {
    Outcome<T> end = co_await outcome(callable(cx, std::move(arguments)...));
    ChildEnd own = cx::without_value(end);
    ticket.finish(std::move(end));
    if (own.is_panicked()) std::rethrow_exception(own.panic().exception());
    if (!own.is_ok()) co_await fail_with(std::move(own));
  }

  template <class F, class... Arguments>
  Outcome<std::uint64_t> start(Room room, F callable, Arguments... arguments) {
    static_assert(std::is_same_v<cx::TaskValue<F, Context, Arguments...>, T>,
                  "calm: a TaskSet<T> takes callables that give a Task<T>");
    line_.writes();
    try {
      running_.push_back({.number = started_});
    } catch (const std::bad_alloc&) {
      return err(Errc::resource_exhausted, "no memory for a task of a task set");
    }
    const Place entry = std::prev(running_.end());
    Outcome<Handle<void>> handle = scope_->fiber(&run<F, Arguments...>, Ticket(*this, entry, std::move(room)),
                                                 std::move(callable), std::move(arguments)...);
    if (!handle) {
      running_.erase(entry);
      if (is_over()) serve();
      return err(Error(handle.error()));
    }
    entry->handle.emplace(std::move(handle).value());
    return ok(started_++);
  }

  void finish(Place entry, Outcome<T> end) noexcept {
    try {
      entry->end.emplace(std::move(end));
    } catch (...) {
      entry->end.emplace(panicked());
    }
    finished_.splice(finished_.end(), running_, entry);
    line_.writes();
    serve();
    if (running_.empty()) idle_.notify_all();
  }

  [[nodiscard]] bool is_over() const noexcept { return running_.empty() && finished_.empty(); }
  void serve() noexcept {
    while (sync::Waiter* const waiter = line_.first()) {
      if (promised_ < finished_.size()) {
        ++promised_;
      } else if (is_over()) {
        waiter->set_other_way();
      } else {
        return;
      }
      line_.grant(*waiter);
    }
  }
  /// For who was promised an end: the oldest.
  Finished<T> take() {
    line_.writes();
    --promised_;
    Finished<T> first = take_out(finished_.begin());
    serve();
    return first;
  }
  Finished<T> take_out(Place entry) {
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): a finished one has its end
    Finished<T> one{entry->number, std::move(*entry->end)};
    finished_.erase(entry);
    ++taken_;
    return one;
  }
  std::vector<Finished<T>> take_rest() {
    line_.writes();
    std::vector<Finished<T>> rest;
    rest.reserve(finished_.size() - promised_);
    const auto first = std::next(finished_.begin(), static_cast<std::ptrdiff_t>(promised_));
    for (Place entry = first; entry != finished_.end();) rest.push_back(take_out(entry++));
    serve();
    return rest;
  }

  sync::Permits room_;
  sync::Line line_;  // of those who wait for an end
  Notify idle_;
  S* scope_ = nullptr;
  std::list<Entry> running_;   // in the order of spawning
  std::list<Entry> finished_;  // in the order of ending
  std::size_t promised_ = 0;   // COM-1: of the finished, granted to a next() that has not run yet
  std::uint64_t started_ = 0;
  std::uint64_t taken_ = 0;
};

template <class T, class S>
class TaskSet<T, S>::NextWait : public sync::LineWait<TaskSet> {
 public:
  NextWait(const cx::Context* context, TaskSet* set) noexcept : sync::LineWait<TaskSet>(context, set) {}

  cx::WaitState step(cx::TaskRoot& root, ChildEnd& end) noexcept override {
    const cx::WaitState state = sync::LineWait<TaskSet>::step(root, end);
    if (state != cx::WaitState::failed) return state;
    over_ = true;
    return cx::WaitState::ready;
  }
  [[nodiscard]] std::optional<Finished<T>> result() {
    if (over_) return std::nullopt;
    this->use_grant();
    if (this->is_other_way()) return std::nullopt;
    return std::optional<Finished<T>>(this->primitive().take());
  }

 protected:
  ~NextWait() = default;

 private:
  bool over_ = false;
};

template <class T, class S>
cx::WaitFor<typename TaskSet<T, S>::NextWait, const cx::Context*, TaskSet<T, S>*> TaskSet<T, S>::next(
    CxOf<> cx) noexcept {
  return cx::WaitFor<NextWait, const cx::Context*, TaskSet*>(&cx::context_of(cx), this);
}

namespace combinator {

/// The body of the scope of a set. It keeps how the user's body ended; what the tasks came to is in the set.
template <class R, class Set, class F>
struct SetBody {
  Set* set;
  F* body;
  std::optional<Outcome<R>>* end;

  template <class S>
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): scope() keeps it until this has ended
  Task<void> operator()(S& scope) const {
    set->set_scope(scope);
    end->emplace(co_await outcome((*body)(*set)));
    if (!(*end)->is_ok()) set->cancel_all("the body of its task set has failed");
  }
};

template <class R, class T, class... Caps, class F>
Task<R> task_set_around(CxOf<Caps...> cx, F body, TaskSetOptions options) {
  using Set = TaskSet<T, ScopeOf<Caps...>>;
  if (options.limit == 0) {
    co_await fail(Error(Errc::invalid_argument,
                        "a task set with a limit of 0 could never run a task [COM-1]; next: allow at least 1, or "
                        "TaskSetOptions::unlimited"));
  }
  Set set(cx, options);
  std::optional<Outcome<R>> end;
  const SetBody<R, Set, F> inside{&set, &body, &end};
  const ScopeOptions apart{.policy = FoldPolicy::collect};
  ChildEnd whole = co_await outcome(scope(cx, inside, apart));
  if (end) whole = set.fold_rest(cx::without_value(*end));
  if (whole.is_panicked()) std::rethrow_exception(whole.panic().exception());
  if (!whole.is_ok()) co_await fail_with(std::move(whole));
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): without one the scope has failed
  if constexpr (!std::is_void_v<R>) co_return std::move(*end).value();
}

}  // namespace combinator

/// Runs `body(set)` in this task with a TaskSet<T>&, and returns when every task of the set has ended. A body that has ended
/// well waits for those that still run; one that has not cancels them.
/// Gives: the value of the body when nothing failed that nobody took.
/// Fails: with the worst of the body's end and the ends that nobody took; invalid_argument for a limit of 0.
template <class T, class... Caps, class F>
CALM_CORO_WRAPPER auto with_task_set(CxOf<Caps...> cx, F body, TaskSetOptions options = {})
    -> Task<cx::TaskValue<F, TaskSet<T, ScopeOf<Caps...>>&>> {
  using R = cx::TaskValue<F, TaskSet<T, ScopeOf<Caps...>>&>;
  return combinator::task_set_around<R, T>(cx, std::move(body), options);
}

}  // namespace calm

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
