// turn.hpp — one at a time, where several threads may come: a short lock that a single thread never takes.
// Laws:    none of its own; the primitives of sync and channel stand on it (CHN-2, CHN-4, CHN-12)
// Threads: anywhere; a turn is not recursive and ends on the thread where it began
// Cancel:  not applicable: nothing waits while it has a turn
//
// Whether several threads may come is known when a primitive is made. Where one does everything a turn is two branches; the
// lock is out of line, so that what stands between them is as small as without.
#pragma once

#include "calm/lockfree/lock.hpp"

namespace calm::lockfree {

/// From its beginning to its end nobody else has a turn of this lock. Its end is the last that it does to the lock: who has a
/// turn afterwards may end what the lock is in.
class [[nodiscard("a turn lasts as long as this lives")]] Turn {
 public:
  [[gnu::always_inline]] Turn(bool several, Lock<>& lock) noexcept : lock_(several ? &lock : nullptr) {
    if (lock_ != nullptr) [[unlikely]]
      begin(*lock_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  [[gnu::always_inline]] ~Turn() {
    if (lock_ != nullptr) [[unlikely]]
      end(*lock_);
  }

 private:
  [[gnu::noinline]] static void begin(Lock<>& lock) noexcept { lock.lock(); }
  [[gnu::noinline]] static void end(Lock<>& lock) noexcept { lock.unlock(); }

  Lock<>* lock_;
};

}  // namespace calm::lockfree
