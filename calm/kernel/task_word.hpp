// task_word.hpp — the one word of a task that several threads decide on: which life of the slot, how far, woken or not.
// Laws:    HND-1 (generation), TSK-1, TSK-6, CAN-3, CAN-9 (who came first: the request or the end)
// Threads: look(), wake() and await_end() anywhere; begin_poll() by whoever found the task in a queue; end_poll(), and
//          finish() by the one whose begin_poll() succeeded; request() and move() under the task's shard A
// Cancel:  request() is its linearisation point
//
// word_: bits 0..2   wake bits, see lockfree/wake_state.hpp
//        bits 3..8   TaskState, one-hot
//        bits 10..15 flags, see TaskFlag
//        bits 16..17 OutcomeKind, once Completed; bits 18..22 more flags
//        bits 32..33 flags that say nothing of how the task goes on, so whether that is plain stands in the half below
//        bits 40..63 generation
//
// Every operation is one atomic step on word_, so the steps of one task have one total order, and a step that names a
// generation has no effect on another life of the slot. From this follow:
//   wake against poll end      the table of wake_state.hpp: a wake that comes before end_poll()'s subtraction leaves `woken`
//                              behind, and end_poll() must enqueue; one that comes after finds `idle` and enqueues itself.
//   request against completion finish() compares the whole word. If request() came first, the comparison fails and the
//                              completer sees CancelRequested; else request() sees Completed and changes nothing.
//   hand-over against the end  the same, with the flag `holds`: a task cannot miss that it was given an obligation.
//   join against completion    the same, with the flag `awaited`.
//   last use of the slot       `handle` and `left` are taken away and set by one step each; whoever comes second frees it.
//
// Pairs. All writes but renew() are read-modify-writes, so a release reaches every later acquire on the same life:
//   [T1] wake() releases what it announces -> begin_poll() acquires, wherever it runs.
//   [T2] end_poll() releases what the poll did to the task -> the next begin_poll() acquires; also the wake() that wins,
//        which may then write the task's queue link.
//   [T3] finish() releases the end -> look() acquires.
//   [T4] renew() releases the new task -> begin_poll(), request() and the wake() that wins acquire.
//   [T5] await_end() releases the waiter -> finish() acquires.
//   [T6] leave() and drop_handle() release -> the second of them acquires: it recycles the slot.
#pragma once

#include <cstdint>

#include "calm/check/require.hpp"
#include "calm/lockfree/atomics.hpp"
#include "calm/lockfree/wake_state.hpp"
#include "calm/model/budget.hpp"
#include "calm/model/id.hpp"
#include "calm/model/outcome_kind.hpp"
#include "calm/model/task_state.hpp"

