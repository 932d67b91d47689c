// mutex.hpp — one task at a time: a lock that is waited for, and a guard that is a promise to give it back.
// Laws:    CHN-12, OBL-2 (a guard is counted), OBL-4, OBL-5, CAN-13
// Threads: the tasks of one runtime, on any of its workers; see line.hpp
// Cancel:  a waiting lock() leaves the line; a call or a lock that was for it goes to the next; unlocking never waits
//
//   calm::Mutex<Account> account(cx, Account{100});    // in a frame that outlives those who use it
//   calm::Mutex<Account>::Guard held = co_await account.lock(inner);
//   held->balance -= 10;                               // until the guard ends
//
// A task that awaits with a guard in its hands keeps others waiting: snapshots say how many guards it holds, where it
// stands, and of those who wait which task they wait for.
//
// Who waits may be passed, but not for long. An unlock frees the lock and calls the first in line, which stays there. Until its
// task is polled others may come and take the lock, as often as they like: one that locks and unlocks in a loop goes on, instead
// of switching to another task each time. If the called one finds the lock free, it has it; if it finds it taken, it was passed,
// and the unlock that follows hands the lock over to it, whoever else has come. So for the first in line there is one call, at
// most one poll in vain, and from that poll on one holder before it: the one it found. Those in line have the lock in the order in
// which they came.
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
  explicit Holding(CxOf<> cx) noexcept : line_(cx), only_(line_.only_worker()), company_(line_.port().company()) {}

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
  void count() noexcept { count_on(line_.port().here()); }
  /// The guard ends: the promise is settled, and the lock is free, or goes to who was passed.
  [[gnu::always_inline]] void unlock() noexcept {
    if (cx::Port::Worker* const only = only_) [[likely]] {
      line_.port().uncount_on_only(*only, holder_, ObligationKind::lock_guard);
      return pass_on();
    }
    lockfree::Company<>* const company = company_;
    if (company != nullptr && company->begin_alone()) [[likely]] {
      // Nobody else works until the turn ends: if the holder runs on the worker where the guard was made, that is this one.
      cx::Port::Worker& worker = *made_on_;
      if (line_.first() == called_ && worker.running() == holder_) [[likely]] {
        line_.port().uncount_among_others(worker, ObligationKind::lock_guard);
        holder_ = {};
        return company->end_alone();
      }
      company->end_alone();
    }
    unlock_in_turn();
  }

  /// For the short way of the wait, where nobody follows it: locks, and counts as count(), if nobody has it and nobody else
  /// can come before the caller. Needs: the task runs.
  [[nodiscard, gnu::always_inline]] bool try_short(const cx::TaskRoot& root) noexcept {
    if (cx::Port::Worker* const only = only_) [[likely]] {
      if (holder_) return false;
      holder_ = root.id();
      cx::Port::count_on_only(*only, ObligationKind::lock_guard);
      return true;
    }
    lockfree::Company<>* const company = company_;
    if (company == nullptr || !company->begin_alone()) return false;
    if (holder_) {
      company->end_alone();
      return false;
    }
    cx::Port::Worker& worker = root.worker();
    holder_ = root.id();
    made_on_ = &worker;
    company->end_alone();
    line_.port().count_among_others(worker, ObligationKind::lock_guard);
    return true;
  }

  // --- what a LineWait asks ---

  [[nodiscard]] Line& line() noexcept { return line_; }
  [[nodiscard]] TaskId holder() const noexcept { return holder_; }
  /// Whoever waits: it may be passed.
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
  /// Who was called has come; of others who are polled nobody is meant.
  [[nodiscard]] bool try_again(const Waiter& waiter) noexcept {
    if (&waiter != called_) return false;
    called_ = nullptr;
    if (!holder_) {
      holder_ = waiter.task();
      return true;
    }
    line_.writes();
    passed_ = &waiter;
    return false;
  }
  void left(const Waiter& waiter) noexcept {
    if (&waiter == passed_) passed_ = nullptr;
    if (&waiter != called_) return;
    called_ = nullptr;
    if (!holder_) pass_on();
  }
  void take_back(const Waiter& /*waiter*/) noexcept { pass_on(); }

 private:
  void count_on(cx::Port::Worker& worker) noexcept {
    made_on_ = &worker;
    line_.port().count(worker, ObligationKind::lock_guard);
  }
  /// Whoever does it. Who holds the lock made the promise, wherever the guard is now; when it has ended, that has settled it
  /// (OBL-5).
  [[gnu::noinline]] void unlock_in_turn() noexcept {
    line_.port().uncount(line_.port().here(), holder_, ObligationKind::lock_guard);
    const Line::Turn turn(line_);
    line_.writes();
    pass_on();
  }
  [[gnu::always_inline]] void pass_on() noexcept {
    if (line_.first() != called_) [[unlikely]]
      return pass_on_to_first();
    holder_ = {};  // nobody waits, or who does was called
  }
  [[gnu::noinline]] void pass_on_to_first() noexcept {
    Waiter& first = *line_.first();
    if (&first == passed_) {
      passed_ = nullptr;
      holder_ = first.task();
      line_.grant(first);
    } else {
      CALM_SLOW(CHN_12, called_ == nullptr && passed_ == nullptr, first.task().bits());
      holder_ = {};
      called_ = &first;
      line_.call(first);
    }
  }

  // CHN-12: while nobody holds it, who is first in line was called. At most one of the two below is somebody, and that is the
  // first in line.
  Line line_;
  TaskId holder_{};                      // also of a grant that was not taken yet
  cx::Port::Worker* const only_;         // does all that is done here, and nobody follows it; else nullptr
  lockfree::Company<>* const company_;   // of those who come; nullptr when one does all
  cx::Port::Worker* made_on_ = nullptr;  // the guard; it belongs to who has that; among others only
  const Waiter* called_ = nullptr;       // when the lock was freed; it has not come yet
  const Waiter* passed_ = nullptr;       // it was called, and found the lock taken
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

    /// A lock that nobody has is had without a wait.
    class Shortcut {
     public:
      [[nodiscard, gnu::always_inline]] static bool get(const cx::TaskRoot& root, Mutex* mutex) noexcept {
        return mutex->holding_.try_short(root);
      }
      explicit Shortcut(Mutex* mutex) noexcept : mutex_(mutex) {}
      [[nodiscard]] Guard result() const noexcept { return Guard(*mutex_); }

     private:
      Mutex* mutex_;
    };
    [[nodiscard]] Shortcut settle() noexcept {
      this->use_grant();
      mutex_.holding_.count();
      return Shortcut(&mutex_);
    }
    [[nodiscard]] Guard result() noexcept { return settle().result(); }

   protected:
    ~LockWait() = default;

   private:
    Mutex& mutex_;
  };

 public:
  /// Gives: a guard, at once when nobody has the lock, whoever waits for it.
  /// Fails: conflict when the task holds it already.
  cx::WaitFor<LockWait, cx::GivenContext, Mutex*> lock(CxOf<> cx) noexcept {
    return cx::WaitFor<LockWait, cx::GivenContext, Mutex*>(cx::GivenContext(cx), this);
  }

  /// Gives: a guard, or nothing when somebody has the lock; no checkpoint.
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
