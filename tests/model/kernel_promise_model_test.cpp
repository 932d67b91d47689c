// The whole kernel under the interleavings of two threads: promises that are kept, moved and forgotten.
#include "tests/model/kernel_model.hpp"

namespace calm::explored {
namespace {

using kernel::Holder;
using kernel::Made;
using kernel::Service;

/// A task in its poll that holds a promise of its region, and another task of a region that stays open.
struct OneHeld : KernelWorld {
  RegionId scope = region(root());
  TaskId holder = running(scope);
  TaskId other = running(root());
  ObligationId held = promise(scope, holder);
  Status first = Errc::would_block;
  Status second = Errc::would_block;

  std::optional<ObligationState> state() { return kernel->state(worker(0), held); }
  std::uint64_t leaks() { return kernel->leaks(worker(0)); }
};

/// The same, and the region is Closed when the holder is gone and the promise settled.
struct LastHeld : OneHeld {
  LastHeld() { EXPECT_TRUE(kernel->close(worker(0), scope)); }
};

template <class World>
void complete_holder(World& world) {
  world.first = world.kernel->complete(world.worker(0), world.holder, ok());
}
template <class World>
void commit(World& world) {
  world.second = world.kernel->commit(world.worker(1), world.held);
}

TEST(KernelModel, OBL_5_a_commit_against_the_end_of_the_holder_settles_once) {
  expect_in_every_schedule<LastHeld>({complete_holder<LastHeld>, commit<LastHeld>}, [](LastHeld& world) {
    EXPECT_TRUE(world.first);
    EXPECT_EQ(world.second, world.leaks() == 0 ? Status() : Status(Errc::obligation_leaked));
    EXPECT_EQ(world.state(), world.second ? ObligationState::committed : ObligationState::leaked);
    EXPECT_EQ(world.host.found(kernel::FindingKind::leak), world.leaks());
    EXPECT_EQ(world.moves(world.scope), moves_drained);
  });
}

TEST(KernelModel, OBL_1_of_a_commit_and_an_abort_one_settles) {
  const Body<OneHeld> abort = [](OneHeld& world) { world.first = world.kernel->abort(world.worker(0), world.held); };
  expect_in_every_schedule<OneHeld>({abort, commit<OneHeld>}, [](OneHeld& world) {
    EXPECT_NE(world.first.is_ok(), world.second.is_ok());
    EXPECT_EQ(world.first ? world.second : world.first, Errc::obligation_already_resolved);
    EXPECT_EQ(world.state(), world.first ? ObligationState::aborted : ObligationState::committed);
  });
}

TEST(KernelModel, OBL_4_a_dropped_token_against_the_end_of_the_holder_settles_once) {
  const Body<LastHeld> drop = [](LastHeld& world) {
    world.second = world.kernel->drop_token(world.worker(1), world.held);
  };
  expect_in_every_schedule<LastHeld>({complete_holder<LastHeld>, drop}, [](LastHeld& world) {
    EXPECT_TRUE(world.second);
    EXPECT_EQ(world.leaks() + world.kernel->dropped_tokens(world.worker(0)), 1U);
    EXPECT_FALSE(world.state().has_value()) << "neither token nor holder: the slot is free";
    EXPECT_EQ(world.kernel->state(world.scope), RegionState::closed);
  });
}

TEST(KernelModel, OBL_5_a_promise_handed_over_against_the_end_of_its_new_holder_is_settled_or_stays) {
  const Body<OneHeld> complete_other = [](OneHeld& world) {
    world.first = world.kernel->complete(world.worker(0), world.other, ok());
  };
  const Body<OneHeld> hand_over = [](OneHeld& world) {
    world.second = world.kernel->hand_over(world.worker(1), world.held, world.other);
  };
  expect_in_every_schedule<OneHeld>({complete_other, hand_over}, [](OneHeld& world) {
    EXPECT_TRUE(world.first);
    EXPECT_EQ(world.second, world.leaks() == 1 ? Status() : Status(Errc::stale_handle));
    EXPECT_EQ(world.state(), world.second ? ObligationState::leaked : ObligationState::reserved);
  });
}

TEST(KernelModel, OBL_5_a_promise_handed_over_against_the_end_of_its_old_holder_goes_or_is_settled) {
  const Body<LastHeld> hand_over = [](LastHeld& world) {
    world.second = world.kernel->hand_over(world.worker(1), world.held, world.other);
  };
  expect_in_every_schedule<LastHeld>({complete_holder<LastHeld>, hand_over}, [](LastHeld& world) {
    EXPECT_TRUE(world.first);
    if (world.second) {
      EXPECT_EQ(world.leaks(), 0U);
      EXPECT_EQ(world.kernel->snapshot(world.worker(0)).find(world.held)->holder, Holder(world.other));
      EXPECT_EQ(world.kernel->state(world.scope), RegionState::finalizing) << "I2: it waits for the promise";
      EXPECT_TRUE(world.kernel->commit(world.worker(0), world.held));
    } else {
      EXPECT_EQ(world.second, Errc::obligation_leaked);
    }
    EXPECT_EQ(world.moves(world.scope), moves_drained);
  });
}

/// One makes a counted promise, another one settles it.
struct Counted : KernelWorld {
  RegionId scope = region(root());
  TaskId holder = running(scope);
  TaskId other = running(root());
  Status first = Errc::would_block;
  Status second = Errc::would_block;