namespace calm::kernel {

/// What is said of a task beside its state.
enum class TaskFlag : std::uint64_t {
  left = 1U << 10,                   ///< it has left its region; nothing of the kernel points to it any more
  cleanup = 1U << 11,                ///< a finalizer, or a task that one started
  started = 1U << 12,                ///< its body has been entered
  told = 1U << 13,                   ///< it was reported that a call keeps it from being forced (CAN-8)
  holds = 1U << 14,                  ///< an obligation was handed to it
  forced = 1U << 15,                 ///< its clean-up budget ran out and its frame was dropped (CAN-8)
  witnessed = 1U << 18,              ///< it acknowledged its cancellation before it ended (CAN-9)
  expired = 1U << 19,                ///< its clean-up deadline has passed; it is forced when it is polled next
  unmasked = 1U << 20,               ///< a cap of masks was exceeded; leaving a mask that is gone is no error (CAN-12)
  ranked = 1U << 21,                 ///< its budget has a deadline or a priority; from its birth on
  metered = 1U << 22,                ///< its budget has a number of polls or a cost; from its birth on
  handle = std::uint64_t{1} << 32,   ///< somebody may still ask for it: the slot stays
  awaited = std::uint64_t{1} << 33,  ///< a joiner's id stands in its record
};

/// States in which a request has arrived.
inline constexpr StateMask<TaskState> cancelled_states =
    TaskState::cancel_requested | StateMask<TaskState>(TaskState::cancelling) | TaskState::finalizing;

/// The word at one moment.
class TaskLife {
 public:
  constexpr TaskLife() noexcept = default;
  constexpr explicit TaskLife(std::uint64_t bits) noexcept : bits_(bits) {}
  constexpr TaskLife(std::uint32_t generation, TaskState state, lockfree::WakeState wake) noexcept
      : bits_(std::uint64_t{generation} << 40 | std::uint64_t{static_cast<std::uint8_t>(state)} << 3 |
              lockfree::wake_bits(wake)) {}

  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }
  [[nodiscard]] constexpr std::uint32_t generation() const noexcept { return static_cast<std::uint32_t>(bits_ >> 40); }
  [[nodiscard]] constexpr TaskState state() const noexcept { return static_cast<TaskState>(bits_ >> 3 & 0x3F); }
  [[nodiscard]] constexpr lockfree::WakeState wake() const noexcept {
    return lockfree::wake_state(static_cast<std::uint8_t>(bits_ & 7));
  }
  [[nodiscard]] constexpr bool has(TaskFlag flag) const noexcept {
    return (bits_ & static_cast<std::uint64_t>(flag)) != 0;
  }
  /// Gives: true when its end is nobody's concern but its own: no handle of the kernel's, nobody who is to be told, no budget.
  [[nodiscard]] constexpr bool ends_alone() const noexcept {
    return (bits_ & (static_cast<std::uint64_t>(TaskFlag::handle) | static_cast<std::uint64_t>(TaskFlag::awaited) |
                     static_cast<std::uint64_t>(TaskFlag::ranked) | static_cast<std::uint64_t>(TaskFlag::metered))) ==
           0;
  }
  /// Needs: Completed.
  [[nodiscard]] constexpr OutcomeKind outcome() const noexcept { return static_cast<OutcomeKind>(bits_ >> 16 & 3); }
  [[nodiscard]] constexpr bool in(StateMask<TaskState> states) const noexcept { return states.has(state()); }
  /// Gives: true when this is the life that the id names.
  [[nodiscard]] constexpr bool is(TaskId id) const noexcept {
    return (bits_ ^ id.bits() << 8) >> generation_shift == 0;
  }
  /// Gives: true when the slot has used its last generation, or had no task yet.
  [[nodiscard]] constexpr bool retired() const noexcept { return bits_ >> generation_shift == 0; }

  /// Gives: the first word of the next task in a free slot.
  [[nodiscard]] constexpr TaskLife born() const noexcept {
    const std::uint32_t next = generation();
    return {next != 0 ? next : Generation::first, TaskState::created, lockfree::WakeState::queued};
  }
  /// Gives: true when this is the life that the id names and nothing has happened to it since born(), but that it is joined.
  [[nodiscard]] constexpr bool is_newborn(TaskId id) const noexcept { return is(id) && is_newborn(); }
  /// Gives: true when this is the life that the id names, and it is queued for another poll with nothing to see in it.
  [[nodiscard]] constexpr bool is_queued_again(TaskId id) const noexcept { return is(id) && is_queued_again(); }
  // The same of whatever life this is.
  [[nodiscard]] constexpr bool is_newborn() const noexcept { return how_it_goes_on() == newborn_bits; }
  [[nodiscard]] constexpr bool is_queued_again() const noexcept { return how_it_goes_on() == queued_again_bits; }
  /// Gives: true when it is polled, again or for the first time, and nothing has happened to it since.
  [[nodiscard]] constexpr bool is_plainly_polled() const noexcept {
    return how_it_goes_on() == (queued_again_bits ^ one_poll);
  }
  /// Gives: it polled, or queued for another poll. Needs: is_queued_again(), or is_plainly_polled().
  [[nodiscard]] constexpr TaskLife polled_or_queued() const noexcept { return TaskLife(bits_ ^ one_poll); }
  /// Gives: the word of the first poll. Needs: is_newborn().
  [[nodiscard]] constexpr TaskLife first_poll() const noexcept {
    const TaskLife polled = TaskLife(0, TaskState::running, lockfree::WakeState::running).with(TaskFlag::started);
    return TaskLife(bits_ ^ (newborn_bits ^ polled.bits_));
  }
  /// Gives: the word of the slot when this life is over: free, with the next generation, or 0 after the last.
  [[nodiscard]] constexpr TaskLife over() const noexcept {
    // All below the generation is ones first, so one more is the next generation and nothing below.
    return TaskLife((bits_ | (one_generation - 1)) + 1 +
                    TaskLife(0, TaskState::completed, lockfree::WakeState::done).bits_);
  }

