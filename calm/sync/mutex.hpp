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
#include "calm/lockfree/company.hpp"
#include "calm/lockfree/relaxed.hpp"
#include "calm/model/error.hpp"
#include "calm/model/obligation_kind.hpp"
#include "calm/sync/line.hpp"

namespace calm {

namespace sync {

/// Who holds a lock, and who waits for it.
class Holding {
 public:
  explicit Holding(CxOf<> cx) noexcept : line_(cx), by_(by_whom(line_)), state_(free_state()) {}

  [[nodiscard]] bool is_locked() const noexcept {
    const Line::Turn turn(line_);
    line_.reads();
    return is_held();
  }
  /// Gives: true when it is the caller's now.
  [[nodiscard]] bool try_lock(TaskId task) noexcept {
    const Line::Turn turn(line_);
    if (is_held()) {
      line_.reads();
      return false;
    }
    line_.writes();
    hold_for(task);
    return true;
  }
  /// A guard is made, for the holder, which runs: it is a promise (OBL-2).
  void count() noexcept {
    cx::Port::Worker& worker = line_.port().here();
    made_on_ = &worker;
    line_.port().count(worker, ObligationKind::lock_guard);
  }
  /// The guard ends: the promise is settled, and the lock is free, or goes to who was passed.
  [[gnu::always_inline]] void unlock() noexcept {
    const std::uintptr_t by = by_.get();
    if ((by & plain_bit) == 0) {
      if (by == among_others) [[unlikely]]
        return unlock_among_others();
      cx::Port::Worker& only = worker_in(by);
      if (only.running().bits() != state_.get()) [[unlikely]]
        return unlock_in_turn();
      cx::Port::uncount_here(only, ObligationKind::lock_guard);
      return pass_on(free_for_one);
    }
    // Nobody else works until the turn ends: if the holder runs on the worker where it took the lock, that is this one.
    cx::Port::Worker& worker = worker_in(by - plain_bit);
    if (!worker.member().begin_turn()) [[unlikely]]
      return unlock_among_others();
    if (worker.running().bits() != state_.get()) [[unlikely]]
      return unlock_for_another(worker);
    CALM_SLOW(CHN_12, line_.first() == called_, state_.get());
    cx::Port::uncount_here(worker, ObligationKind::lock_guard);
    state_.set(bits_of(worker));
    worker.member().end_turn();
  }

  /// For the short way of the wait, where nobody follows it: locks, and counts as count(), if nobody has it and nobody else
  /// can come before the caller. Needs: the task runs.
  [[nodiscard, gnu::always_inline]] bool try_short(const cx::TaskRoot& root) noexcept {
    cx::Port::Worker& worker = root.own_worker();
    const std::uint64_t state = state_.get();
    if (state == bits_of(worker)) {
      if (!worker.member().begin_turn()) [[unlikely]]
        return false;
      cx::Port::count_here(worker, ObligationKind::lock_guard);
      state_.set(root.id().bits());
      worker.member().end_turn();
      return true;
    }
    if (state != free_for_one) [[unlikely]]
      return try_short_anew(root, worker);
    state_.set(root.id().bits());  // nobody has it, and one does all
    cx::Port::count_here(worker, ObligationKind::lock_guard);
    return true;
  }

  // --- what a LineWait asks ---

  [[nodiscard]] Line& line() noexcept { return line_; }
  [[nodiscard]] TaskId holder() const noexcept { return is_held() ? TaskId::from_bits(state_.get()) : TaskId(); }
  /// Whoever waits: it may be passed.
  [[nodiscard]] bool try_admit(const Waiter& /*waiter*/, TaskId task) noexcept {
    if (is_held()) {
      end_plainness();
      return false;
    }
    hold_for(task);
    return true;
  }
  [[nodiscard]] bool refuses(const Waiter& /*waiter*/, TaskId task, ChildEnd& end) const noexcept {
    if (holder() != task) return false;
    end = err(Error(Errc::conflict,
                    "a task locks what it has locked already, and would wait for itself [CHN-12]; next: pass the guard "
                    "on, or end it before"));
    return true;
  }
  /// Who was called has come; of others who are polled nobody is meant.
  [[nodiscard]] bool try_again(const Waiter& waiter) noexcept {
    if (&waiter != called_) return false;
    called_ = nullptr;
    if (!is_held()) {
      hold_for(waiter.task());
      return true;
    }
    line_.writes();
    end_plainness();
    passed_ = &waiter;
    return false;
  }
  void left(const Waiter& waiter) noexcept {
    if (&waiter == passed_) passed_ = nullptr;
    if (&waiter != called_) return;
    called_ = nullptr;
    end_plainness();
    if (!is_held()) pass_on(free_state());
  }
  void take_back(const Waiter& /*waiter*/) noexcept { pass_on(free_state()); }

