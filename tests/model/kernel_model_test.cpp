// The whole kernel under the interleavings of two threads: admission, completion, close and cancel of regions.
//
// Paths that take no shard lock, what decides each, and the tests that run it against everything it can meet:
//   admission    the hold of the gate's bit. A close sets `closed` under the same bit and walks afterwards, so the task is
//                in the list that the walk reads, or sees `closed`: RegionGateModel, and below "an admission against …".
//   completion   the comparison of the whole task word. A request, a joiner, a hand-over and a dropped handle each change
//                it, so each comes before, and the completer sees it, or after, and sees Completed: TaskWordModel, and
//                "… against a completion". Then one hold of the gate's bit: the last one out of a closed gate is one.
//   wake, poll   one step on the task word each, after the table of wake_state.hpp: TaskWordModel, and "a wake against …".
//   checkpoint   a look at walking_, then one at the task word: who finds no walk finds what an earlier walk left there,
//                and who finds one looks at the flags above: "a checkpoint below …".
// An execution has some fifty steps. Every order of those that do not commute is run, once: from four, where one lock decides
// who comes first, to some thousand.
#include "tests/model/kernel_model.hpp"

namespace calm::explored {
namespace {

using kernel::Made;

/// A region below the root, and what the threads were told.
struct OpenRegion : KernelWorld {
  RegionId scope = region(root());
  Made<TaskId> spawned{.status = Errc::would_block};
  Status first = Errc::would_block;
  Status second = Errc::would_block;
};

/// The same with one task in it, or two, in their polls.
struct OneInside : OpenRegion {
  TaskId task = running(scope);
};
struct TwoInside : OneInside {
  TaskId other = running(scope);
};

template <class World>
void spawn_here(World& world) {
  world.spawned = world.kernel->spawn(world.worker(0), world.scope, {});
}
template <class World>
void close_scope(World& world) {
  world.second = world.kernel->close(world.worker(1), world.scope);
}
template <class World>
void cancel_scope(World& world) {
  world.second = world.kernel->cancel(world.worker(1), world.scope, {.kind = CancelKind::user});
}

/// Either it was admitted and counts, or it was refused because the region was not open; there is nothing else.
void expect_admitted_or_refused(OpenRegion& world) {
  EXPECT_TRUE(world.second);
  if (world.spawned) {
    EXPECT_EQ(world.entries(world.spawned.id), 1U);
    EXPECT_EQ(world.kernel->state(world.scope), RegionState::draining);
    EXPECT_EQ(world.kernel->snapshot(world.worker(0)).find(world.scope)->live_tasks, 1U);
  } else {
    EXPECT_EQ(world.spawned.status, Errc::region_not_open);
    EXPECT_EQ(world.moves(world.scope), moves_empty);
  }
}

void finish_spawned(OpenRegion& world) {
  if (!world.spawned) return;
  EXPECT_NE(world.poll(0, world.spawned.id), PollStart::stale);
  EXPECT_TRUE(world.kernel->complete(world.worker(0), world.spawned.id, ok()));
  EXPECT_EQ(world.moves(world.scope), moves_drained);
}

void expect_closed_once(const OpenRegion& world) {
  EXPECT_EQ(world.kernel->state(world.scope), RegionState::closed);
  const Moves moves = world.moves(world.scope);
  EXPECT_TRUE(moves == moves_drained || moves == moves_empty) << testing::PrintToString(moves);
}

// --- admission ---

TEST(KernelModel, REG_6_an_admission_against_a_close_is_drained_or_refused) {
  expect_in_every_schedule<OpenRegion>({spawn_here<OpenRegion>, close_scope<OpenRegion>}, [](OpenRegion& world) {
    expect_admitted_or_refused(world);
    if (world.spawned) {
      EXPECT_FALSE(world.requested(world.spawned.id)) << "REG-2: a close does not cancel";
    }
    finish_spawned(world);
  });
}

TEST(KernelModel, CAN_6_an_admission_against_a_cancel_is_cancelled_or_refused) {
  expect_in_every_schedule<OpenRegion>({spawn_here<OpenRegion>, cancel_scope<OpenRegion>}, [](OpenRegion& world) {
    expect_admitted_or_refused(world);
    if (world.spawned) {
      EXPECT_TRUE(world.requested(world.spawned.id));
    }
    EXPECT_TRUE(world.kernel->reason_of(world.worker(0), world.scope));
    finish_spawned(world);
  });
}

TEST(KernelModel, REG_8_a_limit_is_kept_by_two_admissions) {
  struct Limited : OpenRegion {
    Limited() { scope = region(root(), {.limits = {.tasks = 1}}); }
    Made<TaskId> other{};
  };
  const Body<Limited> spawn_other = [](Limited& world) {
    world.other = world.kernel->spawn(world.worker(1), world.scope, {});
  };
  expect_in_every_schedule<Limited>({spawn_here<Limited>, spawn_other}, [](Limited& world) {
    EXPECT_NE(world.spawned.status.is_ok(), world.other.status.is_ok());
    EXPECT_EQ((world.spawned ? world.other : world.spawned).status, Errc::admission_limit);
  });
}

TEST(KernelModel, REG_6_a_child_region_against_a_close_is_waited_for_or_refused) {
  struct World : OpenRegion {
    Made<RegionId> child{};
  };
  const Body<World> create = [](World& world) {
    world.child = world.kernel->create_region(world.worker(0), world.scope, {});
  };
  expect_in_every_schedule<World>({create, close_scope<World>}, [](World& world) {
    if (!world.child) {
      EXPECT_EQ(world.child.status, Errc::region_not_open);
      return expect_closed_once(world);
    }
    EXPECT_EQ(world.kernel->state(world.child.id), RegionState::open) << "REG-2: a close leaves child regions alone";
    EXPECT_EQ(world.kernel->state(world.scope), RegionState::draining);
  });
}

TEST(KernelModel, REG_5_a_finalizer_against_a_close_runs_or_is_refused) {
  struct World : OpenRegion {
    Made<TaskId> finalizer{};
  };
  const Body<World> defer = [](World& world) {
    world.finalizer = world.kernel->defer(world.worker(0), world.scope, nullptr);
  };
  expect_in_every_schedule<World>({defer, close_scope<World>}, [](World& world) {
    if (!world.finalizer) {
      EXPECT_EQ(world.finalizer.status, Errc::region_not_open);
      return expect_closed_once(world);
    }
    EXPECT_EQ(world.kernel->state(world.scope), RegionState::finalizing);
    EXPECT_EQ(world.entries(world.finalizer.id), 1U);
    EXPECT_EQ(world.poll(0, world.finalizer.id), PollStart::run);
    EXPECT_TRUE(world.kernel->complete(world.worker(0), world.finalizer.id, ok()));
    expect_closed_once(world);
  });
}

TEST(KernelModel, REG_6_a_cleanup_task_against_the_end_of_the_last_finalizer_keeps_the_region_or_is_refused) {
  struct World : OneInside {
    TaskId finalizer = kernel->defer(worker(0), scope, nullptr).id;
    World() {
      EXPECT_TRUE(kernel->complete(worker(0), task, ok()));
      EXPECT_TRUE(kernel->close(worker(0), scope));
      EXPECT_EQ(poll(0, finalizer), PollStart::run);
    }
  };
  const Body<World> finish = [](World& world) {
    world.first = world.kernel->complete(world.worker(0), world.finalizer, ok());
  };
  const Body<World> spawn_cleanup = [](World& world) {
    world.spawned = world.kernel->spawn(world.worker(1), world.scope, {.cleanup = true});
  };
  expect_in_every_schedule<World>({finish, spawn_cleanup}, [](World& world) {
    EXPECT_TRUE(world.first);
    if (world.spawned) {
      EXPECT_EQ(world.kernel->state(world.scope), RegionState::finalizing);
      EXPECT_EQ(world.poll(0, world.spawned.id), PollStart::run);
      EXPECT_TRUE(world.kernel->complete(world.worker(0), world.spawned.id, ok()));
    } else {
      EXPECT_EQ(world.spawned.status, Errc::region_not_open);
    }
    expect_closed_once(world);
  });
}

// --- completion ---

TEST(KernelModel, REG_9_a_completion_against_a_close_closes_once) {
  expect_in_every_schedule<OneInside>({complete_task<OneInside>, close_scope<OneInside>}, [](OneInside& world) {
    EXPECT_TRUE(world.first);
    EXPECT_TRUE(world.second);
    expect_closed_once(world);
    EXPECT_EQ(world.events(trace::EventKind::complete, world.task), 1U);
    EXPECT_EQ(world.kernel->outcome_of(world.task), OutcomeKind::ok);
  });
}

TEST(KernelModel, REG_9_the_last_two_tasks_against_each_other_close_once) {
  struct World : TwoInside {
    World() { EXPECT_TRUE(kernel->close(worker(0), scope)); }
  };
  const Body<World> complete_other = [](World& world) {
    world.second = world.kernel->complete(world.worker(1), world.other, ok());
  };
  expect_in_every_schedule<World>({complete_task<World>, complete_other}, [](World& world) {
    EXPECT_TRUE(world.first);
    EXPECT_TRUE(world.second);
    expect_closed_once(world);
  });
}

TEST(KernelModel, REG_9_the_last_two_tasks_against_a_close_close_once) {
  struct World : KernelWorld {
    World() : KernelWorld(3) {}
    RegionId scope = region(root());
    TaskId tasks[2] = {running(scope), running(scope)};
  };
  const Body<World> complete_first = [](World& world) {
    EXPECT_TRUE(world.kernel->complete(world.worker(0), world.tasks[0], ok()));
  };
  const Body<World> complete_second = [](World& world) {
    EXPECT_TRUE(world.kernel->complete(world.worker(1), world.tasks[1], ok()));
  };
  const Body<World> close = [](World& world) { EXPECT_TRUE(world.kernel->close(world.worker(2), world.scope)); };
  expect_in_every_schedule<World>({complete_first, complete_second, close}, [](World& world) {
    EXPECT_EQ(world.kernel->state(world.scope), RegionState::closed);
    EXPECT_EQ(world.moves(world.scope).back(), RegionState::closed);
  });
}

TEST(KernelModel, REG_9_the_last_task_of_a_child_region_against_a_close_of_its_parent_closes_both_once) {
  struct World : OpenRegion {
    RegionId child = region(scope);
    TaskId task = running(child);
    World() { EXPECT_TRUE(kernel->close(worker(0), child)); }
  };
  expect_in_every_schedule<World>({complete_task<World>, close_scope<World>}, [](World& world) {
    expect_closed_once(world);
    EXPECT_EQ(world.moves(world.child), moves_drained);
  });
}

TEST(KernelModel, OUT_4_a_failure_against_an_admission_cancels_it_or_refuses_it) {
  const Body<OneInside> fail = [](OneInside& world) {
    world.second = world.kernel->complete(world.worker(1), world.task, err(Errc::io));
  };
  expect_in_every_schedule<OneInside>({spawn_here<OneInside>, fail}, [](OneInside& world) {
    EXPECT_TRUE(world.second);
    EXPECT_EQ(world.spawned.status, world.spawned ? Status() : Status(Errc::region_not_open));
    if (world.spawned) {
      EXPECT_TRUE(world.requested(world.spawned.id));
    }
    finish_spawned(world);
    EXPECT_EQ(world.kernel->state(world.scope), RegionState::closed);
    EXPECT_TRUE(world.kernel->end_of(world.worker(0), world.scope)->is_err());
  });
}

// --- close and cancel ---

TEST(KernelModel, REG_2_of_two_closers_one_closes) {
  const Body<OneInside> close_first = [](OneInside& world) {
    world.first = world.kernel->close(world.worker(0), world.scope);
  };
  expect_in_every_schedule<OneInside>({close_first, close_scope<OneInside>}, [](OneInside& world) {
    EXPECT_TRUE(world.first);
    EXPECT_TRUE(world.second);
    EXPECT_EQ(world.moves(world.scope), (Moves{RegionState::closing, RegionState::draining}));
  });
}

TEST(KernelModel, REG_2_a_close_against_a_cancel_moves_once_and_cancels) {
  const Body<OneInside> close_first = [](OneInside& world) {
    world.first = world.kernel->close(world.worker(0), world.scope);
  };
  expect_in_every_schedule<OneInside>({close_first, cancel_scope<OneInside>}, [](OneInside& world) {
    EXPECT_TRUE(world.first);
    EXPECT_TRUE(world.second);
    EXPECT_EQ(world.moves(world.scope), (Moves{RegionState::closing, RegionState::draining}));
    EXPECT_TRUE(world.requested(world.task));
    EXPECT_EQ(world.kernel->reason_of(world.worker(0), world.scope).kind(), CancelKind::user);
  });
}

TEST(KernelModel, CAN_4_two_cancels_of_nested_regions_strengthen_whichever_is_first) {
  struct World : OpenRegion {
    RegionId inner = region(scope);
    TaskId task = running(inner);
  };
  const Body<World> cancel_inner = [](World& world) {
    world.first = world.kernel->cancel(world.worker(0), world.inner, {.kind = CancelKind::shutdown});
  };
  expect_in_every_schedule<World>({cancel_inner, cancel_scope<World>}, [](World& world) {
    EXPECT_EQ(world.kernel->reason_of(world.worker(0), world.scope).kind(), CancelKind::user);
    EXPECT_EQ(world.kernel->reason_of(world.worker(0), world.inner).kind(), CancelKind::shutdown);
    EXPECT_EQ(world.kernel->cancellation_of(world.worker(0), world.task)->reason.kind(), CancelKind::shutdown);
    EXPECT_EQ(world.moves(world.inner), (Moves{RegionState::closing, RegionState::draining}));
  });
}

TEST(KernelModel, CAN_9_a_completion_against_a_cancel_of_the_region_keeps_its_outcome_and_has_no_witness) {
  expect_in_every_schedule<OneInside>({complete_task<OneInside>, cancel_scope<OneInside>}, [](OneInside& world) {
    EXPECT_TRUE(world.first);
    expect_closed_once(world);
    EXPECT_EQ(world.kernel->outcome_of(world.task), OutcomeKind::ok);
    EXPECT_FALSE(world.kernel->witness_of(world.worker(0), world.task).has_value());
    EXPECT_EQ(world.kernel->cancellation_of(world.worker(0), world.task).has_value(),
              world.events(trace::EventKind::cancel_request, world.task) == 1)
        << "the request came first, or there was none";
  });
}

TEST(KernelModel, REG_9_a_release_of_a_region_against_its_last_task_frees_the_slot_once) {
  struct World : OneInside {
    World() { EXPECT_TRUE(kernel->close(worker(0), scope)); }
  };
  const Body<World> release = [](World& world) { world.second = world.kernel->release(world.worker(1), world.scope); };
  expect_in_every_schedule<World>({complete_task<World>, release}, [](World& world) {
    EXPECT_TRUE(world.second);
    EXPECT_EQ(world.kernel->close(world.worker(0), world.scope), Errc::stale_handle);
    const RegionId next = world.region(world.root());
    EXPECT_EQ(next.index(), world.scope.index());
    EXPECT_NE(world.region(world.root()).index(), next.index());
  });
}

TEST(KernelModel, OBS_4_a_snapshot_beside_an_admission_and_a_completion_adds_up) {
  struct World : OneInside {
    kernel::Snapshot seen;
  };
  const Body<World> come_and_go = [](World& world) {
    spawn_here(world);
    complete_task(world);
  };
  const Body<World> look = [](World& world) { world.seen = world.kernel->snapshot(world.worker(1)); };
  expect_in_every_schedule<World>({come_and_go, look}, [](World& world) {
    for (const std::string& broken : kernel::broken_invariants(world.seen)) ADD_FAILURE() << broken;
  });
}

}  // namespace
}  // namespace calm::explored