  [[nodiscard]] constexpr TaskLife with(TaskState state) const noexcept {
    return TaskLife((bits_ & ~std::uint64_t{0x3F << 3}) | std::uint64_t{static_cast<std::uint8_t>(state)} << 3);
  }
  [[nodiscard]] constexpr TaskLife with(lockfree::WakeState wake) const noexcept {
    return TaskLife((bits_ & ~std::uint64_t{7}) | lockfree::wake_bits(wake));
  }
  [[nodiscard]] constexpr TaskLife with(TaskFlag flag) const noexcept {
    return TaskLife(bits_ | static_cast<std::uint64_t>(flag));
  }
  [[nodiscard]] constexpr TaskLife without(TaskFlag flag) const noexcept {
    return TaskLife(bits_ & ~static_cast<std::uint64_t>(flag));
  }
  /// Gives: with what others have to know of its budget.
  [[nodiscard]] constexpr TaskLife with(const Budget& budget) const noexcept {
    const bool ranked = !budget.deadline.is_none() || budget.priority != 0;
    const bool metered = budget.polls != Quota::infinite() || budget.cost != Quota::infinite();
    return TaskLife(bits_ | (ranked ? static_cast<std::uint64_t>(TaskFlag::ranked) : 0) |
                    (metered ? static_cast<std::uint64_t>(TaskFlag::metered) : 0));
  }
  /// Gives: true when no budget bounds it, and no request has come.
  [[nodiscard]] constexpr bool is_unbounded() const noexcept { return (bits_ & (bounding_bits | metered_bit)) == 0; }
  /// Gives: true when it was admitted with a budget that bounds it in something.
  [[nodiscard]] constexpr bool has_budget() const noexcept { return has(TaskFlag::ranked) || has(TaskFlag::metered); }
  /// The same as far as its place among others goes.
  [[nodiscard]] constexpr bool is_unranked() const noexcept { return (bits_ & bounding_bits) == 0; }
  [[nodiscard]] constexpr TaskLife with(OutcomeKind kind) const noexcept {
    return TaskLife((bits_ & ~std::uint64_t{3U << 16}) | std::uint64_t{static_cast<std::uint8_t>(kind)} << 16);
  }

  friend constexpr bool operator==(TaskLife, TaskLife) noexcept = default;

 private:
  static constexpr unsigned generation_shift = 40;
  static constexpr std::uint64_t one_generation = std::uint64_t{1} << generation_shift;
  static constexpr std::uint64_t generation_bits = ~(one_generation - 1);
  static_assert(generation_bits / one_generation == Generation::last, "HND-1: one more than the last is 0");
  static constexpr std::uint64_t newborn_bits = std::uint64_t{static_cast<std::uint8_t>(TaskState::created)} << 3 |
                                                lockfree::wake_bits(lockfree::WakeState::queued);
  static constexpr std::uint64_t queued_again_bits = std::uint64_t{static_cast<std::uint8_t>(TaskState::running)} << 3 |
                                                     lockfree::wake_bits(lockfree::WakeState::queued) |
                                                     static_cast<std::uint64_t>(TaskFlag::started);

  static constexpr std::uint64_t metered_bit = static_cast<std::uint64_t>(TaskFlag::metered);
  static constexpr std::uint64_t bounding_bits =
      static_cast<std::uint64_t>(TaskFlag::ranked) | std::uint64_t{cancelled_states.bits} << 3;

  // From queued to polled, and back.
  static constexpr std::uint64_t one_poll = lockfree::woken_bit ^ lockfree::running_bit;

  [[nodiscard]] constexpr std::uint32_t how_it_goes_on() const noexcept { return static_cast<std::uint32_t>(bits_); }

  std::uint64_t bits_ = 0;
};

template <lockfree::AtomicsPolicy Atomics>
class TaskWord {
 public:
  /// Gives: a slot that never had a task: no id matches, wakes have no effect.
  TaskWord() noexcept : word_(TaskLife(0, TaskState::completed, lockfree::WakeState::done).bits()) {}
  TaskWord(const TaskWord&) = delete;
  TaskWord& operator=(const TaskWord&) = delete;

  [[nodiscard]] TaskLife look() const noexcept { return TaskLife(word_.load(std::memory_order_acquire)); }  // [T3] [T4]

