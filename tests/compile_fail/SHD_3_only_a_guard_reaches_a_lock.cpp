// expect(clang): 'regions_' is a private member of '.*Shards<.*RealAtomics>'
// expect(gcc): regions_' is private within this context
#include "calm/kernel/shards.hpp"

using Atomics = calm::lockfree::RealAtomics;

void lock(calm::kernel::Shards<Atomics>& shards, calm::kernel::LockOrder& order) {
#ifdef MUST_NOT_COMPILE
  static_cast<void>(order);
  shards.regions_.lock({calm::kernel::Operation::create_region, 0});
#else
  const calm::kernel::Guard<calm::kernel::Operation::create_region, Atomics> held(shards, order);
#endif
}
