// What lies beside the record of a task: it is zeros where nothing is said, and again when the slot goes to the next task.
#include "calm/kernel/task_terms.hpp"

#include <gtest/gtest.h>

#include "calm/lockfree/local_atomics.hpp"
#include "tests/kernel_host.hpp"

namespace calm::kernel {
namespace {

template <class Atomics>
class Terms : public testing::Test {
 public:
  TaskId run_in_slot_of(TaskId before) {
    const TaskId next = bench.running(bench.root(), {.handle = false});
    EXPECT_EQ(next.index(), before.index()) << "the slot that was used last";
    return next;
  }
  const TaskTerms<Atomics>& of(TaskId task) { return bench.kernel->find(task)->terms(); }
  void expect_nothing_said(TaskId task) {
    const auto& terms = of(task);
    EXPECT_EQ(bench.kernel->budget_of(task), Budget());
    EXPECT_FALSE(terms.reason);
    EXPECT_FALSE(terms.epoch);
    EXPECT_EQ(terms.cleanup_polls, 0U);
    EXPECT_EQ(terms.cleanup_quota, 0U);
    EXPECT_EQ(terms.held.get(), 0U);
    EXPECT_FALSE(bench.kernel->is_masked(task));
    EXPECT_TRUE(bench.kernel->find(task)->word.look().is_unbounded());
  }