  void count() { EXPECT_TRUE(kernel->count(worker(0), holder, ObligationKind::lock_guard)); }
};

TEST(KernelModel, OBL_2_a_counted_promise_settled_elsewhere_against_the_end_of_its_holder_is_kept_or_lost) {
  struct World : Counted {
    World() { count(); }
  };
  const Body<World> uncount = [](World& world) {
    world.second = world.kernel->uncount(world.worker(1), world.holder, ObligationKind::lock_guard, world.other);
  };
  expect_in_every_schedule<World>({complete_holder<World>, uncount}, [](World& world) {
    EXPECT_TRUE(world.first);
    const bool lost = world.kernel->leaks(world.worker(0)) == 1;
    EXPECT_EQ(world.second, lost ? Status(Errc::obligation_already_resolved) : Status());
  });
}

TEST(KernelModel, OBL_2_a_counted_promise_settled_elsewhere_before_the_poll_that_made_it_has_told_is_kept_or_lost) {
  const Body<Counted> tell_and_complete = [](Counted& world) {
    world.count();
    complete_holder(world);
  };
  const Body<Counted> uncount = [](Counted& world) {
    world.second = world.kernel->uncount(world.worker(1), world.holder, ObligationKind::lock_guard, world.other, true);
  };
  expect_in_every_schedule<Counted>({tell_and_complete, uncount}, [](Counted& world) {
    EXPECT_TRUE(world.first);
    const bool lost = world.kernel->leaks(world.worker(0)) == 1;
    EXPECT_EQ(world.second.is_ok(), !lost) << to_string(world.second.error());
  });
}

TEST(KernelModel, REG_6_a_promise_against_a_close_is_waited_for_or_refused) {
  struct World : KernelWorld {
    RegionId scope = region(root());
    TaskId holder = running(root());
    Made<ObligationId> made{};
    Status second = Errc::would_block;
  };
  const Body<World> reserve = [](World& world) {
    world.made =
        world.kernel->reserve(world.worker(0), world.scope, {.kind = ObligationKind::ack, .holder = world.holder});
  };
  const Body<World> close = [](World& world) { world.second = world.kernel->close(world.worker(1), world.scope); };
  expect_in_every_schedule<World>({reserve, close}, [](World& world) {
    EXPECT_TRUE(world.second);
    if (world.made) {
      EXPECT_EQ(world.kernel->state(world.scope), RegionState::finalizing);
      EXPECT_EQ(world.kernel->advance(world.worker(0), world.scope), Errc::unresolved_obligations);
      EXPECT_TRUE(world.kernel->commit(world.worker(0), world.made.id));
    } else {
      EXPECT_EQ(world.made.status, Errc::region_not_open);
    }
    EXPECT_EQ(world.moves(world.scope), moves_empty);
  });
}

/// A region that waits in Finalizing for two promises of a service.
struct TwoServed : KernelWorld {
  RegionId scope = region(root());
  ObligationId held = promise(scope, Service::lease_keeper, ObligationKind::lease);
  ObligationId too = promise(scope, Service::reactor, ObligationKind::io_operation);
  Status first = Errc::would_block;
  Status second = Errc::would_block;
  TwoServed() { EXPECT_TRUE(kernel->close(worker(0), scope)); }
};

TEST(KernelModel, OBL_6_of_the_last_two_promises_of_a_region_the_later_one_closes_it_once) {
  const Body<TwoServed> abort = [](TwoServed& world) { world.first = world.kernel->abort(world.worker(0), world.too); };
  expect_in_every_schedule<TwoServed>({abort, commit<TwoServed>}, [](TwoServed& world) {
    EXPECT_TRUE(world.first);
    EXPECT_TRUE(world.second);
    EXPECT_EQ(world.moves(world.scope), moves_empty);
  });
}

TEST(KernelModel, OBL_6_a_promise_given_up_against_its_commit_is_lost_or_kept) {
  struct World : TwoServed {
    World() { EXPECT_TRUE(kernel->commit(worker(0), too)); }
  };
  const Body<World> give_up = [](World& world) {
    world.first = world.kernel->hand_over(world.worker(0), world.held, Holder());
  };
  expect_in_every_schedule<World>({give_up, commit<World>}, [](World& world) {
    // The audit comes after the hand-over: a commit in between finds it Reserved.
    const bool lost = world.kernel->leaks(world.worker(0)) == 1;
    EXPECT_EQ(world.second, lost ? Status(Errc::obligation_leaked) : Status());
    if (lost) {
      EXPECT_TRUE(world.first);
    }
    EXPECT_EQ(world.moves(world.scope), moves_empty);
  });
}

TEST(KernelModel, CAN_8_a_forced_end_that_waits_for_a_buffer_against_its_return_drops_the_frame_or_is_woken) {
  struct World : OneHeld {
    PollStart start = PollStart::stale;
    World() {
      EXPECT_TRUE(kernel->hand_over(worker(0), held, Holder(Service::reactor, holder)));
      EXPECT_TRUE(kernel->request_cancel(worker(0), holder, {}));
      EXPECT_TRUE(kernel->end_poll(worker(0), holder));
      worker(0).set_time(Time::at_ns(3'600'000'000'000));
    }
  };
  const Body<World> begin = [](World& world) { world.start = world.poll(0, world.holder); };
  expect_in_every_schedule<World>({begin, commit<World>}, [](World& world) {
    EXPECT_TRUE(world.second);
    if (world.start == PollStart::later) {
      EXPECT_EQ(world.entries(world.holder), 1U);
      world.start = world.poll(0, world.holder);
    }
    EXPECT_EQ(world.start, PollStart::drop);
    complete_holder(world);
    EXPECT_EQ(world.kernel->outcome_of(world.holder), OutcomeKind::cancelled);
  });
}

}  // namespace
}  // namespace calm::explored
