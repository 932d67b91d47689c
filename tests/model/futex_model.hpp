// futex_model.hpp — sleep and wake of the explorer's threads: a time that may come is one that comes at once.
// Laws:    LAB-8, SCH-8
// Threads: those of one explored program
// Cancel:  not applicable
#pragma once

#include <cstdint>

#include "calm/lockfree/futex.hpp"
#include "tests/model/explored.hpp"

namespace calm::explored {

/// A thread sleeps until it is woken. One with a time wakes by itself at its next turn, which may be late.
struct ModelFutex {
  template <class Word>
  static lockfree::FutexEnd wait(const Word& word, std::uint32_t old, std::uint64_t until_ns) noexcept {
    if (until_ns != lockfree::never_ns) return lockfree::FutexEnd::timed_out;
    ModelAtomics::wait<std::uint32_t>(word, old);
    return lockfree::FutexEnd::woken;
  }
  template <class Word>
  static void wake(Word& word, std::uint32_t count) noexcept {
    if (count == 1) {
      ModelAtomics::notify_one<std::uint32_t>(word);
    } else {
      ModelAtomics::notify_all<std::uint32_t>(word);
    }
  }
};

/// Nobody is ever woken.
struct SilentFutex : ModelFutex {
  template <class Word>
  static void wake(Word& /*word*/, std::uint32_t /*count*/) noexcept {}
};

static_assert(lockfree::FutexPolicy<ModelFutex, ModelAtomics>);

}  // namespace calm::explored
