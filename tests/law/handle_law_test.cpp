// Handles and errors of the kernel: a recycled id is always noticed, every error is provoked once, ceilings refuse whole.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "calm/kernel/quiescence.hpp"
#include "tests/law/law_bench.hpp"

namespace calm::kernel {
namespace {

template <class Id>
struct Use {
  std::string_view name;
  std::function<Status(LawBench&, Id)> use;
};

const Use<RegionId> region_uses[] = {
    {"create_region", [](LawBench& b, RegionId id) { return b.kernel->create_region(b.worker, id, {}).status; }},
    {"close", [](LawBench& b, RegionId id) { return b.close(id); }},
    {"cancel", [](LawBench& b, RegionId id) { return b.cancel(id); }},
    {"end_body", [](LawBench& b, RegionId id) { return b.kernel->end_body(b.worker, id, ok()); }},
    {"advance", [](LawBench& b, RegionId id) { return b.kernel->advance(b.worker, id); }},
    {"deadline_reached", [](LawBench& b, RegionId id) { return b.kernel->deadline_reached(b.worker, id); }},
    {"defer", [](LawBench& b, RegionId id) { return b.kernel->defer(b.worker, id, nullptr).status; }},
    {"await_close", [](LawBench& b, RegionId id) { return b.kernel->await_close(b.worker, id, {}); }},
    {"make_in", [](LawBench& b, RegionId id) { return status_of(b.kernel->make_in<int>(b.worker, id, 1)); }},
    {"release", [](LawBench& b, RegionId id) { return b.kernel->release(b.worker, id); }},
    {"spawn", [](LawBench& b, RegionId id) { return b.kernel->spawn(b.worker, id, {}).status; }},
    {"spawn for clean-up",
     [](LawBench& b, RegionId id) { return b.kernel->spawn(b.worker, id, {.cleanup = true}).status; }},
    {"reserve", [](LawBench& b, RegionId id) { return b.kernel->reserve(b.worker, id, {}).status; }},
};

const Use<TaskId> task_uses[] = {
    {"wake", [](LawBench& b, TaskId id) { return b.wake(id); }},
    {"end_poll", [](LawBench& b, TaskId id) { return b.park(id); }},
    {"complete", [](LawBench& b, TaskId id) { return b.end(id, err(Errc::io)); }},
    {"begin_finalizing", [](LawBench& b, TaskId id) { return b.kernel->begin_finalizing(b.worker, id); }},
    {"request_cancel", [](LawBench& b, TaskId id) { return b.request(id); }},
    {"checkpoint", [](LawBench& b, TaskId id) { return b.checkpoint(id); }},
    {"enter_mask", [](LawBench& b, TaskId id) { return b.kernel->enter_mask(b.worker, id); }},
    {"leave_mask", [](LawBench& b, TaskId id) { return b.kernel->leave_mask(b.worker, id); }},
    {"spend", [](LawBench& b, TaskId id) { return b.kernel->spend(b.worker, id, 1); }},
    {"deadline_reached", [](LawBench& b, TaskId id) { return b.kernel->deadline_reached(b.worker, id); }},
    {"await_end", [](LawBench& b, TaskId id) { return b.kernel->await_end(b.worker, id, {}); }},
    {"release", [](LawBench& b, TaskId id) { return b.kernel->release(b.worker, id); }},
    {"unwound", [](LawBench& b, TaskId id) { return b.kernel->unwound(b.worker, id, b.root()); }},
    {"count", [](LawBench& b, TaskId id) { return b.kernel->count(b.worker, id, ObligationKind::lock_guard); }},
    {"uncount", [](LawBench& b, TaskId id) { return b.kernel->uncount(b.worker, id, ObligationKind::lock_guard, id); }},
};

const Use<ObligationId> obligation_uses[] = {
    {"commit", [](LawBench& b, ObligationId id) { return b.kernel->commit(b.worker, id); }},
    {"abort", [](LawBench& b, ObligationId id) { return b.kernel->abort(b.worker, id); }},
    {"hand_over", [](LawBench& b, ObligationId id) { return b.kernel->hand_over(b.worker, id, Service::reactor); }},
    {"drop_token", [](LawBench& b, ObligationId id) { return b.kernel->drop_token(b.worker, id); }},
};

RegionId ended_region(LawBench& bench) {
  const RegionId region = bench.region(bench.root());
  EXPECT_TRUE(bench.close(region));
  EXPECT_TRUE(bench.kernel->release(bench.worker, region));
  return region;
}
TaskId ended_task(LawBench& bench) {
  const TaskId task = bench.running(bench.root(), {.handle = false});
  EXPECT_TRUE(bench.end(task));
  return task;
}
ObligationId ended_obligation(LawBench& bench) {
  const ObligationId promise = bench.reserve(bench.root());
  EXPECT_TRUE(bench.kernel->commit(bench.worker, promise));
  EXPECT_TRUE(bench.kernel->drop_token(bench.worker, promise));
  return promise;
}

/// Gives: ids that name nothing now, each in its own way; `ended` is one whose slot is free.
template <class Id>
std::map<std::string, Id> stale_ids(Id ended) {
  return {{"none", Id()},
          {"no such slot", Id(UINT32_MAX, Generation())},
          {"a slot never used", Id(ended.index() + 1, Generation())},
          {"a slot that is free", ended},
          {"a later life", Id(ended.index(), Generation(Generation::last))}};
}

template <class Id, std::size_t count>
void expect_stale(LawBench& bench, const Use<Id> (&uses)[count], const std::map<std::string, Id>& ids) {
  for (const auto& stale : ids) {
    for (const Use<Id>& each : uses) {
      SCOPED_TRACE(std::string(each.name) + " of " + stale.first);
      expect_unchanged(bench, Errc::stale_handle, [&] { return each.use(bench, stale.second); });
    }
  }
}

// --- HND-1 ---

TEST(Handles, HND_1_every_use_of_a_region_that_is_gone_is_a_stale_handle) {
  LawBench bench;
  const auto ids = stale_ids(ended_region(bench));
  expect_stale(bench, region_uses, ids);
  for (const auto& [name, id] : ids) {
    const LawBench::Marks before = bench.marks();
    EXPECT_EQ(bench.kernel->end_of(bench.worker, id), std::nullopt) << name;
    EXPECT_FALSE(bench.kernel->reason_of(bench.worker, id)) << name;
    EXPECT_EQ(bench.kernel->check_heap(id), Status(Errc::region_closed)) << name;
    bench.kernel->forget_close(bench.worker, id, {});
    EXPECT_EQ(bench.marks(), before) << name;
  }
}

TEST(Handles, HND_1_every_use_of_a_task_that_is_gone_is_a_stale_handle) {
  LawBench bench;
  const auto ids = stale_ids(ended_task(bench));
  expect_stale(bench, task_uses, ids);
  for (const auto& [name, id] : ids) {
    const LawBench::Marks before = bench.marks();
    EXPECT_EQ(bench.kernel->begin_poll(bench.worker, id), PollStart::stale) << name;
    EXPECT_FALSE(bench.kernel->is_cancel_requested(id)) << name;
    EXPECT_EQ(bench.kernel->state(id), TaskState::completed) << name;
    EXPECT_EQ(bench.kernel->outcome_of(id), std::nullopt) << name;
    EXPECT_EQ(bench.kernel->budget_of(id), std::nullopt) << name;
    EXPECT_FALSE(bench.kernel->cancellation_of(bench.worker, id)) << name;
    EXPECT_FALSE(bench.kernel->witness_of(bench.worker, id)) << name;
    EXPECT_EQ(bench.kernel->find(id), nullptr) << name;
    EXPECT_FALSE(bench.kernel->forget_end(bench.worker, id)) << name;
    EXPECT_EQ(bench.marks(), before) << name;
  }
}

TEST(Handles, HND_1_every_use_of_an_obligation_that_is_gone_is_a_stale_handle) {
  LawBench bench;
  const auto ids = stale_ids(ended_obligation(bench));
  expect_stale(bench, obligation_uses, ids);
  for (const auto& [name, id] : ids) EXPECT_EQ(bench.state(id), std::nullopt) << name;
}

TEST(Handles, HND_1_a_slot_used_again_answers_to_its_new_id_only) {
  LawBench bench;
  const RegionId old_region = ended_region(bench);
  const RegionId region = bench.region(bench.root());
  ASSERT_EQ(region.index(), old_region.index());
  EXPECT_EQ(region.generation().value(), old_region.generation().value() + 1);
  const TaskId old_task = ended_task(bench);
  const TaskId task = bench.running(region);
  ASSERT_EQ(task.index(), old_task.index());
  const ObligationId old_promise = ended_obligation(bench);
  const ObligationId promise = bench.reserve(region, task);
  ASSERT_EQ(promise.index(), old_promise.index());
  expect_stale(bench, region_uses, {{"the life before", old_region}});
  expect_stale(bench, task_uses, {{"the life before", old_task}});
  expect_stale(bench, obligation_uses, {{"the life before", old_promise}});
  EXPECT_TRUE(bench.kernel->commit(bench.worker, promise));
  EXPECT_TRUE(bench.end(task));
  EXPECT_TRUE(bench.close(region));
}

TEST(Handles, HND_1_every_life_of_a_slot_has_another_id) {
  LawBench bench;
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 300; ++i) {
    EXPECT_TRUE(seen.insert(ended_region(bench).bits()).second);
    EXPECT_TRUE(seen.insert(ended_task(bench).bits()).second);
    EXPECT_TRUE(seen.insert(ended_obligation(bench).bits()).second);
  }
}

/// Where a task is only mentioned; none is a good answer there.
struct Mention : testing::Test {
  void expect_noticed(const std::function<Status(TaskId)>& mention,
                      std::source_location where = std::source_location::current()) {
    for (const auto& stale : stale_ids(ended_task(bench))) {
      SCOPED_TRACE(stale.first);
      if (stale.second) expect_unchanged(bench, Errc::stale_handle, [&] { return mention(stale.second); }, where);
    }
  }

