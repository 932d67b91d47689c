// Bugs of threads that wait at condition variables.
#include "apps/calm/gallery/bugs.hpp"
#include "calm/explore/atomic.hpp"
#include "calm/explore/mutex.hpp"

namespace calm::gallery {

using explore::Condition;
using explore::Mutex;
using explore::Threads;

Threads::Setup notify_unlocked(bool fixed, std::uint32_t /*n*/) {
  return [fixed](Threads& threads) {
    Mutex& mutex = threads.make<Mutex>();
    Condition& changed = threads.make<Condition>();
    auto& ready = threads.make<explore::Atomic<bool>>(false);
    threads.run(
        [&mutex, &changed, &ready] {
          mutex.lock();
          changed.wait(mutex, [&ready] { return ready.load(); });
          mutex.unlock();
        },
        "waiter");
    threads.run(
        [&mutex, &changed, &ready, fixed] {
          if (fixed) mutex.lock();
          ready.store(true);
          if (fixed) mutex.unlock();
          changed.notify_one();
        },
        "notifier");
  };
}

Threads::Setup notify_wrong_kind(bool fixed, std::uint32_t /*n*/) {
  // A buffer for one item. Who waits for room and who waits for an item stand in one line.
  struct Buffer {
    Mutex mutex;
    Condition changed;
    int items = 0;  // changed under the mutex
    bool wakes_all = false;

    void move(int from, int to) {
      mutex.lock();
      changed.wait(mutex, [this, from] { return items == from; });
      items = to;
      if (wakes_all) {
        changed.notify_all();
      } else {
        changed.notify_one();
      }
      mutex.unlock();
    }
  };
  return [fixed](Threads& threads) {
    Buffer& buffer = threads.make<Buffer>();
    buffer.wakes_all = fixed;
    threads.run(
        [&buffer] {
          buffer.move(0, 1);
          buffer.move(0, 1);
        },
        "producer");
    threads.run([&buffer] { buffer.move(1, 0); }, "consumer 1");
    threads.run([&buffer] { buffer.move(1, 0); }, "consumer 2");
  };
}

}  // namespace calm::gallery
