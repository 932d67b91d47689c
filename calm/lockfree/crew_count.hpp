// crew_count.hpp — how many are not done yet, and one who waits for the last of them: neither misses the other.
// Laws:    none of its own; the crew of a scope stands on it (REG-2, REG-6)
// Threads: linger() by the one who waits; the rest by whoever is counted
// Cancel:  not applicable; who waits may stop waiting, and is woken for nothing then
//
//   who waits, linger()          who leaves, leave()
//   lingers_ = true              live_ - 1, was it the last one?
//   is live_ 0?                  is lingers_ set?
//
// Of the two looks one comes after both changes, so not both are in vain. A wake may be for nothing: both may see the other,
// and who waits may have let another one in since the last one was counted. So who is woken lingers again.
//
// Who is alone in a company counts with plain steps: nobody else is at work, and who comes later sees all of that.
//
// Pairs:
//   [C1] leave() changes live_, linger() changes lingers_, and each looks at the other's word, all four in seq_cst order.
//        A linger() that finds nobody has acquired what those who left had released.
#pragma once

#include <cstdint>

#include "calm/lockfree/atomics.hpp"
#include "calm/lockfree/company.hpp"

namespace calm::lockfree {

template <AtomicsPolicy Atomics = RealAtomics, class Members = Company<Atomics>>
class CrewCount {
 public:
  constexpr CrewCount() noexcept = default;
  CrewCount(const CrewCount&) = delete;
  CrewCount& operator=(const CrewCount&) = delete;

  // Without a company there is one thread, which is alone.

  /// One more. By the one who waits, before it does, or by one that is counted: who waits waits for this one, too. By others it
  /// may come too late for that.
  // relaxed: for those two it is not empty before this one leaves.
  void add(Members* company) noexcept {
    if (company != nullptr && !company->begin_alone()) {
      live_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    add_alone();
    if (company != nullptr) company->end_alone();
  }
  /// The same. Needs: nobody else is at work.
  void add_alone() noexcept { live_.store(live_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

  /// One less. Gives: true for the last one, when there is one who waits, whom it has to wake.
  [[nodiscard]] bool leave(Members* company) noexcept {
    if (company != nullptr && !company->begin_alone()) {
      return live_.fetch_sub(1, std::memory_order_seq_cst) == 1 && lingers_.load(std::memory_order_seq_cst);  // [C1]
    }
    // relaxed: nobody else is there, and who comes later has seen all of this.
    const bool last = !may_leave_alone();
    leave_alone();
    if (company != nullptr) company->end_alone();
    return last;
  }

  // The same for who leaves in one step with more. Needs: nobody else is at work.

  /// Gives: true when nobody is to be woken. Needs: it has not left yet.
  [[nodiscard]] bool may_leave_alone() const noexcept {
    return live_.load(std::memory_order_relaxed) != 1 || !lingers_.load(std::memory_order_relaxed);
  }
  /// Counts it, and wakes nobody.
  void leave_alone() noexcept { live_.store(live_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed); }

  /// The caller wants to be woken. Gives: true when nobody is left.
  [[nodiscard]] bool linger() noexcept {
    lingers_.store(true, std::memory_order_seq_cst);    // [C1]
    return live_.load(std::memory_order_seq_cst) == 0;  // [C1]
  }

 private:
  // Before live_: at the beginning of this, clang would compute where live_ is in one step more than it takes to reach it.
  typename Atomics::template Atomic<bool> lingers_{false};
  typename Atomics::template Atomic<std::uint32_t> live_{0};
};

}  // namespace calm::lockfree