  LawBench bench;
  RegionId region = bench.region(bench.root());
  TaskId live = bench.parked(region);
  ObligationId promise = bench.reserve(region);
};

TEST_F(Mention, HND_1_of_a_stale_task_as_spawner_or_holder_is_noticed) {
  expect_noticed([&](TaskId id) { return bench.kernel->spawn(bench.worker, region, {.spawner = id}).status; });
  expect_noticed([&](TaskId id) { return bench.kernel->reserve(bench.worker, region, {.holder = id}).status; });
  expect_noticed([&](TaskId id) { return bench.kernel->hand_over(bench.worker, promise, id); });
}

TEST_F(Mention, HND_1_of_a_stale_task_as_owner_or_as_the_one_a_service_works_for_is_noticed) {
  expect_noticed([&](TaskId id) { return bench.kernel->create_region(bench.worker, region, {.owner = id}).status; });
  const auto served = [](TaskId id) { return Holder(Service::reactor, id); };
  expect_noticed([&](TaskId id) { return bench.kernel->reserve(bench.worker, region, {.holder = served(id)}).status; });
  expect_noticed([&](TaskId id) { return bench.kernel->hand_over(bench.worker, promise, served(id)); });
}

TEST_F(Mention, HND_1_of_a_stale_task_as_one_to_be_woken_is_noticed) {
  expect_noticed([&](TaskId id) { return bench.kernel->await_end(bench.worker, live, id); });
  expect_noticed([&](TaskId id) { return bench.kernel->await_close(bench.worker, region, id); });
}

// --- HND-2 ---

/// One operation for every error that the kernel gives.
const std::map<Errc, std::function<Status(LawBench&)>> provoked = {
    {Errc::invalid_transition, [](LawBench& b) { return b.park(b.parked(b.root())); }},
    {Errc::region_not_open,
     [](LawBench& b) {
       b.parked(b.root());
       (void)b.close(b.root());
       return b.kernel->spawn(b.worker, b.root(), {}).status;
     }},
    {Errc::region_closed,
     [](LawBench& b) {
       (void)b.close(b.root());
       return b.kernel->check_heap(b.root());
     }},
    {Errc::admission_limit,
     [](LawBench& b) { return b.kernel->spawn(b.worker, b.region(b.root(), {.limits = {.tasks = 0}}), {}).status; }},
    {Errc::obligation_already_resolved,
     [](LawBench& b) {
       const ObligationId promise = b.reserve(b.root());
       (void)b.kernel->commit(b.worker, promise);
       return b.kernel->commit(b.worker, promise);
     }},
    {Errc::obligation_leaked,
     [](LawBench& b) {
       const ObligationId promise = b.reserve(b.root());
       (void)b.close(b.root());
       return b.kernel->commit(b.worker, promise);
     }},
    {Errc::unresolved_obligations,
     [](LawBench& b) {
       b.reserve(b.root(), Service::reactor);
       (void)b.close(b.root());
       return b.kernel->advance(b.worker, b.root());
     }},
    {Errc::incomplete_children,
     [](LawBench& b) {
       b.parked(b.root());
       (void)b.close(b.root());
       return b.kernel->advance(b.worker, b.root());
     }},
    {Errc::stale_handle, [](LawBench& b) { return b.wake({}); }},
    {Errc::resource_exhausted,
     [](LawBench& b) {
       const TaskId task = b.running(b.root());
       Status status;
       while (status) status = b.kernel->count(b.worker, task, ObligationKind::lock_guard);
       return status;
     }},
    {Errc::budget_exhausted,
     [](LawBench& b) { return b.kernel->spend(b.worker, b.running(b.root(), {.budget = {.cost = Quota(0)}}), 1); }},
    {Errc::tasks_still_active,
     [](LawBench& b) {
       b.task(b.root());
       return quiescent(b.kernel->snapshot(b.worker));
     }},
    {Errc::obligations_unresolved,
     [](LawBench& b) {
       b.reserve(b.root());
       return quiescent(b.kernel->snapshot(b.worker));
     }},
    {Errc::regions_not_closed, [](LawBench& b) { return quiescent(b.kernel->snapshot(b.worker)); }},
    {Errc::timers_pending,
     [](LawBench& b) {
       (void)b.close(b.root());
       b.host.timers = 1;
       return quiescent(b.kernel->snapshot(b.worker));
     }},
    {Errc::channel_not_drained,
     [](LawBench& b) {
       (void)b.close(b.root());
       b.host.channels = 1;
       return quiescent(b.kernel->snapshot(b.worker));
     }},
    {Errc::invalid_argument,
     [](LawBench& b) { return b.kernel->reserve(b.worker, b.root(), {.kind = ObligationKind::lock_guard}).status; }},
    {Errc::cancelled,
     [](LawBench& b) {
       const TaskId task = b.running(b.root());
       (void)b.request(task);
       return b.checkpoint(task);
     }},
    {Errc::would_block,
     [](LawBench& b) { return b.kernel->await_end(b.worker, b.parked(b.root()), b.parked(b.root())); }},
    {Errc::busy,
     [](LawBench& b) {
       (void)b.kernel->await_close(b.worker, b.root(), b.parked(b.root()));
       return b.kernel->await_close(b.worker, b.root(), b.parked(b.root()));
     }},
};

/// The others: of whom they come.
const std::map<Errc, std::string_view> not_the_kernels = {
    {Errc::admission_closed, "the injector of the runtime"},
    {Errc::witness_task_mismatch, "check_step"},
    {Errc::witness_region_mismatch, "check_step"},
    {Errc::witness_epoch_mismatch, "check_step"},
    {Errc::witness_phase_regression, "check_step"},
    {Errc::witness_reason_weakened, "check_step"},
    {Errc::full, "channels"},
    {Errc::empty, "channels"},
    {Errc::disconnected, "channels"},
    {Errc::timeout, "time"},
    {Errc::duration_exceeded, "timers"},
    {Errc::lagged, "channels"},
    {Errc::io, "io"},
    {Errc::unsupported, "io"},
    {Errc::protocol, "remote"},
    {Errc::unauthorized, "remote"},
    {Errc::conflict, "remote, and the trace of two runtimes"},
    {Errc::broken_pipe, "io"},
    {Errc::degraded, "services"},
    {Errc::open_circuit, "combinators"},
};

TEST(Handles, HND_2_every_error_that_the_kernel_gives_can_be_provoked) {
  for (const auto& [code, operation] : provoked) {
    LawBench bench;
    EXPECT_EQ(operation(bench), Status(code)) << to_string(code);
  }
}

TEST(Handles, HND_2_every_error_is_the_kernels_or_has_another_home) {
  for (const ErrcEntry& row : errc_table) {
    EXPECT_NE(provoked.contains(row.code), not_the_kernels.contains(row.code)) << row.name;
  }
}

// --- HND-3 ---

TEST(Handles, HND_3_a_ceiling_refuses_whole_and_a_slot_that_is_free_again_is_given) {
  LawBench bench({.ceilings = {.regions = 2, .tasks = 2, .obligations = 2}});
  const RegionId region = bench.region(bench.root());
  const auto create = [&] { return bench.kernel->create_region(bench.worker, bench.root(), {}); };
  expect_unchanged(bench, Errc::resource_exhausted, create);

  const TaskId task = bench.running(bench.root(), {.handle = false});
  bench.defer(region);
  const auto spawn = [&] { return bench.kernel->spawn(bench.worker, bench.root(), {}); };
  expect_unchanged(bench, Errc::resource_exhausted, spawn);
  expect_unchanged(bench, Errc::resource_exhausted, [&] { return bench.kernel->defer(bench.worker, region, nullptr); });
  EXPECT_TRUE(bench.close(region));
  expect_unchanged(bench, Errc::resource_exhausted,
                   [&] { return bench.kernel->spawn(bench.worker, region, {.cleanup = true}); });

  const ObligationId promise = bench.reserve(bench.root());
  bench.reserve(bench.root());
  const auto reserve = [&] { return bench.kernel->reserve(bench.worker, bench.root(), {}); };
  expect_unchanged(bench, Errc::resource_exhausted, reserve);

  EXPECT_TRUE(bench.end(task));
  EXPECT_TRUE(spawn());
  EXPECT_TRUE(bench.kernel->drop_token(bench.worker, promise));
  EXPECT_TRUE(reserve());
  bench.run_all();
  ASSERT_EQ(bench.state(region), RegionState::closed);
  EXPECT_TRUE(bench.kernel->release(bench.worker, region));
  EXPECT_TRUE(create());
}

TEST(Handles, HND_3_a_kernel_without_room_for_one_of_each_is_refused) {
  TestHost<lockfree::LocalAtomics> host;
  for (const Ceilings& ceilings : {Ceilings{.regions = 0}, Ceilings{.tasks = 0}, Ceilings{.obligations = 0}}) {
    EXPECT_EQ(status_of(LocalKernel::make({.ceilings = ceilings}, host)), Status(Errc::invalid_argument));
  }
  for (const int workers : {0, 2}) {
    const Config config{.workers = static_cast<std::uint16_t>(workers)};
    EXPECT_EQ(status_of(LocalKernel::make(config, host)), Status(Errc::invalid_argument));
  }
  EXPECT_EQ(status_of(LocalKernel::make({.trace_capacity = 3}, host)), Status(Errc::invalid_argument));
}

/// A kernel whose strict ring is full.
struct FullRing : testing::Test {
  FullRing() {
    const TaskId busy = bench.running(bench.root());
    while (bench.worker.recorder().room(1)) {
      EXPECT_TRUE(bench.park(busy));
      EXPECT_EQ(bench.poll_again(busy), PollStart::run);
    }
  }

