// expect(clang): no known conversion from 'const .*Guard<.*Operation::create_obligation, .*>' .*to '.*RegionsHeld' \(aka 'Held<ShardSet::regions>'\)
// expect(gcc): could not convert 'held' from '.*Guard<.*create_obligation, .*>' to '.*Held<calm::kernel::ShardSet::regions>'
#include "calm/kernel/shards.hpp"

namespace kernel = calm::kernel;
using Atomics = calm::lockfree::RealAtomics;

void link_child(kernel::RegionsHeld held);

void create(kernel::Shards<Atomics>& shards, kernel::LockOrder& order) {
#ifdef MUST_NOT_COMPILE
  const kernel::Guard<kernel::Operation::create_obligation, Atomics> held(shards, order);
#else
  const kernel::Guard<kernel::Operation::create_region, Atomics> held(shards, order);
#endif
  link_child(held);
}
