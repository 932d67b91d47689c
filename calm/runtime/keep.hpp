// keep.hpp — what a worker keeps for itself, and how another one gets at it when its worker cannot.
// Laws:    SCH-6 (work does not wait for a worker that is stuck)
// Threads: prepare() before its worker begins; begin(), be_alone() and end() by its worker; Turn by its worker and by guests
// Cancel:  not applicable
//
// The queues of a worker are its own, and cost it no lock. A poll that does not end would keep all that waits there from
// running, so whoever rescues it must get in. The worker does what it does to its queues in turns; it is alone nearly always,
// and has a turn in two plain writes (lockfree/company.hpp). A guest comes in, which ends that for as long as it stays. A worker
// that is alone among all workers need not have turns at all (Machine::begin_switch): so a guest is one of that company, too.
#pragma once

#include "calm/lockfree/local_atomics.hpp"
#include "calm/lockfree/turn.hpp"

namespace calm::runtime {

template <lockfree::AtomicsPolicy Atomics>
class Keep {
 public:
  /// `guests`: there are others who may come.
  void prepare(bool guests) noexcept {
    if (!guests) return;
    company_.prepare();
    visited_ = &company_;
  }
  void begin() noexcept { company_.enter(); }
  /// Now and then, when it has no turn: a guest may have left.
  void be_alone() noexcept { company_.try_alone(); }
  void end() noexcept { company_.leave(); }

  /// Nobody else touches what is kept here, as long as this lives. Not recursive.
  class [[nodiscard("a turn lasts as long as this lives")]] Turn {
   public:
    [[gnu::always_inline]] explicit Turn(Keep& keep) noexcept : turn_(keep.visited_, keep.lock_) {}

   private:
    lockfree::CompanyTurn turn_;
  };

  /// A turn for its worker that is worth it only where it costs next to nothing. Gives: false when others may be there, or it is
  /// not known; end_alone() follows otherwise.
  [[nodiscard, gnu::always_inline]] bool begin_alone() noexcept { return company_.begin_alone(); }
  [[gnu::always_inline]] void end_alone() noexcept { company_.end_alone(); }

  /// Another worker is here, and may have turns.
  class [[nodiscard("a guest is there as long as this lives")]] Guest {
   public:
    explicit Guest(Keep& keep) noexcept : keep_(keep) { keep_.company_.enter(); }
    Guest(const Guest&) = delete;
    Guest& operator=(const Guest&) = delete;
    ~Guest() { keep_.company_.leave(); }

   private:
    Keep& keep_;
  };

 private:
  lockfree::Company<> company_;
  lockfree::Company<>* visited_ = nullptr;  // none where nobody comes
  lockfree::TurnLock lock_;
};

/// With one worker there are no guests.
template <>
class Keep<lockfree::LocalAtomics> {
 public:
  static void prepare(bool /*guests*/) noexcept {}
  static void begin() noexcept {}
  static void end() noexcept {}

  struct Turn {
    [[gnu::always_inline]] explicit Turn(Keep& /*keep*/) noexcept {}
    ~Turn() {}  // NOLINT(modernize-use-equals-default): a turn that is never used is no mistake
  };
};

}  // namespace calm::runtime