  BasicBench<Atomics> bench;
};
using Policies = testing::Types<lockfree::LocalAtomics, lockfree::RealAtomics>;
TYPED_TEST_SUITE(Terms, Policies);

TYPED_TEST(Terms, BUD_3_a_slot_forgets_each_budget_of_the_task_before) {
  auto& bench = this->bench;
  for (const Budget& budget : {Budget{.deadline = Deadline(Time::at_ns(1'000'000))}, Budget{.polls = Quota(5)},
                               Budget{.cost = Quota(5)}, Budget{.priority = 9}}) {
    const TaskId task = bench.running(bench.root(), {.budget = budget, .handle = false});
    EXPECT_TRUE(bench.kernel->find(task)->word.look().has_budget());
    ASSERT_TRUE(bench.kernel->complete(bench.worker, task, ok()));
    const TaskId next = this->run_in_slot_of(task);
    this->expect_nothing_said(next);
    ASSERT_TRUE(bench.kernel->complete(bench.worker, next, ok()));
  }
}

TYPED_TEST(Terms, CAN_8_a_slot_forgets_the_cancellation_of_the_task_before) {
  auto& bench = this->bench;
  for (const bool acknowledges : {false, true}) {
    const TaskId task = bench.running(bench.root(), {.handle = false});
    ASSERT_TRUE(bench.kernel->request_cancel(bench.worker, task, {.kind = CancelKind::shutdown}));
    EXPECT_TRUE(this->of(task).reason);
    if (acknowledges) {
      EXPECT_FALSE(bench.kernel->checkpoint(bench.worker, task));
    }
    ASSERT_TRUE(bench.kernel->complete(bench.worker, task, ok()));
    const TaskId next = this->run_in_slot_of(task);
    this->expect_nothing_said(next);
    ASSERT_TRUE(bench.kernel->complete(bench.worker, next, ok()));
  }
}

TYPED_TEST(Terms, CAN_12_a_task_is_not_masked_by_what_the_one_before_ended_under) {
  auto& bench = this->bench;
  const TaskId task = bench.running(bench.root(), {.handle = false});
  ASSERT_TRUE(bench.kernel->enter_mask(bench.worker, task));
  ASSERT_TRUE(bench.kernel->enter_mask(bench.worker, task));
  EXPECT_TRUE(bench.kernel->is_masked(task));
  ASSERT_TRUE(bench.kernel->complete(bench.worker, task, ok()));
  const TaskId next = this->run_in_slot_of(task);
  this->expect_nothing_said(next);
  ASSERT_TRUE(bench.kernel->enter_mask(bench.worker, next));
  ASSERT_TRUE(bench.kernel->leave_mask(bench.worker, next));
  EXPECT_FALSE(bench.kernel->is_masked(next)) << "one mask, not three";
}

TYPED_TEST(Terms, OBL_2_a_count_that_is_full_takes_home_what_others_have_settled) {
  auto& bench = this->bench;
  constexpr ObligationKind kind = ObligationKind::semaphore_permit;
  const TaskId other = bench.running(bench.root());
  const TaskId task = bench.running(bench.root());
  const auto open = [&] { return bench.kernel->find(task)->counted_open(counted_index(kind)); };
  for (int i = 0; i < UINT16_MAX; ++i) ASSERT_TRUE(bench.kernel->count(bench.worker, task, kind));
  EXPECT_EQ(bench.kernel->count(bench.worker, task, kind), Status(Errc::resource_exhausted));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(bench.kernel->uncount(bench.worker, task, kind, other));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(bench.kernel->count(bench.worker, task, kind)) << i;
  EXPECT_EQ(bench.kernel->count(bench.worker, task, kind), Status(Errc::resource_exhausted));
  EXPECT_EQ(open(), UINT16_MAX);
  for (const auto& settled : this->of(task).settled_away) EXPECT_EQ(settled.get(), 0U);
  for (int i = 0; i < UINT16_MAX; ++i) ASSERT_TRUE(bench.kernel->uncount(bench.worker, task, kind, task));
  EXPECT_EQ(open(), 0U);
  EXPECT_FALSE(bench.kernel->find(task)->has_counted());
}

TYPED_TEST(Terms, OBL_2_what_a_poll_has_yet_to_tell_of_may_be_settled_elsewhere_by_another_worker) {
  auto& bench = this->bench;
  constexpr ObligationKind kind = ObligationKind::lock_guard;
  const TaskId other = bench.running(bench.root());
  const TaskId task = bench.running(bench.root(), {.handle = false});
  const auto open = [&] { return bench.kernel->find(task)->counted_open(counted_index(kind)); };
  const auto settle = [&] { return bench.kernel->uncount(bench.worker, task, kind, other, true); };
  if constexpr (TypeParam::shared) {
    EXPECT_TRUE(settle()) << "its poll goes on";
    EXPECT_EQ(open(), 0U) << "OBL-3: not less";
    EXPECT_TRUE(bench.kernel->count(bench.worker, task, kind)) << "of this one";
    EXPECT_EQ(open(), 0U);
    EXPECT_TRUE(bench.kernel->count(bench.worker, task, kind)) << "of another one";
    EXPECT_EQ(open(), 1U);
    EXPECT_TRUE(settle());
    EXPECT_EQ(open(), 0U);
  } else {
    EXPECT_EQ(settle(), Status(Errc::obligation_already_resolved)) << "one worker: another poll than this one has told";
  }
  ASSERT_TRUE(bench.kernel->end_poll(bench.worker, task));
  EXPECT_EQ(settle(), Status(Errc::obligation_already_resolved)) << "its poll is over";
  (void)bench.kernel->wake(bench.worker, task);
  EXPECT_EQ(bench.kernel->begin_poll(bench.worker, task), PollStart::run);
  ASSERT_TRUE(bench.kernel->complete(bench.worker, task, ok()));
  EXPECT_TRUE(bench.host.findings.empty()) << "nothing was forgotten (OBL-5)";
  const TaskId next = this->run_in_slot_of(task);
  for (const auto& settled : this->of(next).settled_away) EXPECT_EQ(settled.get(), 0U);
}

TYPED_TEST(Terms, OBL_5_a_promise_with_a_record_is_noticed_until_it_is_settled) {
  auto& bench = this->bench;
  const TaskId task = bench.running(bench.root());
  const auto& record = *bench.kernel->find(task);
  EXPECT_FALSE(record.holds_record());
  const auto promise = bench.kernel->reserve(bench.worker, bench.root(), {.kind = ObligationKind::ack, .holder = task});
  EXPECT_TRUE(record.holds_record());
  ASSERT_TRUE(bench.kernel->commit_and_drop(bench.worker, promise.id));
  EXPECT_FALSE(record.holds_record());
}

}  // namespace
}  // namespace calm::kernel
