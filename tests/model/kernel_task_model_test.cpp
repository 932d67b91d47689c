// The whole kernel under the interleavings of two threads: wakes, polls, requests, joins and ends of one task.
// Which paths take no shard lock, and why each is right, stands in kernel_model_test.cpp.
#include "tests/model/kernel_model.hpp"

namespace calm::explored {
namespace {

/// A task in its poll, one that is parked, and what the threads were told.
struct OnePolled : KernelWorld {
  RegionId scope = region(root());
  TaskId waiter = parked(scope);
  TaskId task = running(scope);
  Status first = Errc::would_block;
  Status second = Errc::would_block;
};

template <class World>
void end_kernel_poll(World& world) {
  world.first = world.kernel->end_poll(world.worker(0), world.task);
}
template <class World>
void await_end(World& world) {
  world.second = world.kernel->await_end(world.worker(1), world.task, world.waiter);
}

// --- wakes and polls ---

TEST(KernelModel, TSK_6_a_wake_against_the_end_of_a_poll_schedules_once) {
  const Body<OnePolled> wake = [](OnePolled& world) { world.second = world.kernel->wake(world.worker(1), world.task); };
  expect_in_every_schedule<OnePolled>({end_kernel_poll<OnePolled>, wake}, [](OnePolled& world) {
    EXPECT_TRUE(world.first);
    EXPECT_TRUE(world.second);
    EXPECT_EQ(world.entries(world.task), 1U);
    EXPECT_EQ(world.poll(0, world.task), PollStart::run);
    EXPECT_TRUE(world.kernel->end_poll(world.worker(0), world.task));
    EXPECT_EQ(world.entries(world.task), 0U) << "exactly one further poll";
  });
}

TEST(KernelModel, TSK_6_wakes_of_two_threads_against_the_end_of_a_poll_schedule_once) {
  const Body<OnePolled> wake_twice = [](OnePolled& world) {
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(world.kernel->wake(world.worker(1), world.task));
  };
  const Body<OnePolled> end_and_wake = [](OnePolled& world) {
    end_kernel_poll(world);
    EXPECT_TRUE(world.kernel->wake(world.worker(0), world.task));
  };
  expect_in_every_schedule<OnePolled>({end_and_wake, wake_twice},
                                      [](OnePolled& world) { EXPECT_EQ(world.entries(world.task), 1U); });
}

TEST(KernelModel, TSK_6_a_wake_against_a_completion_schedules_nothing) {
  const Body<OnePolled> wake = [](OnePolled& world) { world.second = world.kernel->wake(world.worker(1), world.task); };
  expect_in_every_schedule<OnePolled>({complete_task<OnePolled>, wake}, [](OnePolled& world) {
    EXPECT_TRUE(world.second) << "its handle keeps the id good";
    EXPECT_EQ(world.entries(world.task), 0U);
  });
}

TEST(KernelModel, TSK_8_the_first_poll_against_a_cancel_runs_the_body_or_drops_it) {
  struct World : KernelWorld {
    RegionId scope = region(root());
    TaskId task = queued(scope);
    PollStart start = PollStart::stale;
  };
  const Body<World> begin = [](World& world) { world.start = world.kernel->begin_poll(world.worker(0), world.task); };
  const Body<World> cancel = [](World& world) { EXPECT_TRUE(world.kernel->cancel(world.worker(1), world.scope, {})); };
  expect_in_every_schedule<World>({begin, cancel}, [](World& world) {
    EXPECT_TRUE(world.requested(world.task));
    const bool started = world.kernel->snapshot(world.worker(0)).find(world.task)->started;
    EXPECT_EQ(world.start, started ? PollStart::run : PollStart::drop);
    EXPECT_TRUE(world.kernel->complete(world.worker(0), world.task, ok()));
    EXPECT_EQ(world.kernel->outcome_of(world.task), started ? OutcomeKind::ok : OutcomeKind::cancelled);
  });
}

TEST(KernelModel, CAN_8_a_cleanup_deadline_against_the_end_of_a_poll_is_not_forgotten) {
  struct World : OnePolled {
    World() {
      EXPECT_TRUE(kernel->request_cancel(worker(0), task, {}));
      EXPECT_TRUE(kernel->end_poll(worker(0), task));
      EXPECT_EQ(poll(0, task), PollStart::run);
      worker(1).set_time(Time::at_ns(3'600'000'000'000));
    }
  };
  const Body<World> reach = [](World& world) {
    world.second = world.kernel->deadline_reached(world.worker(1), world.task);
  };
  expect_in_every_schedule<World>({end_kernel_poll<World>, reach}, [](World& world) {
    EXPECT_EQ(world.entries(world.task), 1U) << "it is parked beyond its deadline and must be polled to be forced";
  });
}

// --- requests ---

TEST(KernelModel, CAN_9_a_request_against_a_completion_comes_first_or_does_nothing) {
  const Body<OnePolled> request = [](OnePolled& world) {
    world.second = world.kernel->request_cancel(world.worker(1), world.task, {.kind = CancelKind::timeout});
  };
  expect_in_every_schedule<OnePolled>({complete_task<OnePolled>, request}, [](OnePolled& world) {
    EXPECT_TRUE(world.first);
    EXPECT_TRUE(world.second) << "CAN-3: on a task that has ended it does nothing";
    EXPECT_EQ(world.kernel->outcome_of(world.task), OutcomeKind::ok);
    EXPECT_FALSE(world.kernel->witness_of(world.worker(0), world.task).has_value());
    EXPECT_EQ(world.kernel->cancellation_of(world.worker(0), world.task).has_value(),
              world.events(trace::EventKind::cancel_request, world.task) == 1);
    EXPECT_EQ(world.entries(world.task), 0U);
  });
}

TEST(KernelModel, CAN_9_a_completion_is_cancelled_exactly_when_the_checkpoint_before_it_said_so) {
  const Body<OnePolled> look_and_complete = [](OnePolled& world) {
    world.second = world.kernel->checkpoint(world.worker(0), world.task);
    complete_task(world);
  };
  const Body<OnePolled> cancel = [](OnePolled& world) {
    EXPECT_TRUE(world.kernel->cancel(world.worker(1), world.scope, {}));
  };
  expect_in_every_schedule<OnePolled>({look_and_complete, cancel}, [](OnePolled& world) {
    const bool told = !world.second.is_ok();
    EXPECT_EQ(world.second, told ? Status(Errc::cancelled) : Status());
    EXPECT_EQ(world.kernel->outcome_of(world.task), told ? OutcomeKind::cancelled : OutcomeKind::ok);
    const auto witness = world.kernel->witness_of(world.worker(0), world.task);
    ASSERT_EQ(witness.has_value(), told);
    if (told) {
      EXPECT_EQ(witness->phase, CancelPhase::completed);
    }
    EXPECT_EQ(world.events(trace::EventKind::cancel_done, world.task), told ? 1U : 0U);
  });
}

// --- the stamp: who need not look again (K2) ---

/// A task that was found without a request when the stamp had this number.
struct FoundQuiet : OnePolled {
  std::uint64_t stamp = 0;
  bool quiet = false;

