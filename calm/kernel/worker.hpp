// worker.hpp — what a thread brings along when it calls the kernel: who it is, what time it is, where its events go.
// Laws:    SHD-1 (trace is per worker), SHD-3 (the lock order of one logical thread), SHD-5 (cached time), LAB-2
// Threads: a worker belongs to one thread at a time; now() anywhere
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <source_location>
#include <utility>
#include <vector>

#include "calm/check/probe.hpp"
#include "calm/kernel/counted_kinds.hpp"
#include "calm/kernel/lock_order.hpp"
#include "calm/lockfree/atomics.hpp"
#include "calm/lockfree/company.hpp"
#include "calm/lockfree/relaxed.hpp"
#include "calm/model/fold.hpp"
#include "calm/model/id.hpp"
#include "calm/model/time.hpp"
#include "calm/trace/recorder.hpp"
#include "calm/trace/ring.hpp"

namespace calm::kernel {

template <lockfree::AtomicsPolicy Atomics>
struct TaskRecord;

class alignas(128) Worker {
 public:
  /// Without a source it is the only worker.
  Worker(std::uint16_t index, trace::Ring ring, trace::SequenceSource* sequence) noexcept
      : index_(index), order_(index), ring_(std::move(ring)), recorder_(ring_, sequence) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  [[nodiscard]] std::uint16_t index() const noexcept { return index_; }

  /// The kernel never reads a clock: what the host says here is the time of the next operations. Others may glance at it.
  [[nodiscard]] Time now() const noexcept { return now_.get(); }
  void set_time(Time now) noexcept {
    now_.set(now);
    tick_ = tick_of(now);
    recorder_.set_time(now);
  }
  /// Gives: the same in pieces of a millisecond and 5 %, which cost a shift; 0 only once in seven weeks.
  [[nodiscard]] std::uint32_t tick() const noexcept { return tick_; }
  static std::uint32_t tick_of(Time time) noexcept { return static_cast<std::uint32_t>(time.ns() >> tick_bits) + 1; }
  static constexpr unsigned tick_bits = 20;

  /// Rounds of the scheduler, told by the host, each with a poll: by them the kernel sees who is not polled any more (OBL-7), and
  /// who watches that polls end which one this is. It may look from anywhere.
  [[nodiscard]] std::uint64_t rounds() const noexcept { return rounds_.get(); }
  [[nodiscard]] std::uint32_t round() const noexcept { return static_cast<std::uint32_t>(rounds_.get()); }
  void set_round(std::uint64_t round) noexcept { rounds_.set(round); }
  /// A round begins, with a poll of a task that goes on from this await point. Gives: its number.
  std::uint64_t begin_round(std::source_location after = {}) noexcept {
    const std::uint64_t round = rounds_.get() + 1;
    rounds_.set(round);
    after_.set(after);
    return round;
  }
  /// The same for who begins the poll in the same step, and has done with the one before.
  std::uint64_t begin_round(std::source_location after, TaskId task, void* record) noexcept {
    const std::uint64_t round = begin_round(after);
    set_running(task);
    set_polled(record);
    return round;
  }
  /// The poll is of one that begins in it.
  void set_after(std::source_location after) noexcept { after_.set(after); }

  /// Gives: the task whose code this worker runs; none between two polls.
  [[nodiscard]] TaskId running() const noexcept { return running_.get(); }
  // [P1] releases what the worker did before this poll -> look() acquires: what it left alone since can be read.
  void set_running(TaskId task) noexcept { running_.publish(task); }

  /// What others see of the poll that it is in; as good as a moment old.
  struct Look {
    TaskId task{};  ///< none between two polls
    std::source_location after{};
    std::uint64_t round = 0;
  };
  [[nodiscard]] Look look() const noexcept {
    const TaskId task = running_.seen();  // [P1]
    return {task, after_.get(), rounds_.get()};
  }

  /// Gives: true when the running task found no request at its last checkpoint and none was made since, so it need not look
  ///        again. Only where this worker makes all the requests there are.
  [[nodiscard]] bool is_clear() const noexcept { return clear_ == running() && clear_; }
  void set_clear(bool clear) noexcept { clear_ = clear ? running() : TaskId(); }

