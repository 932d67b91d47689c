// semaphore.hpp — a number of permits that tasks take and give back, several at a time; first come, first served.
// Laws:    CHN-12, OBL-2 (a permit is counted), OBL-4, OBL-5, CAN-13
// Threads: the tasks of one runtime, on any of its workers; see line.hpp
// Cancel:  a waiting acquire() leaves the line, and those behind it go on if they can; what was granted and not taken goes back
//
// Who asks for much is not overtaken by those who ask for little: while one waits, all who come later wait behind it, also
// when there would be enough for them.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "calm/cx/cx.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/error.hpp"
#include "calm/model/obligation_kind.hpp"
#include "calm/sync/counted.hpp"
#include "calm/sync/line.hpp"

namespace calm {

namespace sync {

/// How many permits are free, and who waits for how many.
class Permits {
 public:
  Permits(CxOf<> cx, std::uint32_t all) noexcept : line_(cx), all_(all), free_(all) {}

  [[nodiscard]] std::uint32_t all() const noexcept { return all_; }
  [[nodiscard]] std::uint32_t free() const noexcept {
    const Line::Turn turn(line_);
    line_.reads();
    return free_;
  }
  [[nodiscard]] bool is_sensible(std::uint32_t count) const noexcept { return count != 0 && count <= all_; }
  /// Gives: true when they are the caller's now.
  [[nodiscard]] bool try_take(std::uint32_t count) noexcept {
    const Line::Turn turn(line_);
    if (!is_free(count)) {
      line_.reads();
      return false;
    }
    line_.writes();
    free_ -= count;
    return true;
  }
  void give_back(std::uint32_t count) noexcept {
    if (!line_.begin_short_turn()) return give_back_among_others(count);
    give_back_in_turn(count);
    line_.end_short_turn();
  }
  /// For who has more to do in the same turn, which it has.
  void give_back_in_turn(std::uint32_t count) noexcept {
    line_.writes();
    free_ += count;
    CALM_INVARIANT(CHN_12, free_ <= all_, free_, all_);
    serve();
  }

  // For the short way of the wait, where nobody else can come before the caller, and nobody follows it.

  [[nodiscard]] bool are_at_hand(std::uint32_t count) const noexcept {
    return line_.begin_short_turn() && line_.keep_short_turn_if(is_free(count));
  }
  /// Needs: are_at_hand().
  void take(std::uint32_t count) noexcept {
    free_ -= count;
    line_.end_short_turn();
  }

  // --- what a LineWait asks ---

  [[nodiscard]] Line& line() noexcept { return line_; }
  [[nodiscard]] bool try_admit(const Waiter& waiter, TaskId /*task*/) noexcept {
    if (!is_free(wanted_by(waiter))) return false;
    free_ -= wanted_by(waiter);
    return true;
  }
  [[nodiscard]] bool refuses(const Waiter& waiter, TaskId /*task*/, ChildEnd& end) const noexcept {
    if (is_sensible(wanted_by(waiter))) return false;
    end = err(Error(Errc::invalid_argument,
                    "no permits, or more than the semaphore has, are asked for: nobody could ever give them [CHN-12]; "
                    "next: ask for 1 up to Semaphore::all()"));
    return true;
  }
  void left(const Waiter& /*waiter*/) noexcept { serve(); }
  void take_back(const Waiter& waiter) noexcept {
    free_ += wanted_by(waiter);
    serve();
  }

 private:
  /// Whoever waits here is one of these, see WaiterFor.
  static std::uint32_t wanted_by(const Waiter& waiter) noexcept {
    return static_cast<const WaiterForMany&>(waiter).wants();
  }
  [[gnu::noinline]] void give_back_among_others(std::uint32_t count) noexcept {
    const Line::Turn turn(line_);
    give_back_in_turn(count);
  }
  [[nodiscard]] bool is_free(std::uint32_t count) const noexcept {
    return count != 0 && count <= free_ && line_.empty();
  }
  void serve() noexcept {
    while (Waiter* const next = line_.first()) {
      if (wanted_by(*next) > free_) return;
      free_ -= wanted_by(*next);
      line_.grant(*next);
    }
  }

  Line line_;
  std::uint32_t all_;
  std::uint32_t free_;  // without those that are granted and not taken yet
};
template <>
struct WaiterFor<Permits> {
  using Type = WaiterForMany;
};

}  // namespace sync

class Semaphore {
  class AcquireWait;