  std::uint64_t read_stamp() { return kernel->cancel_stamp().load(std::memory_order_acquire); }
  /// What cx::Context::acknowledge() asks before it remembers the stamp.
  void look() {
    stamp = read_stamp();
    quiet = !kernel->is_walking() && !kernel->is_cancel_requested(task);
  }
};

void expect_no_request_at_the_same_stamp(FoundQuiet& world) {
  EXPECT_TRUE(world.kernel->is_cancel_requested(world.task));
  EXPECT_FALSE(world.quiet && world.read_stamp() == world.stamp) << "the request would never be seen";
}

TEST(KernelModel, CAN_7_a_lone_request_changes_the_stamp_of_who_did_not_see_it) {
  const Body<FoundQuiet> look = [](FoundQuiet& world) { world.look(); };
  const Body<FoundQuiet> request = [](FoundQuiet& world) {
    world.second = world.kernel->request_cancel(world.worker(1), world.task, {});
  };
  expect_in_every_schedule<FoundQuiet>({look, request}, expect_no_request_at_the_same_stamp);
}

TEST(KernelModel, CAN_7_a_walk_changes_the_stamp_of_who_did_not_see_it) {
  const Body<FoundQuiet> look = [](FoundQuiet& world) { world.look(); };
  const Body<FoundQuiet> cancel = [](FoundQuiet& world) {
    world.second = world.kernel->cancel(world.worker(1), world.scope, {});
  };
  expect_in_every_schedule<FoundQuiet>({look, cancel}, expect_no_request_at_the_same_stamp);
}

TEST(KernelModel, CAN_13_who_is_woken_by_a_request_finds_another_stamp) {
  struct Parked : FoundQuiet {
    bool polled = false;
    bool changed = false;
    Parked() {
      look();
      EXPECT_TRUE(quiet);
      EXPECT_TRUE(kernel->end_poll(worker(0), task));
    }
  };
  const Body<Parked> poll = [](Parked& world) {
    world.polled = world.poll(0, world.task) == PollStart::run;
    world.changed = world.read_stamp() != world.stamp;
  };
  const Body<Parked> request = [](Parked& world) {
    world.second = world.kernel->request_cancel(world.worker(1), world.task, {});
  };
  const Body<Parked> cancel = [](Parked& world) {
    world.second = world.kernel->cancel(world.worker(1), world.scope, {});
  };
  for (const Body<Parked>& waker : {request, cancel}) {
    expect_in_every_schedule<Parked>({poll, waker}, [](Parked& world) { EXPECT_TRUE(!world.polled || world.changed); });
  }
}

TEST(KernelModel, CAN_6_a_checkpoint_below_a_region_that_is_being_cancelled_sees_it) {
  struct World : KernelWorld {
    RegionId scope = region(root());
    RegionId inner = region(region(scope));
    TaskId task = running(inner);
    bool begun = false;
    Status seen{};
  };
  const Body<World> look = [](World& world) {
    world.begun = world.kernel->state(world.scope) != RegionState::open;
    world.seen = world.kernel->checkpoint(world.worker(0), world.task);
  };
  const Body<World> cancel = [](World& world) { EXPECT_TRUE(world.kernel->cancel(world.worker(1), world.scope, {})); };
  expect_in_every_schedule<World>({look, cancel}, [](World& world) {
    if (world.begun) {
      EXPECT_EQ(world.seen, Errc::cancelled);
    }
    EXPECT_EQ(world.kernel->checkpoint(world.worker(0), world.task), Errc::cancelled);
  });
}

// --- joins ---

TEST(KernelModel, CAN_13_a_join_against_a_completion_is_told_or_woken_once) {
  expect_in_every_schedule<OnePolled>({complete_task<OnePolled>, await_end<OnePolled>}, [](OnePolled& world) {
    EXPECT_TRUE(world.first);
    EXPECT_EQ(world.second, world.entries(world.waiter) == 1 ? Status(Errc::would_block) : Status());
    EXPECT_EQ(world.kernel->state(world.task), TaskState::completed);
  });
}

TEST(KernelModel, CAN_13_a_join_taken_back_against_a_completion_is_forgotten_or_woken) {
  struct World : OnePolled {
    bool forgotten = false;
    World() { EXPECT_EQ(kernel->await_end(worker(0), task, waiter), Errc::would_block); }
  };
  const Body<World> forget = [](World& world) {
    world.forgotten = world.kernel->forget_end(world.worker(1), world.task);
  };
  expect_in_every_schedule<World>({complete_task<World>, forget}, [](World& world) {
    EXPECT_EQ(world.entries(world.waiter), world.forgotten ? 0U : 1U);
  });
}

TEST(KernelModel, CAN_13_of_two_joins_one_waits_and_the_other_is_told_busy) {
  struct World : OnePolled {
    TaskId other = parked(scope);
    Status told = Errc::would_block;
  };
  const Body<World> await_too = [](World& world) {
    world.told = world.kernel->await_end(world.worker(0), world.task, world.other);
  };
  expect_in_every_schedule<World>({await_too, await_end<World>}, [](World& world) {
    complete_task(world);
    EXPECT_EQ(world.entries(world.other), world.told == Errc::would_block ? 1U : 0U);
    EXPECT_EQ(world.entries(world.waiter), world.second == Errc::would_block ? 1U : 0U);
  });
}

TEST(KernelModel, CAN_13_a_join_on_a_finalizer_against_its_start_is_woken) {
  struct World : OnePolled {
    RegionId other = region(root());
    World() { task = kernel->defer(worker(0), other, nullptr).id; }
  };
  const Body<World> close = [](World& world) { EXPECT_TRUE(world.kernel->close(world.worker(0), world.other)); };
  expect_in_every_schedule<World>({close, await_end<World>}, [](World& world) {
    EXPECT_EQ(world.second, Errc::would_block);
    EXPECT_EQ(world.poll(0, world.task), PollStart::run);
    complete_task(world);
    EXPECT_EQ(world.entries(world.waiter), 1U);
  });
}

TEST(KernelModel, REG_9_a_wait_for_a_region_against_its_last_task_is_told_or_woken_once) {
  struct World : OnePolled {
    RegionId other = region(root());
    World() {
      task = running(other);
      EXPECT_TRUE(kernel->close(worker(0), other));
    }
  };
  const Body<World> await_close = [](World& world) {
    world.second = world.kernel->await_close(world.worker(1), world.other, world.waiter);
  };
  expect_in_every_schedule<World>({complete_task<World>, await_close}, [](World& world) {
    EXPECT_EQ(world.kernel->state(world.other), RegionState::closed);
    EXPECT_EQ(world.second, world.entries(world.waiter) == 1 ? Status(Errc::would_block) : Status());
  });
}

// --- the end of the slot ---

void expect_freed_once(OnePolled& world) {
  EXPECT_EQ(world.kernel->find(world.task), nullptr);
  EXPECT_EQ(world.kernel->release(world.worker(0), world.task), Errc::stale_handle);
  const TaskId next = world.queued(world.root());
  EXPECT_EQ(next.index(), world.task.index()) << "the slot is used again";
  EXPECT_NE(next, world.task);
  EXPECT_NE(world.queued(world.root()).index(), next.index()) << "and it is free only once";
}

TEST(KernelModel, HND_1_a_release_against_a_completion_frees_the_slot_once) {
  const Body<OnePolled> release = [](OnePolled& world) {
    world.second = world.kernel->release(world.worker(1), world.task);
  };
  expect_in_every_schedule<OnePolled>({complete_task<OnePolled>, release}, [](OnePolled& world) {
    EXPECT_TRUE(world.first);
    EXPECT_TRUE(world.second);
    expect_freed_once(world);
  });
}

TEST(KernelModel, HND_1_a_release_against_a_completion_under_a_cancel_frees_the_slot_once) {
  struct World : OnePolled {
    World() { EXPECT_TRUE(kernel->request_cancel(worker(0), task, {})); }
  };
  const Body<World> release = [](World& world) { world.second = world.kernel->release(world.worker(1), world.task); };
  expect_in_every_schedule<World>({complete_task<World>, release}, [](World& world) {
    EXPECT_TRUE(world.second);
    expect_freed_once(world);
  });
}

TEST(KernelModel, HND_1_a_wake_for_a_life_that_has_ended_never_takes_a_poll_away_from_the_next) {
  struct World : OnePolled {
    TaskId next{};
    World() { EXPECT_TRUE(kernel->release(worker(0), task)); }
  };
  const Body<World> end_and_start_again = [](World& world) {
    complete_task(world);
    world.next = world.kernel->spawn(world.worker(0), world.scope, {}).id;
    EXPECT_EQ(world.next.index(), world.task.index());
  };
  const Body<World> wake = [](World& world) { world.second = world.kernel->wake(world.worker(1), world.task); };
  expect_in_every_schedule<World>({end_and_start_again, wake}, [](World& world) {
    EXPECT_EQ(world.entries(world.next), 1U);
    EXPECT_EQ(world.poll(0, world.next), PollStart::run);
  });
}

}  // namespace
}  // namespace calm::explored