  /// Needs: a slot of the caller. A late wake for the life before may hit the new one: one poll more, never one less.
  void renew(TaskLife life) noexcept { word_.store(life.bits(), std::memory_order_release); }  // [T4]

  struct Woken {
    bool enqueue;  ///< the caller must put the task into a queue: once per park, for one caller
    TaskLife was;
  };
  /// Gives: what the wake found. It writes even when the task is queued already, and must: with a plain look the waker's
  ///        data could still be on their way when the poll begins, and the waker would rely on that poll.
  Woken wake() noexcept {
    const TaskLife was(word_.fetch_or(lockfree::woken_bit, std::memory_order_acq_rel));  // [T1] [T2] [T4]
    return {was.wake() == lockfree::WakeState::idle, was};
  }

  /// The same in plain steps. Needs: nobody else changes the word meanwhile.
  Woken wake_alone() noexcept {
    const TaskLife was = look();
    renew(TaskLife(was.bits() | lockfree::woken_bit));
    return {was.wake() == lockfree::WakeState::idle, was};
  }

  /// Asks `may_start()` of a task that was never polled whether its body may begin; until then nobody changes its budget.
  /// Gives: true when the caller polls this life of the task now, and `now` is the word; Created has become Running unless
  ///        it may not start. False when the queue entry is stale: someone else claimed it, it ended, or the slot has
  ///        another life. With `alone` in plain steps: nobody else changes the word meanwhile.
  template <class MayStart>
  [[nodiscard]] bool begin_poll(std::uint32_t generation, TaskLife& now, MayStart may_start,
                                bool alone = false) noexcept {
    TaskLife was = alone ? look() : TaskLife(word_.load(std::memory_order_relaxed));  // relaxed: the exchange decides
    for (;;) {
      if (was.generation() != generation || was.wake() != lockfree::WakeState::queued) return false;
      now = was.with(lockfree::WakeState::running);
      if (was.state() == TaskState::created && may_start()) now = now.with(TaskState::running).with(TaskFlag::started);
      if (alone) {
        renew(now);
        return true;
      }
      if (exchange(was, now, std::memory_order_acquire)) return true;  // [T1] [T2] [T4]
    }
  }

  /// Begins the poll of a task that has its budget, the first one or another. Needs: nobody else changes the word meanwhile
  /// (LocalAtomics, or a caller that is alone). Gives: false when something has happened to it; then nothing has changed and
  /// begin_poll() decides.
  [[nodiscard]] bool begin_plain_poll(TaskId id) noexcept {
    const TaskLife was = look();
    if (was.is_queued_again(id)) {
      renew(was.with(lockfree::WakeState::running));
      return true;
    }
    if (!was.is_newborn(id)) return false;
    renew(was.first_poll());
    return true;
  }

  /// The same for whatever life the task has. Needs: the queue entry is not stale.
  [[nodiscard]] bool begin_plain_poll() noexcept { return begin_next_poll() || begin_first_poll(); }

  /// The same for one that is not the first.
  [[nodiscard]] bool begin_next_poll() noexcept {
    const TaskLife was = look();
    if (!was.is_queued_again()) [[unlikely]]
      return false;
    renew(was.polled_or_queued());
    return true;
  }

  /// The same for the first poll of a task.
  [[nodiscard]] bool begin_first_poll() noexcept {
    const TaskLife was = look();
    if (!was.is_newborn()) [[unlikely]]
      return false;
    renew(was.first_poll());
    return true;
  }

  /// Needs: the poll of this caller. The task is another's the moment this returns, unless it must be queued again.
  /// Gives: true when a wake came meanwhile: the task counts as queued and the caller must put it into a queue.
  [[nodiscard]] bool end_poll() noexcept {
    const TaskLife was(word_.fetch_sub(lockfree::running_bit, std::memory_order_release));  // [T2]
    CALM_REQUIRE(TSK_6, lockfree::find_wake_move(was.wake(), lockfree::WakeStep::end_poll) != nullptr, was.bits());
    return was.wake() == lockfree::WakeState::running_woken;
  }

  /// The same for a poll that ends with a wish for another one: as a wake and end_poll() in one step. The caller must put
  /// the task into a queue.
  void end_poll_woken() noexcept {
    TaskLife was = look();
    do {
      CALM_REQUIRE(TSK_6, lockfree::find_wake_move(was.wake(), lockfree::WakeStep::end_poll) != nullptr, was.bits());
    } while (!exchange(was, was.with(lockfree::WakeState::queued), std::memory_order_acq_rel));  // [T1] [T2]
  }

