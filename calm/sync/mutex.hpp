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
  /// A guard is made, for the holder, which runs: it is a promise (OBL-2).
  void count() noexcept { line_.port().count(line_.port().here(), ObligationKind::lock_guard); }
  /// The guard ends: the promise is settled, and the lock goes to who waits longest, or to nobody.
  [[gnu::always_inline]] void unlock() noexcept {
    cx::Port::Worker& worker = line_.port().here();
    if (line_.is_shared()) [[unlikely]]
      return unlock_among_others(worker);
    settle(worker);
    unlock_in_turn();
  }

  // For the short way of the wait, where nobody else can come before the caller, and nobody follows it.

  [[nodiscard]] bool is_at_hand() const noexcept {
    return line_.begin_short_turn() && line_.keep_short_turn_if(!holder_);
  }
  /// Locks, and counts as count(). Needs: is_at_hand(); the task runs.
  void take(const cx::TaskRoot& root) noexcept {
    holder_ = root.id();
    line_.end_short_turn();
    line_.port().count(root.worker(), ObligationKind::lock_guard);
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
  /// Whoever does it. Who holds the lock made the promise, wherever the guard is now; when it has ended, that has settled it
  /// (OBL-5).
  void settle(cx::Port::Worker& worker) noexcept { line_.port().uncount(worker, holder_, ObligationKind::lock_guard); }
  [[gnu::noinline]] void unlock_among_others(cx::Port::Worker& worker) noexcept {
    settle(worker);
    const Line::Turn turn(line_);
    unlock_in_turn();
  }
  void unlock_in_turn() noexcept {
    line_.writes();
    pass_on();
  }
  [[gnu::always_inline]] void pass_on() noexcept {
    if (!line_.empty()) [[unlikely]]
      return pass_on_to_first();
    holder_ = {};
  }
  [[gnu::noinline]] void pass_on_to_first() noexcept {
    holder_ = line_.first()->task();
    line_.grant(*line_.first());
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
    Guard(Guard&& other) noexcept : mutex_(std::exchange(other.mutex_, nullptr)) {}
    Guard& operator=(Guard&& other) noexcept {
      std::swap(mutex_, other.mutex_);
      return *this;
    }
    [[gnu::always_inline]] ~Guard() { unlock(); }

    /// Before its end. A second time it does nothing.
    [[gnu::always_inline]] void unlock() noexcept {
      if (mutex_ != nullptr) std::exchange(mutex_, nullptr)->holding_.unlock();
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
    explicit Guard(Mutex& mutex) noexcept : mutex_(&mutex) {}

    Mutex* mutex_;
  };

 private:
  class LockWait : public sync::LineWait<sync::Holding> {
   public:
    LockWait(const cx::Context* context, Mutex* mutex) noexcept : LineWait(context, &mutex->holding_), mutex_(*mutex) {}
    [[nodiscard]] Guard result() noexcept {
      this->use_grant();
      mutex_.holding_.count();
      return Guard(mutex_);
    }

    /// A lock that nobody has is had without a wait.
    class Shortcut {
     public:
      [[nodiscard]] static bool is_at_hand(const Mutex* mutex) noexcept { return mutex->holding_.is_at_hand(); }
      Shortcut(const cx::TaskRoot& root, Mutex* mutex) noexcept {
        mutex->holding_.take(root);
        mutex_ = mutex;
      }
      [[nodiscard]] Guard result() const noexcept { return Guard(*mutex_); }

     private:
      Mutex* mutex_;
    };

   protected:
    ~LockWait() = default;

   private:
    Mutex& mutex_;
  };

 public:
  /// Gives: a guard, when all who came before have had theirs.
  /// Fails: conflict when the task holds it already.
  cx::WaitFor<LockWait, cx::GivenContext, Mutex*> lock(CxOf<> cx) noexcept {
    return cx::WaitFor<LockWait, cx::GivenContext, Mutex*>(cx::GivenContext(cx), this);
  }

  /// Gives: a guard, or nothing when it is held or others wait; no checkpoint.
  [[nodiscard]] std::optional<Guard> try_lock(CxOf<> cx) noexcept {
    if (!holding_.try_lock(cx.task())) return std::nullopt;
    holding_.count();
    return Guard(*this);
  }

  /// Only looks.
  [[nodiscard]] bool is_locked() const noexcept { return holding_.is_locked(); }

 private:
  sync::Holding holding_;
  [[no_unique_address]] Value value_{};
};

}  // namespace calm
