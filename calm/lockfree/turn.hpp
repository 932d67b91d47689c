// turn.hpp — one at a time, where several threads may come: a short lock that one who is alone never takes.
// Laws:    none of its own; the primitives of sync and channel stand on it (CHN-2, CHN-4, CHN-12)
// Threads: anywhere; a turn is not recursive and ends on the thread where it began
// Cancel:  not applicable: nothing waits while it has a turn
//
// Whether several threads may come is known when a primitive is made. Where one does everything a turn is two branches; the
// lock is out of line, so that what stands between them is as small as without. Threads that come and leave as a company
// (company.hpp) have a turn in two plain writes while only one of them is in.
#pragma once

#include <atomic>
#include <cstdint>

#include "calm/lockfree/company.hpp"
#include "calm/lockfree/lock.hpp"

namespace calm::lockfree {

/// From its beginning to its end nobody else has a turn of this lock. Its end is the last that it does to the lock: who has a
/// turn afterwards may end what the lock is in.
class [[nodiscard("a turn lasts as long as this lives")]] Turn {
 public:
  [[gnu::always_inline]] Turn(bool several, Lock<>& lock) noexcept : lock_(several ? &lock : nullptr) {
    if (lock_ != nullptr) [[unlikely]]
      begin(*lock_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  [[gnu::always_inline]] ~Turn() {
    if (lock_ != nullptr) [[unlikely]]
      end(*lock_);
  }

 private:
  [[gnu::noinline]] static void begin(Lock<>& lock) noexcept { lock.lock(); }
  [[gnu::noinline]] static void end(Lock<>& lock) noexcept { lock.unlock(); }

  Lock<>* lock_;
};

/// What a thread has seen of the turns of others.
struct TurnHistory {
  std::uint32_t thread = 0;  ///< the number of this one; 0 before its first turn
  std::uint32_t moved = 0;   ///< turns that another thread had before: what they guard came from another core

  /// When so many more have moved this is called, once, in a turn.
  void call_after(std::uint32_t more, void (*call)(void*) noexcept, void* context) noexcept {
    call_at_ = moved + more;
    call_ = call;
    context_ = context;
  }
  void call_nobody() noexcept { call_ = nullptr; }

  void add_moved() noexcept {
    if (++moved == call_at_ && call_ != nullptr) [[unlikely]]
      call_(context_);
  }

 private:
  std::uint32_t call_at_ = 0;
  void (*call_)(void*) noexcept = nullptr;
  void* context_ = nullptr;
};
inline TurnHistory& turn_history() noexcept {
  static constinit thread_local TurnHistory history;
  return history;
}

/// Where the history of the calling thread is.
struct ThreadHistory {
  static TurnHistory& mine() noexcept { return turn_history(); }
};

/// A lock that knows who had it last.
template <AtomicsPolicy Atomics = RealAtomics, class History = ThreadHistory, class Its = Lock<Atomics>>
class BasicTurnLock {
 public:
  void lock() noexcept {
    lock_.lock();
    TurnHistory& mine = History::mine();
    if (mine.thread == 0) mine.thread = new_number();
    if (last_ == mine.thread) [[likely]]
      return;
    if (last_ != 0) mine.add_moved();
    last_ = mine.thread;
  }
  void unlock() noexcept { lock_.unlock(); }

 private:
  /// Numbers come again after 2^32 threads: a move is overlooked then, and nothing else.
  static std::uint32_t new_number() noexcept {
    static constinit std::atomic<std::uint32_t> given{0};
    return given.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: a number only
  }

  Its lock_;
  std::uint32_t last_ = 0;
};
using TurnLock = BasicTurnLock<>;

/// The same among the members of a company. Needs: one of them, without another turn of this company; no company at all where
/// one thread does everything.
template <class Members = Company<>, class Its = TurnLock>
class [[nodiscard("a turn lasts as long as this lives")]] BasicCompanyTurn {
 public:
  [[gnu::always_inline]] BasicCompanyTurn(Members* company, Its& lock) noexcept : company_(company) {
    if (company_ == nullptr || company_->begin_alone()) [[likely]]
      return;
    lock_ = &lock;
    begin(lock);
  }
  BasicCompanyTurn(const BasicCompanyTurn&) = delete;
  BasicCompanyTurn& operator=(const BasicCompanyTurn&) = delete;
  [[gnu::always_inline]] ~BasicCompanyTurn() {
    if (company_ == nullptr) return;
    if (lock_ == nullptr) [[likely]]
      company_->end_alone();
    else
      end(*lock_);
  }

 private:
  [[gnu::noinline]] static void begin(Its& lock) noexcept { lock.lock(); }
  [[gnu::noinline]] static void end(Its& lock) noexcept { lock.unlock(); }

  Members* company_;
  Its* lock_ = nullptr;
};
using CompanyTurn = BasicCompanyTurn<>;

}  // namespace calm::lockfree
