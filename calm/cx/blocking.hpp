// blocking.hpp — calls that may block their thread, on threads of their own; the task waits and its worker goes on.
// Laws:    IO-4, CAN-7, CAN-8, CAN-13, HND-3 (a bounded number waits), I4 (a result that has come is given)
// Threads: the callable runs on a thread of the pool, and ends there; the task may go on on any worker
// Cancel:  a call that has not begun is withdrawn, and the wait is Cancelled. One that has begun cannot be interrupted: it is
//          waited for, its result is given, and the next checkpoint sees the cancel. A callable whose first parameter is a
//          StopToken is told. A task whose clean-up is over is not forced before its call is: it is reported as stalled, once,
//          and others go on (CAN-8)
//
//   const Page page = co_await blocking(cx, read_page, path);
//   co_await blocking(cx, [&](StopToken stop) { while (!stop.is_requested() && copy_some(from, to)) {} });
//
// The frame that waits is there until the call has ended, so the callable may refer to it. What the callable throws is thrown
// by the co_await. In the lab there are no threads: the callable runs inside the task, as a step of its own, so the same
// program has the same schedules every time; a cancel comes before the call or after it.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "calm/cx/cx.hpp"
#include "calm/cx/errand.hpp"
#include "calm/cx/gateway.hpp"
#include "calm/cx/port.hpp"
#include "calm/cx/task_root.hpp"
#include "calm/cx/wait.hpp"
#include "calm/lockfree/atomics.hpp"
#include "calm/mem/ref.hpp"
#include "calm/model/outcome.hpp"

// As in scope.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

namespace calm {

namespace cx {

/// A call on its way through a pool of threads, and back to the task that waits for it.
/// ended_: 0, or 1 when the call is over.  [B1] the thread of the pool releases the result -> the task acquires.
class BlockingJob : public mem::RefCounted, public Errand {
 public:
  static void destroy(const BlockingJob* job) noexcept { job->destroy_this(); }

  // --- the task ---

  /// It waits from now on, for a pool that will make the call and say finish().
  void wait_as(TaskRoot& root) noexcept;
  [[nodiscard]] bool has_ended() const noexcept { return ended_.load(std::memory_order_acquire) != 0; }  // [B1]
  /// Blocks this thread until the call is over: for a frame that is dropped by who does not ask take_back().
  void await_end() const noexcept;
  /// Gives: true when the errand that wakes the task for it was done; later than has_ended(), and at a recorded moment.
  [[nodiscard]] bool was_told() const noexcept { return told_; }
  [[nodiscard]] TaskId task() const noexcept { return task_; }
  void request_stop() noexcept { stop_.store(true, std::memory_order_relaxed); }  // relaxed: it says nothing else
  [[nodiscard]] bool stop_requested() const noexcept { return stop_.load(std::memory_order_relaxed); }

  /// Makes the call, here.
  virtual void call() noexcept = 0;
  /// The same for a host without threads, unless it was made; then tells the task, which goes on at its next poll.
  void call_here() noexcept;
  void tell_here(kernel::Worker& worker) noexcept;
  /// What the call returned, as bytes, for a recording: numbers, enumerators and strings. Needs: ended.
  /// Gives: false when it returned nothing, or something else, or threw; for bytes that are no such value. Fails: std::bad_alloc.
  virtual bool copy_result(std::string& bytes) const = 0;
  virtual bool set_result(std::string_view bytes) = 0;

  // --- the pool ---

  /// Tells the task that the call was made. Needs: a reference, which is used up.
  void finish() noexcept;

  [[nodiscard]] About about() const noexcept final { return {Kind::blocking, task_}; }

  BlockingJob* before = nullptr;  ///< the pool's, under its lock
  BlockingJob* after = nullptr;   ///< the pool's
  bool is_queued = false;         ///< the pool's

 protected:
  BlockingJob() noexcept = default;
  ~BlockingJob() = default;

 private:
  virtual void destroy_this() const noexcept = 0;
  /// On a worker: wakes the task.
  void run(kernel::Worker* worker) noexcept final;

  Port* port_ = nullptr;
  TaskId task_{};
  bool told_ = false;  // by workers, where a run is recorded or followed: one of them at a time
  mem::Ref<Gateway> gateway_;
  lockfree::RealAtomics::Atomic<std::uint32_t> ended_{0};
  lockfree::RealAtomics::Atomic<bool> stop_{false};
};

/// What becomes of a call that is given to a host's threads.
enum class Submitted : std::uint8_t {
  taken,      ///< it will be made
  no_place,   ///< as many wait as the host allows
  no_thread,  ///< there is no thread for it, and the system gives none
};

/// A host's threads for calls that block.
class BlockingDoor {
 public:
  /// Takes a reference to the job, for finish(). Gives: another answer than `taken` when nothing has changed.
  [[nodiscard]] virtual Submitted submit(BlockingJob& job) noexcept = 0;
  /// Gives: true when it had not begun, and never will.
  [[nodiscard]] virtual bool withdraw(BlockingJob& job) noexcept = 0;
  /// Gives: true when a task is to go on with the errand that wakes it and not before, though the call may be over: where
  ///        a run is recorded, and where it is made again (SCH-9).
  [[nodiscard]] virtual bool tells_ends() const noexcept { return false; }
  /// Blocks until a call that has begun is over.
  virtual void await_end(BlockingJob& job) noexcept { job.await_end(); }

 protected:
  ~BlockingDoor() = default;
};

}  // namespace cx

/// Says to a call that blocks whether its task was cancelled. Valid while the call lasts.
class StopToken {
 public:
  explicit StopToken(const cx::BlockingJob& job) noexcept : job_(&job) {}
  [[nodiscard]] bool is_requested() const noexcept { return job_->stop_requested(); }

