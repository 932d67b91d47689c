// Compiled without the order checker whatever the build says; the order of this file has another name than that of the
// others, and its guards are over atomics of its own.
#undef CALM_SLOW_CHECKS
#include <gtest/gtest.h>

#include <type_traits>

#include "calm/kernel/shards.hpp"
#include "calm/lockfree/local_atomics.hpp"

namespace calm::kernel {
namespace {

struct OwnAtomics : lockfree::LocalAtomics {};

TEST(LockOrderOff, takes_no_space_and_notes_nothing) {
  static_assert(lock_metrics_on || std::is_empty_v<LockOrder>);
  static_assert(!LockOrder::active);
  LockOrder order(3);
  order.note_lock(Shard::obligations);
  order.note_lock(Shard::regions);
  order.note_unlock(Shard::tasks, 2);
}

TEST(LockOrderOff, guards_do_not_fail) {
  using Guard = kernel::Guard<Operation::cancel, OwnAtomics>;
  static_assert(std::is_nothrow_constructible_v<Guard, Shards<OwnAtomics>&, LockOrder&>);
  Shards<OwnAtomics> shards;
  ASSERT_TRUE(shards.init(2));
  LockOrder order;
  const Guard guard(shards, order);
  const Guard again(shards, order);  // nobody keeps count
}

}  // namespace
}  // namespace calm::kernel