 public:
  /// Needs: the context of the code that makes it; nobody holds or awaits a permit when it ends.
  Semaphore(CxOf<> cx, std::uint32_t permits) noexcept : permits_(cx, permits) {}
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;
  ~Semaphore() = default;

  /// So many permits, given back when it ends.
  class [[nodiscard("a permit that is dropped at once is given back")]] Permit {
   public:
    Permit(Permit&& other) noexcept
        : semaphore_(std::exchange(other.semaphore_, nullptr)),
          count_(other.count_),
          promise_(std::move(other.promise_)) {}
    Permit& operator=(Permit&& other) noexcept {
      std::swap(semaphore_, other.semaphore_);
      std::swap(count_, other.count_);
      std::swap(promise_, other.promise_);
      return *this;
    }
    ~Permit() { release(); }

    /// Before its end. A second time it does nothing.
    void release() noexcept {
      if (semaphore_ == nullptr) return;
      promise_.settle(semaphore_->permits_.line().port(), ObligationKind::semaphore_permit);
      std::exchange(semaphore_, nullptr)->permits_.give_back(count_);
    }
    /// Gives: how many; none once it was released or moved from.
    [[nodiscard]] std::uint32_t count() const noexcept { return semaphore_ == nullptr ? 0 : count_; }

   private:
    friend class Semaphore;
    Permit(Semaphore& semaphore, std::uint32_t count) noexcept
        : semaphore_(&semaphore),
          count_(count),
          promise_(semaphore.permits_.line().port(), ObligationKind::semaphore_permit) {}

    Semaphore* semaphore_;
    std::uint32_t count_;
    sync::Counted promise_;
  };

  /// Gives: a permit for `count`, when all who came before have had theirs.
  /// Fails: invalid_argument for none, or more than there are.
  cx::WaitFor<AcquireWait, cx::GivenContext, Semaphore*, std::uint32_t> acquire(CxOf<> cx,
                                                                                std::uint32_t count = 1) noexcept;

  /// Gives: the same at once, or nothing when there are not enough or others wait; no checkpoint. Needs: 1 up to all().
  [[nodiscard]] std::optional<Permit> try_acquire(CxOf<> /*cx*/, std::uint32_t count = 1) noexcept {
    CALM_REQUIRE(CHN_12, permits_.is_sensible(count), count, permits_.all());
    if (!permits_.try_take(count)) return std::nullopt;
    return Permit(*this, count);
  }

  /// Gives: how many there are, taken ones too.
  [[nodiscard]] std::uint32_t all() const noexcept { return permits_.all(); }
  /// Only looks.
  [[nodiscard]] std::uint32_t free() const noexcept { return permits_.free(); }

 private:
  class AcquireWait : public sync::LineWait<sync::Permits> {
   public:
    AcquireWait(const cx::Context* context, Semaphore* semaphore, std::uint32_t count) noexcept
        : LineWait(context, &semaphore->permits_, count), semaphore_(*semaphore) {}
    [[nodiscard]] Permit result() noexcept {
      use_grant();
      return {semaphore_, wants()};
    }

    /// Permits that are free are had without a wait.
    class Shortcut {
     public:
      [[nodiscard]] static bool is_at_hand(const Semaphore* semaphore, std::uint32_t count) noexcept {
        return semaphore->permits_.are_at_hand(count);
      }
      Shortcut(const cx::TaskRoot& /*root*/, Semaphore* semaphore, std::uint32_t count) noexcept
          : semaphore_(semaphore), count_(count) {
        semaphore->permits_.take(count);
      }
      [[nodiscard]] Permit result() const noexcept { return {*semaphore_, count_}; }

     private:
      Semaphore* semaphore_;
      std::uint32_t count_;
    };

   protected:
    ~AcquireWait() = default;

   private:
    Semaphore& semaphore_;
  };

  sync::Permits permits_;
};

inline cx::WaitFor<Semaphore::AcquireWait, cx::GivenContext, Semaphore*, std::uint32_t> Semaphore::acquire(
    CxOf<> cx, std::uint32_t count) noexcept {
  return cx::WaitFor<AcquireWait, cx::GivenContext, Semaphore*, std::uint32_t>(cx::GivenContext(cx), this, count);
}

}  // namespace calm
