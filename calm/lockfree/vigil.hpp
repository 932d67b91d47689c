// vigil.hpp — one looks after others while any of them is awake, and sleeps while all rest: who wakes up is never overlooked.
// Laws:    none of its own; who watches that polls end stands on it (GHO-3, SCH-6, SCH-8)
// Threads: awake marks each by its own thread, which calls begins() then; rests() by the one who looks
// Cancel:  not applicable
//
//   who wakes up                                 who looks, when it has found nobody awake
//   mark.wake();                                 if (!vigil.rests([&] { return somebody_is_awake(); })) sleep until called;
//   if (vigil.begins()) call who looks;
//
//   begins()                                     rests()
//   is awake, said before                        looks_ = false
//   is looks_ set?                               is anybody awake?
//
// Of the two looks one comes after both changes, so not both are in vain. Where both find the other one of them sets looks_ and
// is told so: who looks goes on, or is called once.
//
// Pairs:
//   [V1] wake() and rests() each change a word, and begins() and rests() each look at the other's, all four in seq_cst order.
#pragma once

#include "calm/lockfree/atomics.hpp"

namespace calm::lockfree {

/// Whether one of those who are looked after is awake.
template <AtomicsPolicy Atomics = RealAtomics>
class AwakeMark {
 public:
  constexpr AwakeMark() noexcept = default;
  AwakeMark(const AwakeMark&) = delete;
  AwakeMark& operator=(const AwakeMark&) = delete;

  void wake() noexcept { awake_.store(true, std::memory_order_seq_cst); }  // [V1]
  // relaxed: who sees it late looks once more for nothing.
  void rest() noexcept { awake_.store(false, std::memory_order_relaxed); }
  [[nodiscard]] bool is_awake() const noexcept { return awake_.load(std::memory_order_seq_cst); }  // [V1]

 private:
  typename Atomics::template Atomic<bool> awake_{false};
};

/// Whether somebody looks. It does so from the beginning.
template <AtomicsPolicy Atomics = RealAtomics>
class Vigil {
 public:
  constexpr Vigil() noexcept = default;
  Vigil(const Vigil&) = delete;
  Vigil& operator=(const Vigil&) = delete;

  /// Needs: the caller's mark says that it is awake. Gives: true when who looks sleeps, or is about to, and this caller is the
  ///        one who has to call it.
  [[nodiscard]] bool begins() noexcept {
    return !looks_.load(std::memory_order_seq_cst) && takes_up();  // [V1]
  }

  /// Nobody was awake at the last look. `looks_again` gives true when somebody is after all.
  /// Gives: true when the caller is to go on looking. False: it may sleep, and is called when there is something to look at.
  template <class Look>
  [[nodiscard]] bool rests(Look looks_again) {
    looks_.store(false, std::memory_order_seq_cst);  // [V1]
    return looks_again() && takes_up();
  }

 private:
  // relaxed: of all that set it one is first, and the look that follows has its order by [V1].
  [[nodiscard]] bool takes_up() noexcept { return !looks_.exchange(true, std::memory_order_relaxed); }

  typename Atomics::template Atomic<bool> looks_{true};
};

}  // namespace calm::lockfree