 private:
  const cx::BlockingJob* job_;
};

namespace cx {

template <class F, class... Arguments>
inline constexpr bool takes_stop = std::invocable<F, StopToken, Arguments...>;

template <class F, class... Arguments>
struct BlockingValueOf : std::invoke_result<F, Arguments...> {};
template <class F, class... Arguments>
  requires takes_stop<F, Arguments...>
struct BlockingValueOf<F, Arguments...> : std::invoke_result<F, StopToken, Arguments...> {};

/// A result whose bytes mean the same in another run.
template <class T>
inline constexpr bool is_plain_result = std::is_arithmetic_v<T> || std::is_enum_v<T>;

template <class F, class... Arguments>
class BlockingCall final : public BlockingJob {
 public:
  using Value = typename BlockingValueOf<F, Arguments...>::type;

  explicit BlockingCall(F callable, Arguments... arguments)
      : parts_(std::in_place, std::move(callable), std::move(arguments)...) {}

  void call() noexcept override {
    try {
      std::apply([this](auto&... parts) { invoke(std::move(parts)...); }, *parts_);
    } catch (...) {
      exception_ = std::current_exception();
    }
    parts_.reset();
  }
  /// Needs: ended. Fails: what the callable threw.
  Value take() {
    if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
    if constexpr (!std::is_void_v<Value>)
      return std::move(*value_);  // NOLINT(bugprone-unchecked-optional-access): ended
  }

  bool copy_result(std::string& bytes) const override {
    if constexpr (is_plain_result<Value>) {
      if (!value_) return false;
      bytes.assign(reinterpret_cast<const char*>(&*value_), sizeof(Value));
      return true;
    } else if constexpr (std::is_same_v<Value, std::string>) {
      if (!value_) return false;
      bytes = *value_;
      return true;
    } else {
      return false;
    }
  }
  bool set_result(std::string_view bytes) override {
    if constexpr (is_plain_result<Value>) {
      if (bytes.size() != sizeof(Value)) return false;
      Value value{};
      // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): it has as many bytes as are copied
      std::memcpy(&value, bytes.data(), sizeof(Value));
      value_.emplace(value);
    } else if constexpr (std::is_same_v<Value, std::string>) {
      value_.emplace(bytes);
    } else {
      return false;
    }
    exception_ = nullptr;
    return true;
  }

 private:
  void invoke(F&& callable, Arguments&&... arguments) {
    if constexpr (takes_stop<F, Arguments...>) {
      keep([&]() -> Value { return std::invoke(std::move(callable), StopToken(*this), std::move(arguments)...); });
    } else {
      keep([&]() -> Value { return std::invoke(std::move(callable), std::move(arguments)...); });
    }
  }
  template <class Call>
  void keep(const Call& call) {
    if constexpr (std::is_void_v<Value>) {
      call();
    } else {
      value_.emplace(call());
    }
  }
  void destroy_this() const noexcept override { delete this; }

  std::optional<std::tuple<F, Arguments...>> parts_;
  std::optional<detail::Held<Value>> value_;
  std::exception_ptr exception_;
};

/// The part of the wait that does not depend on the callable.
class BlockingWaitBase : public Wait {
 public:
  WaitState step(TaskRoot& root, ChildEnd& end) noexcept final;
  WaitState cancel(TaskRoot& root, Reason& reason, ChildEnd& end) noexcept final;
  [[nodiscard]] bool take_back() noexcept final;

 protected:
  BlockingWaitBase(const Context* context, BlockingJob& job) noexcept : Wait(context), job_(job) {}
  ~BlockingWaitBase();

 private:
  enum class Stage : std::uint8_t { new_here, given_away, next_step, over };

  /// Gives: true when the call is over, and the task may know. Needs: given away.
  [[nodiscard]] bool is_over() const noexcept { return door_->tells_ends() ? job_.was_told() : job_.has_ended(); }

  BlockingJob& job_;
  BlockingDoor* door_ = nullptr;
  Stage stage_ = Stage::new_here;
};

/// Keeps the job for as long as the wait lasts: a base, so that it is there before and after the wait.
template <class Call>
struct BlockingKeep {
  mem::Ref<Call> call;
};

template <class Call>
class BlockingWait : private BlockingKeep<Call>, public BlockingWaitBase {
 public:
  BlockingWait(const Context* context, mem::Ref<Call> made) noexcept
      : BlockingKeep<Call>{std::move(made)}, BlockingWaitBase(context, *this->call) {}

  typename Call::Value result() { return this->call->take(); }

 protected:
  ~BlockingWait() = default;
};

}  // namespace cx

/// Awaits `callable(arguments...)` on a thread that may block. Gives: what it returned. Fails: what it threw;
/// resource_exhausted when as many calls wait as the host takes (RunOptions::blocking), or when there is no thread and the
/// system gives none; the text says which; std::bad_alloc.
template <class F, class... Arguments>
auto blocking(CxOf<> cx, F callable, Arguments... arguments) {
  static_assert(std::invocable<F, Arguments...> || std::invocable<F, StopToken, Arguments...>,
                "calm: blocking() calls its callable with these arguments, or with a StopToken and these");
  using Call = cx::BlockingCall<F, Arguments...>;
  static_assert(!std::is_reference_v<typename Call::Value>, "calm: a call that blocks returns a value (TSK-4)");
  return cx::WaitFor<cx::BlockingWait<Call>, const cx::Context*, mem::Ref<Call>>(
      &cx::context_of(cx), mem::Ref<Call>::adopt(new Call(std::move(callable), std::move(arguments)...)));
}

}  // namespace calm

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