 private:
  // What by_ says beside the address of a worker, and in place of one.
  static constexpr std::uintptr_t plain_bit = 1;
  static constexpr std::uintptr_t among_others = 0;
  static_assert(alignof(cx::Port::Worker) > plain_bit);
  // What state_ says in place of a worker or of a task.
  static constexpr std::uint64_t free_for_one = 0;
  static constexpr std::uint64_t free_among_others = 1;
  static constexpr std::uint64_t holds_id = std::uint64_t{1}
                                            << 56;  // an id has its type above this bit, an address nothing

  static std::uintptr_t bits_of(const cx::Port::Worker& worker) noexcept {
    return reinterpret_cast<std::uintptr_t>(&worker);
  }
  static cx::Port::Worker& worker_in(std::uintptr_t bits) noexcept {
    return *reinterpret_cast<cx::Port::Worker*>(bits);  // NOLINT(performance-no-int-to-ptr): it was made from one
  }
  static std::uintptr_t by_whom(const Line& line) noexcept {
    const cx::Port::Worker* const only = line.only_worker();
    return only != nullptr ? bits_of(*only) : among_others;
  }
  [[nodiscard]] std::uint64_t free_state() const noexcept {
    const std::uintptr_t by = by_.get();
    if ((by & plain_bit) != 0) return by - plain_bit;
    return by == among_others ? free_among_others : free_for_one;
  }
  [[nodiscard]] bool is_held() const noexcept { return state_.get() >= holds_id; }

  /// Otherwise than on the short way.
  void hold_for(TaskId task) noexcept {
    end_plainness();
    state_.set(task.bits());
  }
  /// The unlock that follows may have somebody to call or to hand the lock to, or a promise that is counted elsewhere.
  void end_plainness() noexcept {
    const std::uintptr_t by = by_.get();
    if ((by & plain_bit) == 0) return;
    made_on_ = &worker_in(by - plain_bit);
    by_.set(among_others);
  }
  /// It was held otherwise before, or by a task on another worker.
  [[nodiscard, gnu::noinline]] bool try_short_anew(const cx::TaskRoot& root, cx::Port::Worker& worker) noexcept {
    if (is_held() || !worker.member().begin_turn()) return false;
    cx::Port::count_here(worker, ObligationKind::lock_guard);
    by_.set(bits_of(worker) | plain_bit);
    state_.set(root.id().bits());
    worker.member().end_turn();
    return true;
  }
  /// Needs: alone in a turn as a member, which ends.
  [[gnu::noinline]] void unlock_for_another(cx::Port::Worker& worker) noexcept {
    worker.member().end_turn();
    unlock_among_others();
  }
  [[gnu::noinline]] void unlock_among_others() noexcept {
    lockfree::Company<>* const company = line_.port().company();
    if (company != nullptr && company->begin_alone()) {
      const bool by_holder = made_on_ != nullptr && made_on_->running() == holder();
      if (by_holder && line_.first() == called_) {
        line_.port().uncount_among_others(*made_on_, ObligationKind::lock_guard);
        state_.set(free_state());
        return company->end_alone();
      }
      company->end_alone();
    }
    unlock_in_turn();
  }
  /// Whoever does it. Who holds the lock made the promise, wherever the guard is now; when it has ended, that has settled it
  /// (OBL-5).
  [[gnu::noinline]] void unlock_in_turn() noexcept {
    line_.port().uncount(line_.port().here(), holder(), ObligationKind::lock_guard);
    const Line::Turn turn(line_);
    line_.writes();
    pass_on(free_state());
  }
  [[gnu::always_inline]] void pass_on(std::uint64_t free) noexcept {
    if (line_.first() != called_) [[unlikely]]
      return pass_on_to_first();
    state_.set(free);  // nobody waits, or who does was called
  }
  [[gnu::noinline]] void pass_on_to_first() noexcept {
    Waiter& first = *line_.first();
    if (&first == passed_) {
      passed_ = nullptr;
      hold_for(first.task());
      line_.grant(first);
    } else {
      CALM_SLOW(CHN_12, called_ == nullptr && passed_ == nullptr, first.task().bits());
      state_.set(free_state());
      called_ = &first;
      line_.call(first);
    }
  }

  // CHN-12: while nobody holds it, who is first in line was called. At most one of called_ and passed_ is somebody, and that is
  // the first in line.
  // Both words are changed in a turn, and looked at before one by who is alone most likely: see Company::Member::begin_turn().
  Line line_;
  // Where one worker does all that is done here, and nobody follows it, that one. Else among_others; or a worker with plain_bit while the
  // lock is held plainly, or was so last: by the short way, in a poll there, whose end tells of it (OBL-2), and nobody came to wait since
  // whom an unlock would have to tell.
  lockfree::Relaxed<std::uintptr_t> by_;
  // Who holds it, also by a grant that was not taken yet. Else, where one does all, free_for_one; where not, the worker that by_ says,
  // which has nothing else to ask when it finds itself there, or free_among_others.
  lockfree::Relaxed<std::uint64_t> state_;
  cx::Port::Worker* made_on_ = nullptr;  // the guard, where by_ does not say so; it belongs to who has that
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