  LawBench bench{Config{.trace_capacity = 64, .trace_when_full = trace::WhenFull::refuse}};
  RegionId region = bench.region(bench.root());
  RegionId finalizing = bench.region(bench.root());
  TaskId finalizer = bench.defer(finalizing);
  Status begun = bench.close(finalizing);
  TaskId task = bench.running(region);
  TaskId parked = bench.parked(region);
  ObligationId promise = bench.reserve(region, task);
  ObligationId other = bench.reserve(region);
};

TEST_F(FullRing, HND_3_admits_nothing_more) {
  expect_unchanged(bench, Errc::resource_exhausted, [&] { return bench.kernel->spawn(bench.worker, region, {}); });
  expect_unchanged(bench, Errc::resource_exhausted,
                   [&] { return bench.kernel->spawn(bench.worker, finalizing, {.cleanup = true}); });
  expect_unchanged(bench, Errc::resource_exhausted,
                   [&] { return bench.kernel->create_region(bench.worker, region, {}); });
  expect_unchanged(bench, Errc::resource_exhausted, [&] { return bench.kernel->reserve(bench.worker, region, {}); });
}

TEST_F(FullRing, HND_3_lets_everything_that_was_admitted_come_to_its_end_and_counts_what_it_could_not_take) {
  const std::uint64_t lost = bench.worker.lost_events();
  EXPECT_TRUE(bench.kernel->commit(bench.worker, promise));
  EXPECT_TRUE(bench.kernel->abort(bench.worker, other));
  EXPECT_EQ(bench.worker.lost_events(), lost + 2) << "one for each resolution";
  EXPECT_EQ(bench.poll_again(parked), PollStart::run);
  EXPECT_TRUE(bench.park(parked));
  EXPECT_TRUE(bench.request(parked));
  EXPECT_TRUE(bench.kernel->is_cancel_requested(parked));
  EXPECT_TRUE(bench.cancel(bench.root(), {.kind = CancelKind::shutdown}));
  EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled));
  EXPECT_TRUE(bench.end(task));
  bench.run_all();
  for (const TaskView& left : bench.kernel->snapshot(bench.worker).tasks) (void)bench.end(left.id);
  EXPECT_EQ(bench.state(finalizing), RegionState::closed);
  EXPECT_EQ(bench.state(region), RegionState::closed);
  EXPECT_EQ(bench.state(bench.root()), RegionState::closed);
  EXPECT_GT(bench.worker.lost_events(), lost + 10);
  EXPECT_EQ(bench.events().size(), 64U) << "what it took it kept";
}

