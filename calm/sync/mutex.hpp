// mutex.hpp — one task at a time: a lock that is waited for, and a guard that is a promise to give it back.
// Laws:    CHN-12, OBL-2 (a guard is counted), OBL-4, OBL-5, CAN-13
// Threads: the tasks of one runtime, on any of its workers; see line.hpp
// Cancel:  a waiting lock() leaves the line; a lock that was granted and not taken goes to the next; unlocking never waits
//
//   calm::Mutex<Account> account(cx, Account{100});    // in a frame that outlives those who use it
//   calm::Mutex<Account>::Guard held = co_await account.lock(inner);
//   held->balance -= 10;                               // until the guard ends
//
// A task that awaits with a guard in its hands keeps others waiting: snapshots say how many guards it holds, where it
// stands, and of those who wait which task they wait for. The lock goes from hand to hand in the order in which it was asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "calm/cx/cx.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/error.hpp"
#include "calm/model/obligation_kind.hpp"
#include "calm/sync/counted.hpp"
#include "calm/sync/line.hpp"

namespace calm {

namespace sync {

/// Who holds a lock, and who waits for it.
class Holding {
 public:
  explicit Holding(CxOf<> cx) noexcept : line_(cx) {}

  [[nodiscard]] bool is_locked() const noexcept {
    const Line::Turn turn(line_);
    line_.reads();
    return bool(holder_);
  }
  /// Gives: true when it is the caller's now.
  [[nodiscard]] bool try_lock(TaskId task) noexcept {
    const Line::Turn turn(line_);
    if (holder_) {
      line_.reads();
      return false;
    }
    line_.writes();
    holder_ = task;
    return true;
  }
  /// To who waits longest, or to nobody.
  void unlock() noexcept {
    if (line_.is_shared()) [[unlikely]]
      return unlock_among_others();
    unlock_in_turn();
  }

  // --- what a LineWait asks ---

  [[nodiscard]] Line& line() noexcept { return line_; }
  [[nodiscard]] TaskId holder() const noexcept { return holder_; }
  [[nodiscard]] bool try_admit(const Waiter& /*waiter*/, TaskId task) noexcept {
    if (holder_) return false;
    holder_ = task;
    return true;
  }
  [[nodiscard]] bool refuses(const Waiter& /*waiter*/, TaskId task, ChildEnd& end) const noexcept {
    if (holder_ != task) return false;
    end = err(Error(Errc::conflict,
                    "a task locks what it has locked already, and would wait for itself [CHN-12]; next: pass the guard "
                    "on, or end it before"));
    return true;
  }
  static void left(const Waiter& /*waiter*/) noexcept {}
  void take_back(const Waiter& /*waiter*/) noexcept { pass_on(); }

 private:
  [[gnu::noinline]] void unlock_among_others() noexcept {
    const Line::Turn turn(line_);
    unlock_in_turn();
  }
  void unlock_in_turn() noexcept {
    line_.writes();
    pass_on();
  }
  void pass_on() noexcept {
    Waiter* const next = line_.first();
    holder_ = next == nullptr ? TaskId() : next->task();
    if (next != nullptr) line_.grant(*next);
  }

  Line line_;
  TaskId holder_{};  // also of a grant that was not taken yet: CHN-12: with nobody there, nobody waits
};

}  // namespace sync

/// A lock around a T, or around nothing but what the program says.
template <class T = void>
class Mutex {
  struct Nothing {};
  using Value = std::conditional_t<std::is_void_v<T>, Nothing, T>;

 public:
  /// Needs: the context of the code that makes it; nobody holds or awaits it when it ends.
  explicit Mutex(CxOf<> cx) : holding_(cx) {}
  Mutex(CxOf<> cx, Value value)
    requires(!std::is_void_v<T>)
      : holding_(cx), value_(std::move(value)) {}
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  ~Mutex() = default;

  /// The lock is held as long as this lives.
  class [[nodiscard("a guard that is dropped at once protects nothing")]] Guard {
   public:
    Guard(Guard&& other) noexcept : mutex_(std::exchange(other.mutex_, nullptr)), promise_(std::move(other.promise_)) {}
    Guard& operator=(Guard&& other) noexcept {
      std::swap(mutex_, other.mutex_);
      std::swap(promise_, other.promise_);
      return *this;
    }
    ~Guard() { unlock(); }

    /// Before its end. A second time it does nothing.
    void unlock() noexcept {
      if (mutex_ == nullptr) return;
      promise_.settle(mutex_->holding_.line().port(), ObligationKind::lock_guard);
      std::exchange(mutex_, nullptr)->holding_.unlock();
    }
    /// Gives: false once it was unlocked or moved from.
    [[nodiscard]] explicit operator bool() const noexcept { return mutex_ != nullptr; }

    /// Needs: not unlocked, not moved from.
    [[nodiscard]] Value& operator*() const noexcept
      requires(!std::is_void_v<T>)
    {
      CALM_REQUIRE(CHN_12, mutex_ != nullptr);
      return mutex_->value_;
    }
    [[nodiscard]] Value* operator->() const noexcept
      requires(!std::is_void_v<T>)
    {
      return &**this;
    }

   private:
    friend class Mutex;
    Guard(Mutex& mutex, sync::Counted promise) noexcept : mutex_(&mutex), promise_(std::move(promise)) {}

    Mutex* mutex_;
    sync::Counted promise_;
  };

 private:
  class LockWait : public sync::LineWait<sync::Holding> {
   public:
    LockWait(const cx::Context* context, Mutex* mutex) noexcept : LineWait(context, &mutex->holding_), mutex_(*mutex) {}
    [[nodiscard]] Guard result() noexcept {
      this->use_grant();
      return Guard(mutex_, sync::Counted(mutex_.holding_.line().port(), ObligationKind::lock_guard));
    }

   protected:
    ~LockWait() = default;

   private:
    Mutex& mutex_;
  };

 public:
  /// Gives: a guard, when all who came before have had theirs.
  /// Fails: conflict when the task holds it already.
  cx::WaitFor<LockWait, const cx::Context*, Mutex*> lock(CxOf<> cx) noexcept {
    return cx::WaitFor<LockWait, const cx::Context*, Mutex*>(&cx::context_of(cx), this);
  }

  /// Gives: a guard, or nothing when it is held or others wait; no checkpoint.
  [[nodiscard]] std::optional<Guard> try_lock(CxOf<> cx) noexcept {
    if (!holding_.try_lock(cx.task())) return std::nullopt;
    return Guard(*this, sync::Counted(holding_.line().port(), ObligationKind::lock_guard));
  }

  /// Only looks.
  [[nodiscard]] bool is_locked() const noexcept { return holding_.is_locked(); }

 private:
  sync::Holding holding_;
  [[no_unique_address]] Value value_{};
};

}  // namespace calm
