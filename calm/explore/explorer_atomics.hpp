// explorer_atomics.hpp — the atomics policy of room lockfree in which every access is a step of the explorer.
// Laws:    LAB-8
// Threads: those of one explored program
// Cancel:  not applicable
//
//   using Stack = lockfree::TakeAllStack<Node, &Node::next, explore::ExplorerAtomics>;   // the real code, explored
#pragma once

#include <cstdint>

#include "calm/explore/atomic.hpp"
#include "calm/explore/threads.hpp"
#include "calm/lockfree/atomics.hpp"

namespace calm::explore {

struct ExplorerAtomics {
  template <class T>
  using Atomic = explore::Atomic<T>;

  static constexpr bool shared = true;

  /// The next access of this thread waits until one of the words that it read since it last paused, or changed a word, is
  /// another. So a loop that spins goes round once for each change, and one that nothing can end is a deadlock.
  static void pause() noexcept {
    if (Threads* const threads = Threads::current()) threads->pause();
  }

  /// As the operating system does it: a wait compares and lies down in one step, and only a notify ends it.
  template <class T>
  static void wait(const Atomic<T>& word, T old) noexcept {
    word.sleep_while(Atomic<T>::bits_of(old));
  }
  template <class T>
  static void notify_one(Atomic<T>& word) noexcept {
    word.wake(1);
  }
  template <class T>
  static void notify_all(Atomic<T>& word) noexcept {
    word.wake(UINT32_MAX);
  }
};

static_assert(lockfree::AtomicsPolicy<ExplorerAtomics>);

}  // namespace calm::explore