TEST(Handles, HND_3_a_ring_that_is_not_strict_overwrites_the_oldest_and_counts) {
  LawBench bench({.trace_capacity = 64});
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(bench.end(bench.running(bench.root())));
  const trace::Trace trace = bench.kernel->trace().value();
  EXPECT_EQ(trace.events.size(), 64U);
  EXPECT_EQ(trace.overwritten, 300U - 64U);
  EXPECT_EQ(bench.worker.lost_events(), 0U);
}

TEST(Slot, HND_1_is_retired_before_its_generation_wraps) {
  Bench bench;
  const TaskId first = bench.task(bench.root(), {.handle = false});
  auto* const record = bench.kernel->find(first);
  // As if the slot had been used sixteen million times.
  const TaskLife last(Generation::last, TaskState::created, lockfree::WakeState::queued);
  record->word.renew(last);
  const TaskId id = record->id();
  bench.host.queue.clear();
  ASSERT_EQ(bench.poll(id), PollStart::run);
  ASSERT_TRUE(bench.kernel->complete(bench.worker, id, ok()).is_ok());
  EXPECT_EQ(bench.kernel->wake(bench.worker, id), Errc::stale_handle);
  EXPECT_EQ(bench.kernel->wake(bench.worker, first), Errc::stale_handle);
  for (int i = 0; i < 3; ++i) EXPECT_NE(bench.task(bench.root()).index(), id.index());
}

}  // namespace
}  // namespace calm::kernel
