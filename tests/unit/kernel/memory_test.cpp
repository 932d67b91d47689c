// What the kernel does when there is no memory: admissions are refused whole, everything else goes on.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "calm/kernel/kernel.hpp"
#include "tests/no_memory.hpp"
#include "tests/show.hpp"

namespace calm::kernel {
namespace {

using Atomics = lockfree::LocalAtomics;

/// A host that never allocates: a scheduler has a place for every task, and so has this one.
class RoomyHost final : public Host<Atomics> {
 public:
  RoomyHost() {
    queue.reserve(4096);
    watches.reserve(4096);
  }
  void schedule(Worker& /*worker*/, TaskRecord<Atomics>& task) noexcept override { queue.push_back(task.id()); }
  void watch(Worker& /*worker*/, TaskId task, Time deadline) noexcept override { watches.emplace_back(task, deadline); }
  void report(Worker& /*worker*/, const Finding& /*finding*/) noexcept override { ++findings; }
  [[nodiscard]] AwaitPoint await_point(const TaskRecord<Atomics>& /*task*/) const noexcept override { return {}; }
  [[nodiscard]] std::uint64_t pending_timers() const noexcept override { return 0; }
  [[nodiscard]] std::uint64_t undrained_channels() const noexcept override { return 0; }

  std::vector<TaskId> queue;
  std::vector<std::pair<TaskId, Time>> watches;
  int findings = 0;
};

struct KernelWithoutMemory : testing::Test {
  RegionId region(RegionId parent, const RegionSpec& spec = {}) {
    return kernel->create_region(worker, parent, spec).id;
  }
  TaskId parked(RegionId where) {
    const TaskId task = running(where);
    EXPECT_TRUE(kernel->end_poll(worker, task));
    return task;
  }
  TaskId running(RegionId where) {
    const TaskId task = kernel->spawn(worker, where, {}).id;
    EXPECT_EQ(kernel->begin_poll(worker, task), PollStart::run);
    return task;
  }
  PollStart poll(TaskId task) {
    (void)kernel->wake(worker, task);
    return kernel->begin_poll(worker, task);
  }
  Reason reason(TaskId task) { return kernel->cancellation_of(worker, task)->reason; }

  /// What must hold of a cancel without memory too: kind and severity are right, and clean-up ends.
  void expect_bounded(TaskId task, CancelKind kind, std::uint8_t severity, std::uint64_t polls, Time deadline) {
    const Cancellation cancellation = kernel->cancellation_of(worker, task).value();
    EXPECT_EQ(cancellation.reason.kind(), kind);
    EXPECT_EQ(cancellation.reason.severity(), severity);
    EXPECT_EQ(cancellation.cleanup.polls, Quota(polls));
    EXPECT_EQ(cancellation.cleanup.deadline, Deadline(deadline));
  }

  /// Makes the attempt with its first, second, … allocation failing until it needs none that fails, and expects each
  /// failure to be a refusal without effect. Gives: how many allocations it needed.
  template <class Attempt>
  std::uint64_t expect_refused_whole(Attempt attempt) {
    for (std::uint64_t nth = 1;; ++nth) {
      const std::uint64_t before = kernel->digest(worker);
      const std::uint64_t last_event = worker.recorder().last();
      const std::size_t queued = host.queue.size();
      Status status;
      bool happened = false;
      {
        const OneFailure failure(nth);
        status = attempt();
        happened = failure.happened();
      }
      if (!happened) {
        EXPECT_TRUE(status);
        return nth - 1;
      }
      EXPECT_EQ(status, Status(Errc::resource_exhausted)) << "allocation " << nth;
      EXPECT_EQ(kernel->digest(worker), before) << "allocation " << nth;
      EXPECT_EQ(worker.recorder().last(), last_event);
      EXPECT_EQ(host.queue.size(), queued);
      if (HasFailure()) return nth;
    }
  }

