// company.hpp — who works beside whom: one who works alone keeps nobody out, and needs no lock for that.
// Laws:    none of its own; the turns of sync and channel stand on it (CHN-2, CHN-4, CHN-12), SCH-6, the guards of SHD-3
// Threads: each member by its own thread
// Cancel:  not applicable
//
// Threads that work on common things come in and leave again. One that finds itself the only one may be alone: from then on
// it does what would need a lock between begin_alone() and end_alone(), which are two plain writes. Who comes in later ends
// that first: it takes the bit away, makes the lonely one see so, and waits until it is not between the two. It waits for a
// few instructions, never for a whole piece of work.
//
//   word_      members | alone_bit; with the bit there is one member, and others that are coming in
//   busy_      the lonely one is between begin_alone() and end_alone(), in this layer
//   lonely_    the member that is alone, if it said which one it is; under the lock of those who come in
//
// A Member has the same for turns alone, where who has one a thousand times in a poll finds it at hand:
//   alone_     as alone_bit; under that lock, but that who leaves takes its own away
//   busy_      it is between begin_turn() and end_turn(), with this kind of things
//
// What needs a lock may call what needs another: each kind of lock has a layer, and in a layer nothing is nested.
//
// The lonely one writes busy_ and reads the bit; who comes in takes the bit and reads busy_. Not both can miss the other's
// write: see process_fence.hpp.
//
// Pairs:
//   [C1] leave() releases -> enter() and try_alone() acquire: what was done in company is seen by who comes next.
//   [C2] end_alone() releases -> enter() acquires: what was done alone is seen by who ended that.
//   [C3] the lock of those who come in: the second waits until the first has ended the loneliness.
#pragma once

#include <cstdint>

#include "calm/check/require.hpp"
#include "calm/lockfree/atomics.hpp"
#include "calm/lockfree/lock.hpp"
#include "calm/lockfree/process_fence.hpp"

namespace calm::lockfree {

/// What one who is alone may be in, each in the one before.
enum class AloneIn : std::uint8_t {
  turn,      ///< of something that tasks share
  guard,     ///< of the kernel's shards
  gate,      ///< of a region
  dispatch,  ///< from the end of one poll to the beginning of the next: the words of tasks and the queues of a worker
  event,     ///< that is numbered
};

template <AtomicsPolicy Atomics = RealAtomics, class Fence = RealFence>
class Company {
 public:
  constexpr Company() noexcept = default;
  Company(const Company&) = delete;
  Company& operator=(const Company&) = delete;

  /// Somebody may be alone here. Where the system has no fence for it nobody ever is. Needs: nobody has come in yet.
  void prepare() noexcept { can_be_alone_ = Fence::prepare(); }

  class Member;

  // --- coming and going ---

  /// Needs: away.
  void enter() noexcept {
    if (word_.fetch_add(1, std::memory_order_acq_rel) == 0) return;  // [C1]
    entry_.lock();                                                   // [C3]
    if ((word_.load(std::memory_order_acquire) & alone_bit) != 0) end_loneliness();
    entry_.unlock();
  }

  /// Needs: in company, and not between begin_alone() and end_alone().
  void leave() noexcept {
    // relaxed: the bit is its own, or it is not set: another one gets it only when this one has left.
    if ((word_.load(std::memory_order_relaxed) & alone_bit) != 0) {
      if (lonely_ != nullptr) lonely_->alone_.store(false, std::memory_order_relaxed);
      word_.fetch_and(~alone_bit, std::memory_order_release);
    }
    const std::uint32_t was = word_.fetch_sub(1, std::memory_order_release);  // [C1]
    CALM_SLOW(SCH_6, (was & ~alone_bit) != 0, was);
  }

  /// It is alone from now on, if nobody else is in. Needs: in company.
  void try_alone() noexcept { try_alone(nullptr); }
  /// The same for one that goes by its Member then, too. Needs: the same thread for the same one.
  void try_alone(Member& member) noexcept { try_alone(&member); }

  // --- who is in ---

  /// Gives: true when it was alone a moment ago. Needs: in company.
  // relaxed: nothing follows from it but what is worth trying.
  [[nodiscard]] bool looks_alone() const noexcept { return (word_.load(std::memory_order_relaxed) & alone_bit) != 0; }

  /// Gives: true when the caller is between begin_alone() and end_alone() in this layer, which it said true to: what it calls
  ///        there need not begin anew. It may be false all the same once somebody waits to come in. Needs: in company.
  // relaxed: with the bit nobody else is in, and all of this is its own; who has come in has seen the bit taken away, and it is
  // not given before one is left.
  [[nodiscard, gnu::always_inline]] bool is_alone_in(AloneIn layer) noexcept {
    return (word_.load(std::memory_order_relaxed) & alone_bit) != 0 && busy_in(layer).load(std::memory_order_relaxed);
  }

