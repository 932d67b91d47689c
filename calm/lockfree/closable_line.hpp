// closable_line.hpp — a line that is closed one day: who stands in it is let out once, who comes later is sent away.
// Laws:    none of its own; the gateway stands on it (REG-7, HND-3)
// Threads: everything anywhere; an entry belongs to the line from push() until it is taken
// Cancel:  close() lets out who still stands there
//
// All of it is under one lock, for a few instructions each. So an entry is let in before the close, and taken by it or by
// somebody before it, or it is not let in.
#pragma once

#include <utility>

#include "calm/lockfree/atomics.hpp"
#include "calm/lockfree/lock.hpp"

namespace calm::lockfree {

/// Entry has a member `Entry* Entry::*link`, which is the line's from push() until the entry is taken.
template <class Entry, Entry* Entry::* link, AtomicsPolicy Atomics = RealAtomics, class Its = Lock<Atomics>>
class ClosableLine {
 public:
  constexpr ClosableLine() noexcept = default;
  ClosableLine(const ClosableLine&) = delete;
  ClosableLine& operator=(const ClosableLine&) = delete;

  /// Stands at the end of the line, and calls `ring()` under the lock: never after close().
  /// Gives: false when the line is closed; the entry stays the caller's then.
  template <class Ring>
  [[nodiscard]] bool push(Entry& entry, Ring ring) noexcept {
    lock_.lock();
    const bool open = open_;
    if (open) {
      entry.*link = nullptr;
      (first_ == nullptr ? first_ : last_->*link) = &entry;
      last_ = &entry;
      ring();
    }
    lock_.unlock();
    return open;
  }

  /// Gives: all that stand there, oldest first along `link`; nullptr when there is none.
  [[nodiscard]] Entry* take_all() noexcept {
    lock_.lock();
    Entry* const all = std::exchange(first_, nullptr);
    lock_.unlock();
    return all;
  }

  /// Gives: the oldest, or nullptr.
  [[nodiscard]] Entry* take_oldest() noexcept {
    lock_.lock();
    Entry* const oldest = first_;
    if (oldest != nullptr) first_ = oldest->*link;
    lock_.unlock();
    return oldest;
  }

  /// Nobody is let in from here on. Gives: those who stand there, as take_all().
  [[nodiscard]] Entry* close() noexcept {
    lock_.lock();
    open_ = false;
    Entry* const all = std::exchange(first_, nullptr);
    lock_.unlock();
    return all;
  }

 private:
  Its lock_;
  Entry* first_ = nullptr;
  Entry* last_ = nullptr;  // means something while there is a first
  bool open_ = true;
};

}  // namespace calm::lockfree