  RoomyHost host;
  std::unique_ptr<LocalKernel> kernel = LocalKernel::make({.trace_capacity = 256}, host).value();
  Worker& worker = kernel->worker(0);
};

// --- admissions, each of their allocations failing in turn ---

template <class Kernel, class HostType>
std::uint64_t expect_make_refused(const Config& config, HostType& host) {
  for (std::uint64_t nth = 1;; ++nth) {
    bool happened = false;
    std::unique_ptr<Kernel> made;
    Errc error{};
    {
      const OneFailure failure(nth);
      auto outcome = Kernel::make(config, host);
      happened = failure.happened();
      if (outcome.is_ok()) {
        made = std::move(outcome).value();
      } else {
        error = outcome.error().code();
      }
    }
    EXPECT_EQ(made == nullptr, happened) << "allocation " << nth;
    if (happened) {
      EXPECT_EQ(error, Errc::resource_exhausted) << "allocation " << nth;
    }
    if (!happened || testing::Test::HasFailure()) return nth - 1;
  }
}

TEST_F(KernelWithoutMemory, is_not_made_whichever_allocation_fails) {
  EXPECT_GE(expect_make_refused<LocalKernel>({.trace_capacity = 64}, host), 10U);
}

TEST_F(KernelWithoutMemory, is_not_made_without_any) {
  Status status;
  {
    const NoMemory gone;
    const auto outcome = LocalKernel::make({}, host);
    status = outcome.is_ok() ? Status() : Status(outcome.error().code());
  }
  EXPECT_EQ(status, Status(Errc::resource_exhausted));
}

TEST_F(KernelWithoutMemory, refuses_regions_whole) {
  std::uint64_t most = 0;
  for (int i = 0; i < 150; ++i) {
    most = std::max(most, expect_refused_whole(
                              [&] { return kernel->create_region(worker, kernel->root(), {.body = true}).status; }));
    if (HasFailure()) return;
  }
  EXPECT_EQ(most, 2U) << "what a later cancel needs, and now and then a chunk of records";
}

TEST_F(KernelWithoutMemory, refuses_tasks_whole) {
  std::uint64_t needed = 0;
  for (int i = 0; i < 600; ++i) {
    needed += expect_refused_whole([&] { return kernel->spawn(worker, kernel->root(), {}).status; });
    if (HasFailure()) return;
  }
  EXPECT_GE(needed, 2U) << "chunks of records";
}

TEST_F(KernelWithoutMemory, refuses_finalizers_and_their_tasks_whole) {
  std::uint64_t needed = 0;
  for (int i = 0; i < 300; ++i) {
    needed += expect_refused_whole([&] { return kernel->defer(worker, kernel->root(), nullptr).status; });
    if (HasFailure()) return;
  }
  EXPECT_GE(needed, 1U);
  ASSERT_TRUE(kernel->close(worker, kernel->root()));
  for (int i = 0; i < 300; ++i) {
    needed += expect_refused_whole([&] { return kernel->spawn(worker, kernel->root(), {.cleanup = true}).status; });
    if (HasFailure()) return;
  }
  EXPECT_GE(needed, 2U);
}

TEST_F(KernelWithoutMemory, refuses_promises_whole) {
  std::uint64_t needed = 0;
  const TaskId holder = running(kernel->root());
  for (int i = 0; i < 1100; ++i) {
    needed += expect_refused_whole([&] { return kernel->reserve(worker, kernel->root(), {.holder = holder}).status; });
    if (HasFailure()) return;
  }
  EXPECT_GE(needed, 2U);
}

TEST_F(KernelWithoutMemory, refuses_objects_of_a_region_whole) {
  std::uint64_t needed = 0;
  for (int i = 0; i < 40; ++i) {
    needed += expect_refused_whole([&] {
      const auto made = kernel->make_in<std::array<std::uint64_t, 16>>(worker, kernel->root());
      return made.is_ok() ? Status() : Status(made.error().code());
    });
    if (HasFailure()) return;
  }
  EXPECT_GE(needed, 3U) << "the heap and its blocks";
}

// --- what never fails ---

TEST_F(KernelWithoutMemory, wakes_polls_and_completes) {
  const RegionId home = region(kernel->root());
  const TaskId task = parked(home);
  const TaskId joiner = parked(kernel->root());
  const TaskId failing = running(home);
  std::vector<Status> answers;
  answers.reserve(32);
  PollStart start{};
  {
    const NoMemory gone;
    answers.push_back(kernel->await_end(worker, task, joiner));
    answers.push_back(kernel->wake(worker, task));
    start = kernel->begin_poll(worker, task);
    answers.push_back(kernel->enter_mask(worker, task));
    answers.push_back(kernel->leave_mask(worker, task));
    answers.push_back(kernel->checkpoint(worker, task));
    answers.push_back(kernel->end_poll(worker, task));
    answers.push_back(kernel->complete(worker, failing, err(Errc::io)));  // fails fast: cancels the other
    answers.push_back(kernel->begin_poll(worker, task) == PollStart::run ? Status() : Status(Errc::busy));
    answers.push_back(kernel->checkpoint(worker, task));
    answers.push_back(kernel->complete(worker, task, ok()));
    answers.push_back(kernel->release(worker, task));
    answers.push_back(kernel->release(worker, failing));
  }
  EXPECT_EQ(start, PollStart::run);
  EXPECT_EQ(answers[0], Status(Errc::would_block));
  EXPECT_EQ(answers[8], Status(Errc::cancelled));
  for (std::size_t i = 1; i < answers.size(); ++i) EXPECT_TRUE(answers[i] || i == 8) << i;
  EXPECT_EQ(std::count(host.queue.begin(), host.queue.end(), joiner), 2) << "its first poll, and the end it waited for";
  EXPECT_EQ(kernel->state(home), RegionState::closed);
  EXPECT_EQ(kernel->end_of(worker, home)->error().code(), Errc::io) << "the error that started it";
}

TEST_F(KernelWithoutMemory, resolves_hands_over_and_closes) {
  const RegionId home = region(kernel->root());
  const RegionId child = region(home);
  const TaskId holder = running(kernel->root());
  const TaskId taker = running(kernel->root());
  std::vector<ObligationId> promises;
  for (int i = 0; i < 40; ++i) promises.push_back(kernel->reserve(worker, child, {.holder = holder}).id);
  const TaskId finalizer = kernel->defer(worker, home, nullptr).id;
  std::vector<Status> answers;
  answers.reserve(64);
  {
    const NoMemory gone;
    answers.push_back(kernel->count(worker, holder, ObligationKind::lock_guard));
    answers.push_back(kernel->uncount(worker, holder, ObligationKind::lock_guard, taker));
    answers.push_back(kernel->commit(worker, promises[0]));
    answers.push_back(kernel->abort(worker, promises[1]));
    answers.push_back(kernel->drop_token(worker, promises[2]));
    answers.push_back(kernel->hand_over(worker, promises[3], taker));
    for (std::size_t i = 4; i < 30; ++i) answers.push_back(kernel->hand_over(worker, promises[i], {}));
    answers.push_back(kernel->close(worker, home));
    answers.push_back(kernel->close(worker, child));
    answers.push_back(kernel->complete(worker, holder, ok()));
    answers.push_back(kernel->complete(worker, taker, ok()));
    answers.push_back(kernel->begin_poll(worker, finalizer) == PollStart::run ? Status() : Status(Errc::busy));
    answers.push_back(kernel->complete(worker, finalizer, ok()));
    answers.push_back(kernel->release(worker, child));
    answers.push_back(kernel->release(worker, home));
  }
  for (std::size_t i = 0; i < answers.size(); ++i) EXPECT_TRUE(answers[i]) << i;
  EXPECT_EQ(kernel->leaks(worker), 10U + 1U + 26U) << "held to the end, handed over, without a holder";
  EXPECT_EQ(kernel->state(home), RegionState::closed);
}

TEST_F(KernelWithoutMemory, ends_the_objects_of_a_region) {
  const RegionId home = region(kernel->root());
  const auto shared = std::make_shared<int>(1);
  ASSERT_TRUE(kernel->make_in<std::shared_ptr<int>>(worker, home, shared).is_ok());
  EXPECT_EQ(shared.use_count(), 2);
  {
    const NoMemory gone;
    EXPECT_TRUE(kernel->close(worker, home));
  }
  EXPECT_EQ(shared.use_count(), 1);
}

// --- cancels ---

constexpr Time five_seconds = Time() + Duration::seconds(5);

TEST_F(KernelWithoutMemory, cancels_a_region_with_a_reason_that_lost_only_its_text) {
  const RegionId home = region(kernel->root());
  const TaskId task = parked(home);
  {
    const NoMemory gone;
    EXPECT_TRUE(kernel->cancel(worker, home, {.kind = CancelKind::timeout, .message = "lost"}));
  }
  expect_bounded(task, CancelKind::timeout, 1, 500, five_seconds);
  EXPECT_EQ(reason(task).region(), home);
  EXPECT_TRUE(reason(task).truncated());
  EXPECT_EQ(reason(task).message(), "");
  EXPECT_EQ(kernel->state(home), RegionState::draining);
  EXPECT_EQ(host.queue.back(), task) << "and it is woken";
}

TEST_F(KernelWithoutMemory, cancels_a_deep_tree_without_losing_severity_or_bounds) {
  std::vector<TaskId> tasks;
  const RegionId top = region(kernel->root());
  RegionId deepest = top;
  for (int depth = 0; depth < 200; ++depth) {
    tasks.push_back(parked(deepest));
    deepest = region(deepest);
  }
  {
    const NoMemory gone;
    EXPECT_TRUE(kernel->cancel(worker, top, {.kind = CancelKind::shutdown}));
  }
  expect_bounded(tasks[0], CancelKind::shutdown, 5, 50, five_seconds);
  for (std::size_t i = 1; i < tasks.size(); ++i) {
    expect_bounded(tasks[i], CancelKind::parent_cancelled, 5, 50, five_seconds);
    EXPECT_TRUE(reason(tasks[i]).truncated());
    if (HasFailure()) return;
  }
}

TEST_F(KernelWithoutMemory, strengthens_a_second_and_a_third_time_and_never_widens) {
  const RegionId home = region(kernel->root());
  const TaskId task = parked(home);
  for (const bool first_with_memory : {true, false}) {
    SCOPED_TRACE(first_with_memory ? "the first had memory" : "none had memory");
    const RegionId each = region(kernel->root());
    const TaskId child = parked(each);
    if (first_with_memory) {
      EXPECT_TRUE(kernel->cancel(worker, each, {.kind = CancelKind::user}));
    }
    {
      const NoMemory gone;
      if (!first_with_memory) {
        EXPECT_TRUE(kernel->cancel(worker, each, {.kind = CancelKind::user}));
      }
      EXPECT_TRUE(kernel->cancel(worker, each, {.kind = CancelKind::linked_exit}));
    }
    expect_bounded(child, CancelKind::linked_exit, 3, 200, five_seconds);
    {
      const NoMemory gone;
      EXPECT_TRUE(kernel->cancel(worker, each, {.kind = CancelKind::shutdown}));
      EXPECT_TRUE(kernel->cancel(worker, each, {.kind = CancelKind::user}));
    }
    expect_bounded(child, CancelKind::shutdown, 5, 50, five_seconds);
    EXPECT_EQ(kernel->reason_of(worker, each).kind(), CancelKind::shutdown);
    EXPECT_EQ(kernel->reason_of(worker, each).severity(), 5);
  }
  EXPECT_FALSE(kernel->is_cancel_requested(task));
}

TEST_F(KernelWithoutMemory, strengthens_what_is_below_to_the_severity_of_the_cause) {
  const RegionId home = region(kernel->root());
  const RegionId child = region(home);
  const TaskId below = parked(child);
  {
    const NoMemory gone;
    EXPECT_TRUE(kernel->cancel(worker, home, {.kind = CancelKind::user}));
    EXPECT_TRUE(kernel->cancel(worker, home, {.kind = CancelKind::shutdown}));
  }
  expect_bounded(below, CancelKind::parent_cancelled, 5, 50, five_seconds);
}

TEST_F(KernelWithoutMemory, cancels_one_task_after_the_other_and_bounds_each) {
  const RegionId home = region(kernel->root());
  const TaskId tasks[] = {parked(home), parked(home), parked(home)};
  worker.set_time(Time() + Duration::seconds(60));
  {
    const NoMemory gone;
    for (const TaskId task : tasks) {
      EXPECT_TRUE(kernel->request_cancel(worker, task, {.kind = CancelKind::linked_exit}));
    }
  }
  for (const TaskId task : tasks) {
    expect_bounded(task, CancelKind::linked_exit, 3, 200, Time() + Duration::seconds(65));
    EXPECT_EQ(
        std::count(host.watches.begin(), host.watches.end(), std::make_pair(task, Time() + Duration::seconds(65))), 1);
  }
}

TEST_F(KernelWithoutMemory, forces_what_overruns_its_clean_up) {
  const RegionId home = region(kernel->root());
  const TaskId first = parked(home);
  const TaskId second = parked(home);
  PollStart starts[2] = {};
  {
    const NoMemory gone;
    EXPECT_TRUE(kernel->request_cancel(worker, first, {}));
    EXPECT_TRUE(kernel->request_cancel(worker, second, {}));
    worker.set_time(five_seconds);
    EXPECT_TRUE(kernel->deadline_reached(worker, first));
    EXPECT_TRUE(kernel->deadline_reached(worker, second));
    starts[0] = poll(first);
    starts[1] = poll(second);
  }
  EXPECT_EQ(starts[0], PollStart::drop);
  EXPECT_EQ(starts[1], PollStart::drop) << "its request came when the reserve of the region was used up";
}

TEST_F(KernelWithoutMemory, requests_what_budgets_demand) {
  const RegionId home = region(kernel->root());
  const Budget budget{.deadline = Time::at_ns(10), .polls = Quota(1), .cost = Quota(1)};
  const TaskId late = kernel->spawn(worker, home, {.budget = budget}).id;
  EXPECT_EQ(kernel->begin_poll(worker, late), PollStart::run);
  Status spent;
  {
    const NoMemory gone;
    spent = kernel->spend(worker, late, 2);
    EXPECT_TRUE(kernel->end_poll(worker, late));
    worker.set_time(Time::at_ns(10));
    EXPECT_TRUE(kernel->deadline_reached(worker, late));
  }
  EXPECT_EQ(spent, Status(Errc::budget_exhausted));
  EXPECT_EQ(reason(late).kind(), CancelKind::cost_budget);
  EXPECT_EQ(reason(late).task(), late);
}

TEST_F(KernelWithoutMemory, folds_the_ends_of_cancelled_children) {
  const RegionId home = region(kernel->root(), {.policy = FoldPolicy::collect});
  const TaskId weaker = running(home);
  const TaskId stronger = running(home);
  EXPECT_TRUE(kernel->request_cancel(worker, weaker, {.kind = CancelKind::user}));
  EXPECT_TRUE(kernel->request_cancel(worker, stronger, {.kind = CancelKind::shutdown}));
  {
    const NoMemory gone;
    for (const TaskId task : {weaker, stronger}) {
      EXPECT_EQ(kernel->checkpoint(worker, task), Status(Errc::cancelled));
      EXPECT_TRUE(kernel->complete(worker, task, ok()));
    }
    EXPECT_TRUE(kernel->close(worker, home));
  }
  ASSERT_TRUE(kernel->end_of(worker, home)->is_cancelled());
  EXPECT_EQ(kernel->end_of(worker, home)->reason().kind(), CancelKind::shutdown);
}

}  // namespace
}  // namespace calm::kernel
