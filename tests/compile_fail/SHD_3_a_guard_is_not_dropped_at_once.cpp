// expect(clang): ignoring temporary created by a constructor declared with 'nodiscard' attribute: the locks would be left at once
// expect(gcc): ignoring return value of .*Guard.*declared with attribute 'nodiscard': 'the locks would be left at once'
#include "calm/kernel/shards.hpp"

using Guard = calm::kernel::Guard<calm::kernel::Operation::cancel, calm::lockfree::RealAtomics>;

void cancel(calm::kernel::Shards<calm::lockfree::RealAtomics>& shards, calm::kernel::LockOrder& order) {
#ifdef MUST_NOT_COMPILE
  Guard(shards, order);
#else
  const Guard held(shards, order);
#endif
}