  /// Gives: true when it is alone, and nobody else comes in before end_alone(). False: what follows needs a lock.
  [[nodiscard, gnu::always_inline]] bool begin_alone(AloneIn layer = AloneIn::turn) noexcept {
    // relaxed: the bit is its own, or not set; see leave().
    return (word_.load(std::memory_order_relaxed) & alone_bit) != 0 && try_begin_alone(layer);
  }
  /// The same for who was so a moment ago, in this layer, and most likely still is.
  [[nodiscard, gnu::always_inline]] bool begin_alone_again(AloneIn layer) noexcept {
    // Where it is not, what it writes for a moment is nobody's: another one gets the bit only when this one has left.
    return try_begin_alone(layer);
  }
  [[gnu::always_inline]] void end_alone(AloneIn layer = AloneIn::turn) noexcept {
    busy_in(layer).store(false, std::memory_order_release);  // [C2]
  }

 private:
  static constexpr std::uint32_t alone_bit = std::uint32_t{1} << 31;

  [[nodiscard, gnu::always_inline]] bool try_begin_alone(AloneIn layer) noexcept {
    busy_in(layer).store(true, Fence::order);
    Fence::light();
    if ((word_.load(Fence::order) & alone_bit) != 0) [[likely]]
      return true;
    busy_in(layer).store(false, std::memory_order_release);  // [C2]
    return false;
  }
  void try_alone(Member* member) noexcept {
    if (!can_be_alone_ || word_.load(std::memory_order_acquire) != 1) return;  // [C1]
    // Who comes in from here on waits for the lock, and ends all of this: another one never sees a Member alone beside it.
    entry_.lock();  // [C3]
    std::uint32_t expected = 1;
    if (word_.compare_exchange_strong(expected, expected | alone_bit, std::memory_order_acquire,  // [C1]
                                      std::memory_order_relaxed)) {
      lonely_ = member;
      if (member != nullptr) member->alone_.store(true, std::memory_order_relaxed);
    }
    entry_.unlock();
  }
  [[gnu::cold, gnu::noinline]] void end_loneliness() noexcept {
    word_.fetch_and(~alone_bit, std::memory_order_seq_cst);
    if (lonely_ != nullptr) lonely_->alone_.store(false, std::memory_order_seq_cst);
    Fence::heavy();
    for (auto& busy : busy_) {
      while (busy.load(std::memory_order_seq_cst)) Atomics::pause();  // [C2]
    }
    if (lonely_ == nullptr) return;
    for (auto& busy : lonely_->busy_) {
      while (busy.load(std::memory_order_seq_cst)) Atomics::pause();  // [C2]
    }
  }
  auto& busy_in(AloneIn layer) noexcept { return busy_[static_cast<std::uint8_t>(layer)]; }

  typename Atomics::template Atomic<std::uint32_t> word_{0};
  typename Atomics::template Atomic<bool> busy_[5]{};
  bool can_be_alone_ = false;
  Member* lonely_ = nullptr;
  Lock<Atomics> entry_;
};

/// One of a company, for turns (AloneIn::turn) that are begun by it instead: one load and a branch less, and the company need not
/// be at hand.
template <AtomicsPolicy Atomics, class Fence>
class Company<Atomics, Fence>::Member {
 public:
  constexpr Member() noexcept = default;
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  /// What a turn is of. The second may be had in one of the first.
  enum class Of : std::uint8_t {
    tasks,   ///< something that tasks share
    alarms,  ///< its own wheel
  };

  /// Gives: true when this one is alone, and nobody else comes in before end_turn(). It is false for who is not in company, or
  ///        is so as another one.
  /// What was read before it nobody has changed since when it is true: only its own thread lets it be alone.
  // In vain it writes busy_ while others may, too. Nobody reads it then: a loneliness is ended before another one than the lonely
  // one goes on [C3], and who is alone next becomes so when those who were in have left [C1].
  [[nodiscard, gnu::always_inline]] bool begin_turn(Of of = Of::tasks) noexcept {
    busy_with(of).store(true, Fence::order);
    Fence::light();
    if (alone_.load(Fence::order)) [[likely]]
      return true;
    end_turn(of);
    return false;
  }
  [[gnu::always_inline]] void end_turn(Of of = Of::tasks) noexcept {
    busy_with(of).store(false, std::memory_order_release);  // [C2]
  }

 private:
  friend class Company;
  auto& busy_with(Of of) noexcept { return busy_[static_cast<std::uint8_t>(of)]; }

  typename Atomics::template Atomic<bool> alone_{false};
  typename Atomics::template Atomic<bool> busy_[2]{};
};

}  // namespace calm::lockfree