  /// Gives: the record of the running task, whose counts its own poll may change; nullptr between two polls.
  /// Needs: the atomics of the kernel that this worker is of.
  template <lockfree::AtomicsPolicy Atomics>
  [[nodiscard]] TaskRecord<Atomics>* polled() const noexcept {
    return static_cast<TaskRecord<Atomics>*>(polled_);
  }
  void set_polled(void* record) noexcept { polled_ = record; }

  /// Promises without a record (OBL-2) that the running task has made in this poll, less those of its own that it settled, by
  /// their place among the counted kinds: the kernel hears of them when the poll ends, or when another one is made inside it.
  [[nodiscard]] std::int32_t& promises(std::uint8_t kind) noexcept { return promises_[kind]; }

  [[nodiscard]] bool has_promises() const noexcept {
    std::int32_t any = 0;
    for (const std::int32_t count : promises_) any |= count;
    return any != 0;
  }

  /// How a wait or a frame of the running task has failed: from then on until one of its frames is told, or it has ended. No
  /// other poll comes between, so no task has room of its own for it.
  [[nodiscard]] ChildEnd& failure() noexcept { return failure_; }

  /// What a poll knows of itself while another one is made inside it.
  struct Poll {
    TaskId running{};
    void* polled = nullptr;
  };
  /// Needs: !has_promises(): what runs inside may settle them.
  [[nodiscard]] Poll leave_for_inner_poll() const noexcept { return {.running = running(), .polled = polled_}; }
  void return_from_inner_poll(const Poll& outer) noexcept {
    set_running(outer.running);
    polled_ = outer.polled;
  }

  [[nodiscard]] const trace::Ring& ring() const noexcept { return ring_; }
  /// See Ring::take. Needs: the thread that drives this worker.
  std::uint64_t take_events(std::vector<trace::Event>& events) { return ring_.take(events); }
  [[nodiscard]] trace::Recorder& recorder() noexcept { return recorder_; }
  [[nodiscard]] LockOrder& order() noexcept { return order_; }
  /// Among those who share turns, where there are several.
  [[nodiscard]] lockfree::Company<>::Member& member() noexcept { return member_; }
  /// What its host keeps for it, as the host has set it.
  [[nodiscard]] void* seat() const noexcept { return seat_; }
  void set_seat(void* seat) noexcept { seat_ = seat; }

  /// Gives: how many events a strict ring could not take from operations that must not fail.
  [[nodiscard]] std::uint64_t lost_events() const noexcept { return lost_events_; }

  /// Takes an event; one that a strict ring has no room for counts as lost. Needs: `several` unless it is the only worker;
  /// with `alone` no other one takes any meanwhile.
  template <bool several = true>
  [[gnu::always_inline]] void record(const trace::Event& event, bool alone = false) noexcept {
    if (ring_.room(1)) [[likely]] {
      recorder_.write_to<several>(ring_, event, alone);
    } else {
      lose_event();
    }
  }

  /// The same. Needs: a ring that is not strict, or has room.
  template <bool several = true, bool alone = false>
  [[gnu::always_inline]] void write(const trace::Event& event) noexcept {
    recorder_.write_to<several, alone>(ring_, event);
  }

  /// As new. Needs: nobody else knows it, and it holds no lock.
  void start_over() noexcept {
    set_round(0);
    set_time({});
    set_running({});
    polled_ = nullptr;
    clear_ = {};
    for (std::int32_t& count : promises_) count = 0;
    ring_.start_over();
    lost_events_ = 0;
  }

 private:
  [[gnu::noinline]] void lose_event() noexcept {
    CALM_PROBE("worker: a strict ring is full");
    ++lost_events_;
  }

  // A line of the cache that every poll writes: stores to one line, one after the other, cost half of what others do.
  lockfree::Relaxed<std::uint64_t> rounds_{0};
  lockfree::Relaxed<std::source_location> after_{};
  lockfree::Relaxed<TaskId> running_{};
  void* polled_ = nullptr;  // a TaskRecord
  lockfree::Relaxed<Time> now_;
  std::int32_t promises_[counted_kind_count]{};
  std::uint32_t tick_ = tick_of({});
  TaskId clear_;  // the task that is_clear() in its polls

  lockfree::Company<>::Member member_;
  std::uint16_t index_;
  void* seat_ = nullptr;
  ChildEnd failure_ = ok();
  [[no_unique_address]] LockOrder order_;
  trace::Ring ring_;
  trace::Recorder recorder_;
  std::uint64_t lost_events_ = 0;
};

}  // namespace calm::kernel