  // Both in plain steps. Needs: nobody else changes the word meanwhile. The second gives: the word.
  [[nodiscard]] bool end_poll_alone() noexcept {
    const TaskLife was = look();
    CALM_SLOW(TSK_6, lockfree::find_wake_move(was.wake(), lockfree::WakeStep::end_poll) != nullptr, was.bits());
    renew(TaskLife(was.bits() - lockfree::running_bit));
    return was.wake() == lockfree::WakeState::running_woken;
  }
  /// The second one of a poll that has left the word as it was. Gives: false when something has happened to it; then nothing has
  /// changed.
  [[nodiscard]] bool end_plain_poll_woken_alone() noexcept {
    const TaskLife was = look();
    if (!was.is_plainly_polled()) [[unlikely]]
      return false;
    renew(was.polled_or_queued());
    return true;
  }
  TaskLife end_poll_woken_alone() noexcept {
    const TaskLife was = look();
    CALM_SLOW(TSK_6, lockfree::find_wake_move(was.wake(), lockfree::WakeStep::end_poll) != nullptr, was.bits());
    const TaskLife now((was.bits() - lockfree::running_bit) | lockfree::woken_bit);
    renew(now);
    return now;
  }

  /// Takes the step from `was` to `next` if the word is still `was`. Gives: false, and `was` is the present word.
  /// With `alone` in plain steps: nobody else changes the word meanwhile.
  [[nodiscard]] bool step(TaskLife& was, TaskLife next, bool alone = false) noexcept {
    if (!alone) return exchange(was, next, std::memory_order_acq_rel);  // [T2] [T3] [T5]
    const TaskLife found = look();
    if (found == was) {
      renew(next);
      return true;
    }
    was = found;
    return false;
  }

  /// Needs: shard A. Takes a request: Created and Running become CancelRequested.
  /// Gives: the word before; the request is the first when that was Created or Running. `alone` as in step().
  TaskLife request(std::uint32_t generation, bool alone = false) noexcept {
    TaskLife was = look();
    while (was.generation() == generation && was.in(TaskState::created | StateMask<TaskState>(TaskState::running))) {
      if (step(was, was.with(TaskState::cancel_requested), alone)) break;
    }
    return was;
  }

  /// Sets or takes away a flag of this life; gives the word before, which had another generation when nothing was changed.
  TaskLife flag(std::uint32_t generation, TaskFlag flag, bool on) noexcept {
    TaskLife was = look();
    while (was.generation() == generation) {
      if (exchange(was, on ? was.with(flag) : was.without(flag), std::memory_order_acq_rel)) break;
    }
    return was;
  }

  /// Sets a flag unless the task has ended. Gives: false when it had, or the slot has another life; what the task did is seen
  ///        then [T3].
  [[nodiscard]] bool flag_unless_completed(std::uint32_t generation, TaskFlag flag) noexcept {
    TaskLife was = look();
    while (was.generation() == generation && was.state() != TaskState::completed) {
      if (exchange(was, was.with(flag), std::memory_order_acq_rel)) return true;  // [T5]
      was = look();  // [T3] what the exchange found it did not acquire
    }
    return false;
  }

  /// Needs: Completed, in no list. Gives: true when the caller must recycle the slot.
  [[nodiscard]] bool leave() noexcept {
    return !TaskLife(word_.fetch_or(bit(TaskFlag::left), std::memory_order_acq_rel)).has(TaskFlag::handle);  // [T6]
  }

 private:
  static constexpr std::uint64_t bit(TaskFlag flag) noexcept { return static_cast<std::uint64_t>(flag); }

  bool exchange(TaskLife& was, TaskLife next, std::memory_order order) noexcept {
    std::uint64_t expected = was.bits();
    // relaxed on failure: the caller decides anew on what it sees, and only a success publishes or takes over anything
    if (word_.compare_exchange_weak(expected, next.bits(), order, std::memory_order_relaxed)) return true;
    was = TaskLife(expected);
    return false;
  }

  typename Atomics::template Atomic<std::uint64_t> word_;
};

}  // namespace calm::kernel
