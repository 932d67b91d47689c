// A worker that takes guards and does nothing under them, for lock_cost_test.py to count its instructions. With FLOOR the
// guards are written by hand and know of locks, and of who is alone, only: what the library's may cost at most, without checks
// and metrics.
#include <cstdint>
#include <memory>

#include "calm/kernel/shards.hpp"
#include "calm/lockfree/company.hpp"
#include "calm/lockfree/local_atomics.hpp"
#include "calm/lockfree/lock.hpp"

namespace {

constexpr std::uint16_t workers = 4;
constexpr std::uint16_t home = 2;
constexpr int uses = 1'000;

#if defined(FLOOR)

struct Locks {
  struct alignas(128) Padded {
    calm::lockfree::Lock<> lock;
  };
  Padded regions;
  Padded obligations;
  std::unique_ptr<Padded[]> tasks = std::make_unique<Padded[]>(workers);
  std::uint16_t count = workers;
  calm::lockfree::Company<>* company = nullptr;
};
struct Order {};

/// Two plain writes for one who is alone; `Part` has the locks that others take.
template <class Part>
struct ByHand {
  template <class... Where>
  ByHand(Locks& all, Order& /*order*/, Where... where) noexcept : locks(all), part{all, where...} {
    if (locks.company != nullptr) {
      alone = locks.company->begin_alone(calm::lockfree::AloneIn::guard);
      if (alone) return;
    }
    part.lock();
  }
  ByHand(const ByHand&) = delete;
  ByHand& operator=(const ByHand&) = delete;
  ~ByHand() {
    if (alone) {
      locks.company->end_alone(calm::lockfree::AloneIn::guard);
      return;
    }
    part.unlock();
  }
  Locks& locks;
  Part part;
  bool alone = false;
};
struct RegionLock {
  Locks& locks;
  void lock() noexcept { locks.regions.lock.lock(); }
  void unlock() noexcept { locks.regions.lock.unlock(); }
};
struct HomeLock {
  Locks& locks;
  std::uint16_t task;
  void lock() noexcept { locks.tasks[task].lock.lock(); }
  void unlock() noexcept { locks.tasks[task].lock.unlock(); }
};
struct EveryLock {
  Locks& locks;
  void lock() noexcept {
    locks.regions.lock.lock();
    for (std::uint16_t i = 0; i != locks.count; ++i) locks.tasks[i].lock.lock();
    locks.obligations.lock.lock();
  }
  void unlock() noexcept {
    locks.obligations.lock.unlock();
    for (std::uint16_t i = locks.count; i-- != 0;) locks.tasks[i].lock.unlock();
    locks.regions.lock.unlock();
  }
};
using Regions = ByHand<RegionLock>;
using Home = ByHand<HomeLock>;
using Everything = ByHand<EveryLock>;

bool start(Locks& /*locks*/) { return true; }

#else

#if defined(LOCAL)
using Atomics = calm::lockfree::LocalAtomics;
#else
using Atomics = calm::lockfree::RealAtomics;
#endif
using calm::kernel::Operation;
using Locks = calm::kernel::Shards<Atomics>;
using Order = calm::kernel::LockOrder;
using Regions = calm::kernel::Guard<Operation::create_region, Atomics>;
using Home = calm::kernel::Guard<Operation::acknowledge, Atomics>;
using Everything = calm::kernel::Guard<Operation::cancel, Atomics>;

bool start(Locks& locks) { return locks.init(workers) == calm::Status(); }

#endif

int work = 0;

}  // namespace

extern "C" [[gnu::noinline]] void one_region(Locks& locks, Order& order) {
  const Regions held(locks, order);
  work = work + 1;
}
extern "C" [[gnu::noinline]] void one_home(Locks& locks, Order& order) {
  const Home held(locks, order, home);
  work = work + 1;
}
extern "C" [[gnu::noinline]] void one_everything(Locks& locks, Order& order) {
  const Everything held(locks, order);
  work = work + 1;
}

int main() {
  static Locks locks;
  static Order order;
  if (!start(locks)) return 1;
  for (int i = 0; i < uses; ++i) {
    one_region(locks, order);
    one_home(locks, order);
    one_everything(locks, order);
  }
  return work == 3 * uses ? 0 : 1;
}
