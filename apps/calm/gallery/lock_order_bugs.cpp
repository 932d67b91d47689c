// Locks taken in a wrong order, hidden in other work: what strategies are compared on.
#include <algorithm>
#include <utility>
#include <vector>

#include "apps/calm/gallery/bugs.hpp"
#include "calm/explore/atomic.hpp"
#include "calm/explore/mutex.hpp"

namespace calm::gallery {
namespace {

using explore::Mutex;
using explore::Threads;
using Word = explore::Atomic<int>;

std::vector<Mutex*> make_locks(Threads& threads, std::uint32_t count) {
  std::vector<Mutex*> locks(count);
  for (Mutex*& lock : locks) lock = &threads.make<Mutex>();
  return locks;
}

/// Steps that touch nothing of others.
void work_alone(Word& own, std::uint32_t steps) {
  for (std::uint32_t i = 0; i < steps; ++i) own.store(static_cast<int>(i));
}

/// Takes the two locks in the order given, or in the one that all agree on.
void hold_both(const std::vector<Mutex*>& locks, std::uint32_t first, std::uint32_t second, bool in_order) {
  if (in_order && first > second) std::swap(first, second);
  locks[first]->lock();
  locks[second]->lock();
  locks[second]->unlock();
  locks[first]->unlock();
}

}  // namespace

Threads::Setup hidden_abba(bool fixed, std::uint32_t n) {
  return [fixed, n](Threads& threads) {
    const std::vector<Mutex*> locks = make_locks(threads, 2);
    threads.run([locks, fixed] { hold_both(locks, 0, 1, fixed); }, "early");
    threads.run(
        [locks, fixed, n, &own = threads.make<Word>(0)] {
          work_alone(own, n);
          hold_both(locks, 1, 0, fixed);
        },
        "late");
    threads.run([n, &own = threads.make<Word>(0)] { work_alone(own, n); }, "bystander");
  };
}

Threads::Setup lock_ring(bool fixed, std::uint32_t n) {
  return [fixed, n](Threads& threads) {
    const std::vector<Mutex*> locks = make_locks(threads, n);
    Mutex& log = threads.make<Mutex>();
    for (std::uint32_t i = 0; i < n; ++i) {
      threads.run([locks, fixed, i, n, &log] {
        hold_both(locks, i, (i + 1) % n, fixed);
        log.lock();
        log.unlock();
      });
    }
  };
}

Threads::Setup late_philosophers(bool fixed, std::uint32_t n) {
  return [fixed, n](Threads& threads) {
    const std::vector<Mutex*> forks = make_locks(threads, n);
    for (std::uint32_t i = 0; i < n; ++i) {
      threads.run([forks, fixed, i, n, &own = threads.make<Word>(0)] {
        work_alone(own, 2 * i);
        hold_both(forks, i, (i + 1) % n, fixed);
      });
    }
  };
}

Threads::Setup transfers(bool fixed, std::uint32_t n) {
  return [fixed, n](Threads& threads) {
    const std::vector<Mutex*> accounts = make_locks(threads, n);
    // One after the other to the next account; the last one pays back.
    for (std::uint32_t i = 0; i + 1 < n; ++i) {
      threads.run([accounts, fixed, i] { hold_both(accounts, i, i + 1, fixed); });
    }
    threads.run(
        [accounts, fixed, n, &own = threads.make<Word>(0)] {
          work_alone(own, n);
          hold_both(accounts, n - 1, n - 2, fixed);
        },
        "pays back");
  };
}

}  // namespace calm::gallery
