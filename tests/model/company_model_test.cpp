// One who works alone without a lock, and others who come in: never two at a time, under every interleaving.
#include "calm/lockfree/company.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "calm/explore/plain.hpp"
#include "calm/kernel/region_gate.hpp"
#include "calm/kernel/task_word.hpp"
#include "calm/lockfree/turn.hpp"
#include "calm/lockfree/work_ring.hpp"
#include "tests/model/explored.hpp"
#include "tests/model/fence_model.hpp"
#include "tests/model/weakened.hpp"

namespace calm::explored {
namespace {

/// One that does nothing.
struct TornFence : ModelFence {
  static constexpr std::memory_order order = std::memory_order_relaxed;
};
/// A system that has none.
struct NoFence : ModelFence {
  static bool prepare() noexcept { return false; }
};

/// Who had a lock last is of no matter here.
struct OneHistory {
  static lockfree::TurnHistory& mine() noexcept {
    static lockfree::TurnHistory history;
    history.thread = 1;
    return history;
  }
};

template <class Atomics, class Fence = ModelFence>
struct Shop {
  using Company = lockfree::Company<Atomics, Fence>;
  using TurnLock = lockfree::BasicTurnLock<Atomics, OneHistory, lockfree::Lock<Atomics, 1>>;

  Company company;
  TurnLock lock;
  explore::Plain<int> sold{0};

  Shop() { company.prepare(); }

  void sell() {
    const lockfree::BasicCompanyTurn<Company, TurnLock> turn(&company, lock);
    sold = sold.get() + 1;
  }
  /// By one who believes that it is still alone.
  void sell_again() {
    const bool alone = company.begin_alone_again(lockfree::AloneIn::turn);
    if (!alone) lock.lock();
    sold = sold.get() + 1;
    if (!alone) return lock.unlock();
    company.end_alone();
  }
  static void keep(Shop& shop) {
    shop.company.enter();
    shop.company.try_alone();
    shop.sell();
    shop.sell();
    shop.company.leave();
  }
  /// Believes that it is still alone.
  static void keep_on(Shop& shop) {
    shop.company.enter();
    shop.company.try_alone();
    shop.sell_again();
    shop.sell_again();
    shop.company.leave();
  }
  static void keep_on_for_a_moment(Shop& shop) {
    shop.company.enter();
    shop.company.try_alone();
    shop.sell_again();
    shop.company.leave();
  }
  static void help(Shop& shop) {
    shop.company.enter();
    shop.sell();
    shop.company.leave();
  }
  static void help_and_keep_on(Shop& shop) {
    help(shop);
    keep_on_for_a_moment(shop);
  }
  static void keep_for_a_moment(Shop& shop) {
    shop.company.enter();
    shop.company.try_alone();
    shop.sell();
    shop.company.leave();
  }
  static void help_and_keep(Shop& shop) {
    help(shop);
    keep_for_a_moment(shop);
  }
};

/// The one who keeps it has turns as a member; who helps does not know whose member it is that it asks.
template <class Atomics, class Fence = ModelFence>
struct MemberShop : Shop<Atomics, Fence> {
  typename lockfree::Company<Atomics, Fence>::Member keeper;

  void sell_by_keeper() {
    if (keeper.begin_turn()) {
      this->sold = this->sold.get() + 1;
      keeper.end_turn();
      return;
    }
    this->sell();
  }
  static void keep(MemberShop& shop) {
    shop.company.enter();
    shop.company.try_alone(shop.keeper);
    shop.sell_by_keeper();
    shop.sell();
    shop.company.leave();
  }
  static void keep_for_a_moment(MemberShop& shop) {
    shop.company.enter();
    shop.company.try_alone(shop.keeper);
    shop.sell_by_keeper();
    shop.company.leave();
  }
  static void help(MemberShop& shop) {
    shop.company.enter();
    shop.sell_by_keeper();
    shop.company.leave();
  }
  static void help_and_keep(MemberShop& shop) {
    help(shop);
    shop.company.enter();
    shop.company.try_alone();  // the keeper's is another's
    shop.sell_by_keeper();
    shop.company.leave();
  }
};

/// The keeper has a wheel, too, which it goes to in a turn, out of one, and when it has left; who helps goes there with the lock.
template <class Atomics, class Fence = ModelFence>
struct WheelShop : MemberShop<Atomics, Fence> {
  using Of = typename lockfree::Company<Atomics, Fence>::Member::Of;
  lockfree::Lock<Atomics, 1> wheel_lock;
  explore::Plain<int> rung{0};

  void ring(bool owner) {
    const bool alone = owner && this->keeper.begin_turn(Of::alarms);
    if (!alone) wheel_lock.lock();
    rung = rung.get() + 1;
    if (!alone) return wheel_lock.unlock();
    this->keeper.end_turn(Of::alarms);
  }
  static void keep(WheelShop& shop) {
    shop.company.enter();
    shop.company.try_alone(shop.keeper);
    const bool alone = shop.keeper.begin_turn();
    shop.ring(true);
    if (alone) {
      shop.sold = shop.sold.get() + 1;
      shop.keeper.end_turn();
    }
    shop.company.leave();
  }
  static void keep_and_rest(WheelShop& shop) {
    shop.company.enter();
    shop.company.try_alone(shop.keeper);
    shop.ring(true);
    shop.company.leave();
    shop.ring(true);
  }
  static void help(WheelShop& shop) {
    shop.company.enter();
    shop.ring(false);
    shop.company.leave();
  }
  static void help_and_keep(WheelShop& shop) {
    help(shop);
    shop.company.enter();
    shop.company.try_alone();  // the keeper's is another's
    shop.ring(false);
    shop.company.leave();
  }
};

/// One piece of work needs a lock in a lock: each has its layer.
template <class Atomics>
struct LayeredShop : Shop<Atomics> {
  using Company = typename Shop<Atomics>::Company;

  void sell_in_layers() {
    Company& company = this->company;
    const bool outer = company.begin_alone(lockfree::AloneIn::turn);
    if (!outer) this->lock.lock();
    const bool inner = company.begin_alone(lockfree::AloneIn::guard);
    if (!inner) inner_lock.lock();
    inside = inside.get() + 1;
    if (inner) {
      company.end_alone(lockfree::AloneIn::guard);
    } else {
      inner_lock.unlock();
    }
    this->sold = this->sold.get() + 1;
    if (outer) {
      company.end_alone(lockfree::AloneIn::turn);
    } else {
      this->lock.unlock();
    }
  }
  static void keep(LayeredShop& shop) {
    shop.company.enter();
    shop.company.try_alone();
    shop.sell_in_layers();
    shop.company.leave();
  }
  static void help(LayeredShop& shop) {
    shop.company.enter();
    shop.sell_in_layers();
    shop.company.leave();
  }

  lockfree::Lock<Atomics, 1> inner_lock;
  explore::Plain<int> inside{0};
};

/// Who comes in is counted at the gate of a region, by who is alone and by others.
struct GatedShop : Shop<ModelAtomics> {
  void admit() {
    kernel::GateTurn<ModelAtomics, decltype(company)> turn(gate, &company);
    sold = sold.get() + 1;
    turn.end(turn.found().with_task());
  }
  static void keep(GatedShop& shop) {
    shop.company.enter();
    shop.company.try_alone();
    shop.admit();
    shop.admit();
    shop.company.leave();
  }
  static void help(GatedShop& shop) {
    shop.company.enter();
    shop.admit();
    shop.company.leave();
  }

  kernel::RegionGate<ModelAtomics> gate;
};

/// A worker that goes from the end of one poll to the beginning of the next in plain steps while it is alone, and one that
/// comes in, wakes its task, and takes it away if it can.
struct SwitchingShop : Shop<ModelAtomics> {
  static constexpr std::uint32_t generation = 7;
  struct Job {
    kernel::TaskWord<ModelAtomics> word;
    explore::Plain<int> polls{0};
  };
  using Ring = lockfree::WorkRing<Job, 2, ModelAtomics>;

  SwitchingShop() {
    const kernel::TaskLife polled(generation, TaskState::running, lockfree::WakeState::running);
    job.word.renew(polled.with(kernel::TaskFlag::started));
  }

  /// Needs: the poll of this caller, which is over. Gives: true when it polls it again.
  bool switch_once(bool woken) {
    if (company.begin_alone_again(lockfree::AloneIn::dispatch)) {
      const Job* next = nullptr;
      if (woken) {
        if (!job.word.end_plain_poll_woken_alone()) job.word.end_poll_woken_alone();
        EXPECT_EQ(job.word.look().wake(), lockfree::WakeState::queued);
        next = &ring.rotate_alone(job);
      } else {
        if (job.word.end_poll_alone()) enqueue();
        next = ring.pop_alone();
      }
      const bool begun = next != nullptr && job.word.begin_plain_poll();
      EXPECT_EQ(begun, next != nullptr);
      company.end_alone(lockfree::AloneIn::dispatch);
      return begun;
    }
    bool queued = true;
    if (woken) {
      job.word.end_poll_woken();
    } else {
      queued = job.word.end_poll();
    }
    if (queued) enqueue();
    return ring.pop() != nullptr && begin_poll();
  }
  void enqueue() { EXPECT_TRUE(ring.push(job)); }
  bool begin_poll() {
    kernel::TaskLife now;
    return job.word.begin_poll(generation, now, [] { return true; });
  }
  void poll() {
    job.polls = job.polls.get() + 1;
    if (signal.load(std::memory_order_relaxed)) seen = true;
  }

  static void keep(SwitchingShop& shop) {
    shop.company.enter();
    shop.company.try_alone();
    shop.poll();
    bool polls = shop.switch_once(true);
    if (polls) {
      shop.poll();
      polls = shop.switch_once(false);
    }
    if (polls) {
      shop.poll();
      if (shop.job.word.end_poll()) shop.enqueue();
    }
    shop.company.leave();
  }
  static void wake_and_steal(SwitchingShop& shop) {
    shop.company.enter();
    shop.signal.store(true, std::memory_order_relaxed);
    if (shop.job.word.wake().enqueue) {  // it goes to who woke it
      if (shop.begin_poll()) shop.poll();
    } else if (shop.others.steal_from(shop.ring) != nullptr && shop.begin_poll()) {
      shop.poll();
    }
    shop.company.leave();
  }

  Job job;
  Ring ring;
  Ring others;
  ModelAtomics::Atomic<bool> signal{false};
  explore::Plain<bool> seen{false};  // by a poll
};

/// Whoever has a turn wakes the same task, in plain steps when that turn is one of who is alone; a third one polls it.
template <bool always_plain = false>
struct WakingShop : Shop<ModelAtomics> {
  static constexpr std::uint32_t generation = 7;

  WakingShop() {
    const kernel::TaskLife parked(generation, TaskState::running, lockfree::WakeState::idle);
    word.renew(parked.with(kernel::TaskFlag::started));
  }

  void wake_in_turn() {
    const bool outer = company.begin_alone();
    if (!outer) lock.lock();
    sold = sold.get() + 1;
    const bool plain = always_plain || company.is_alone_in(lockfree::AloneIn::turn);
    const bool enqueue = plain ? word.wake_alone().enqueue : word.wake().enqueue;
    if (enqueue) entries.fetch_add(1, std::memory_order_relaxed);
    if (outer) {
      company.end_alone();
    } else {
      lock.unlock();
    }
  }
  static void wake(WakingShop& shop) {
    shop.company.enter();
    shop.company.try_alone();
    shop.wake_in_turn();
    shop.company.leave();
  }
  static void poll(WakingShop& shop) {
    shop.company.enter();
    kernel::TaskLife now;
    if (shop.word.begin_poll(generation, now, [] { return true; })) {
      shop.entries.fetch_sub(1, std::memory_order_relaxed);
      if (shop.word.end_poll()) shop.entries.fetch_add(1, std::memory_order_relaxed);
      shop.polled = true;
    }
    shop.company.leave();
  }

  kernel::TaskWord<ModelAtomics> word;
  ModelAtomics::Atomic<int> entries{0};  // of it in queues
  explore::Plain<bool> polled{false};
};

/// Two ask a task to stop, under the guard that requests are made under, in plain steps when that is one of who is alone; a third
/// one polls it, acknowledges what it finds and ends it.
template <bool always_plain = false>
struct CancellingShop : Shop<ModelAtomics> {
  static constexpr std::uint32_t generation = 7;

  CancellingShop() {
    const kernel::TaskLife parked(generation, TaskState::running, lockfree::WakeState::idle);
    word.renew(parked.with(kernel::TaskFlag::started));
  }

  /// Does it under the guard, and says whether in plain steps.
  template <class Work>
  void under_guard(Work work) {
    const bool outer = company.begin_alone(lockfree::AloneIn::guard);
    if (!outer) lock.lock();
    work(always_plain || company.is_alone_in(lockfree::AloneIn::guard));
    if (outer) {
      company.end_alone(lockfree::AloneIn::guard);
    } else {
      lock.unlock();
    }
  }
  static void request(CancellingShop& shop) {
    shop.company.enter();
    shop.company.try_alone();
    shop.under_guard([&shop](bool alone) {
      const kernel::TaskLife was = shop.word.request(generation, alone);
      if (was.state() == TaskState::running) shop.first_requests = shop.first_requests.get() + 1;
      const bool enqueue = alone ? shop.word.wake_alone().enqueue : shop.word.wake().enqueue;
      if (enqueue) shop.entries.fetch_add(1, std::memory_order_relaxed);
    });
    shop.company.leave();
  }
  static void poll(CancellingShop& shop) {
    shop.company.enter();
    shop.company.try_alone();
    kernel::TaskLife now;
    if (shop.word.begin_poll(generation, now, [] { return true; })) {
      shop.entries.fetch_sub(1, std::memory_order_relaxed);
      shop.under_guard([&shop](bool alone) {
        kernel::TaskLife was = shop.word.look();
        while (!shop.word.step(was, was.with(TaskState::cancelling), alone)) {
        }
      });
      const lockfree::WakeState wake = shop.word.look().wake();
      shop.torn = wake != lockfree::WakeState::running && wake != lockfree::WakeState::running_woken;
      if (!shop.torn && shop.word.end_poll()) shop.entries.fetch_add(1, std::memory_order_relaxed);
    }
    shop.company.leave();
  }

  kernel::TaskWord<ModelAtomics> word;
  ModelAtomics::Atomic<int> entries{0};  // of it in queues
  explore::Plain<int> first_requests{0};
  bool torn = false;  // somebody has undone that it is polled
};

template <class State>
bool is_cancelled_once(State& shop) {
  const kernel::TaskLife life = shop.word.look();
  const bool queued = life.wake() == lockfree::WakeState::queued;
  return !shop.torn && life.in(kernel::cancelled_states) && shop.first_requests.get() == 1 &&
         shop.entries.load(std::memory_order_relaxed) == (queued ? 1 : 0) &&
         (queued || life.state() == TaskState::cancelling);
}

template <class State>
Body<State> expect_sold(int all) {
  return [all](State& shop) {
    EXPECT_EQ(shop.sold.get(), all);
    shop.company.enter();
    shop.company.try_alone();
    EXPECT_TRUE(shop.company.begin_alone()) << "nobody is left behind in it";
  };
}

TEST(CompanyModel, CHN_12_who_comes_in_waits_for_who_is_alone_and_sees_what_it_did) {
  using State = Shop<ModelAtomics>;
  expect_exhausted(explore<State>({State::keep, State::help}, expect_sold<State>(3)));
}

TEST(CompanyModel, CHN_12_who_believes_to_be_alone_still_is_not_when_others_have_come) {
  using State = Shop<ModelAtomics>;
  expect_exhausted(explore<State>({State::keep_on, State::help}, expect_sold<State>(3)));
  expect_exhausted(explore<State>({State::keep_on_for_a_moment, State::help_and_keep_on}, expect_sold<State>(3)));
}

TEST(CompanyModel, CHN_12_who_comes_in_waits_for_who_is_alone_as_a_member) {
  using State = MemberShop<ModelAtomics>;
  expect_exhausted(explore<State>({State::keep, State::help}, expect_sold<State>(3)));
  expect_exhausted(explore<State>({State::keep_for_a_moment, State::help_and_keep}, expect_sold<State>(3)));
}

TEST(CompanyModel, CHN_12_three_of_whom_one_is_alone_as_a_member) {
  using State = MemberShop<ModelAtomics>;
  Options options;
  options.max_preemptions = 2;  // with 3 more than 1 000 000 executions; without a bound more than 200 000 reduced ones
  const std::vector<Body<State>> threads = {State::keep_for_a_moment, State::help, State::help};
  expect_exhausted(explore<State>(threads, expect_sold<State>(3), options));
}

template <class State>
Body<State> expect_rung(int all) {
  return [all](State& shop) { EXPECT_EQ(shop.rung.get(), all); };
}

TEST(CompanyModel, TMR_7_who_comes_in_waits_for_who_is_alone_with_its_wheel) {
  using State = WheelShop<ModelAtomics>;
  expect_exhausted(explore<State>({State::keep, State::help}, expect_rung<State>(2)));
  expect_exhausted(explore<State>({State::keep_and_rest, State::help}, expect_rung<State>(3)));
  expect_exhausted(explore<State>({State::keep_and_rest, State::help_and_keep}, expect_rung<State>(4)));
}

TEST(CompanyModel, TMR_7_three_of_whom_one_is_alone_with_its_wheel) {
  using State = WheelShop<ModelAtomics>;
  Options options;
  options.max_preemptions = 3;  // 587 866 executions; without a bound more than 200 000 reduced ones
  const std::vector<Body<State>> threads = {State::keep_and_rest, State::help, State::help};
  expect_exhausted(explore<State>(threads, expect_rung<State>(4), options));
}

TEST(CompanyModel, SHD_3_who_comes_in_waits_for_what_is_done_in_each_layer) {
  using State = LayeredShop<ModelAtomics>;
  const auto both_sold = [](State& shop) {
    EXPECT_EQ(shop.sold.get(), 2);
    EXPECT_EQ(shop.inside.get(), 2);
  };
  expect_exhausted(explore<State>({State::keep, State::help}, both_sold));
}

TEST(CompanyModel, REG_6_nobody_is_lost_at_a_gate_that_one_passes_alone) {
  expect_exhausted(explore<GatedShop>({GatedShop::keep, GatedShop::help}, [](GatedShop& shop) {
    EXPECT_EQ(shop.sold.get(), 3);
    EXPECT_EQ(shop.gate.look().tasks(), 3U);
  }));
}

TEST(CompanyModel, TSK_6_a_wake_is_not_lost_on_who_switches_tasks_alone) {
  using State = SwitchingShop;
  expect_exhausted(explore<State>({State::keep, State::wake_and_steal}, [](State& shop) {
    const lockfree::WakeState wake = shop.job.word.look().wake();
    const bool queued = shop.ring.size() == 1;
    EXPECT_EQ(wake == lockfree::WakeState::queued, queued) << "it waits in the queue, or it does not";
    EXPECT_GE(shop.job.polls.get(), 2) << "it asked for another poll";
    EXPECT_TRUE(shop.seen.get() || queued) << "a wake is followed by a poll";
  }));
}

TEST(CompanyModel, TSK_6_a_wake_in_a_turn_of_who_is_alone_is_one_of_all_wakes) {
  using State = WakingShop<>;
  const auto once = [](State& shop) {
    const bool queued = shop.word.look().wake() == lockfree::WakeState::queued;
    EXPECT_EQ(shop.entries.load(std::memory_order_relaxed), queued ? 1 : 0) << "it is in one queue, or in none";
    EXPECT_TRUE(queued || shop.polled.get()) << "a wake is followed by a poll";
    EXPECT_EQ(shop.sold.get(), 2);
  };
  Options options;
  options.max_preemptions = 2;  // with 3 more than 1 000 000 executions; without a bound more than 200 000 reduced ones
  expect_exhausted(explore<State>({State::wake, State::wake, State::poll}, once, options));
  expect_exhausted(explore<State>({State::wake, State::wake}, once));
}

TEST(CompanyModel, CAN_3_CAN_13_a_request_of_who_is_alone_is_one_of_all_requests) {
  using State = CancellingShop<>;
  const auto once = [](State& shop) { EXPECT_TRUE(is_cancelled_once(shop)) << shop.word.look().bits(); };
  Options options;
  options.max_preemptions = 1;  // with 2 more than 1 000 000 executions; without a bound more than 200 000 reduced ones
  expect_exhausted(explore<State>({State::request, State::request, State::poll}, once, options));
  expect_exhausted(explore<State>({State::request, State::poll}, once));
}

TEST(CompanyModel, CHN_12_two_that_want_to_be_alone_are_so_one_after_the_other) {
  using State = Shop<ModelAtomics>;
  expect_exhausted(explore<State>({State::keep_for_a_moment, State::help_and_keep}, expect_sold<State>(3)));
}

TEST(CompanyModel, CHN_12_the_second_that_comes_in_waits_until_the_first_has_ended_the_loneliness) {
  using State = Shop<ModelAtomics>;
  Options options;
  options.max_preemptions = 2;  // with 3 more than a minute holds; without a bound more than 200 000 reduced ones
  const std::vector<Body<State>> threads = {State::keep_for_a_moment, State::help, State::help};
  expect_exhausted(explore<State>(threads, expect_sold<State>(3), options));
}

TEST(CompanyModel, CHN_12_where_the_system_has_no_fence_nobody_is_alone) {
  using State = Shop<ModelAtomics, NoFence>;
  const Body<State> keep = [](State& shop) {
    shop.company.enter();
    shop.company.try_alone();
    EXPECT_FALSE(shop.company.looks_alone());
    shop.sell();
    shop.company.leave();
  };
  const auto both_sold = [](State& shop) { EXPECT_EQ(shop.sold.get(), 2); };
  expect_exhausted(explore<State>({keep, State::help}, both_sold));
}

TEST(CompanyModelItself, finds_a_plain_wake_of_who_is_not_alone) {
  using State = WakingShop<true>;
  bool wrong = false;
  const auto look = [&wrong](State& shop) {
    const bool queued = shop.word.look().wake() == lockfree::WakeState::queued;
    if (shop.entries.load(std::memory_order_relaxed) != (queued ? 1 : 0)) wrong = true;
  };
  Options options;
  options.max_preemptions = 2;
  (void)explore<State>({State::wake, State::wake, State::poll}, look, options);
  EXPECT_TRUE(wrong);
}

TEST(CompanyModelItself, finds_a_plain_request_of_who_is_not_alone) {
  using State = CancellingShop<true>;
  bool wrong = false;
  const auto look = [&wrong](State& shop) { wrong = wrong || !is_cancelled_once(shop); };
  Options options;
  options.max_preemptions = 1;
  (void)explore<State>({State::request, State::request, State::poll}, look, options);
  EXPECT_TRUE(wrong);
}

TEST(CompanyModelItself, finds_a_missing_fence_and_missing_orders) {
  using Torn = Shop<ModelAtomics, TornFence>;
  EXPECT_FALSE(explore<Torn>({Torn::keep, Torn::help}, [](Torn&) {}).ok());
  EXPECT_FALSE(explore<Torn>({Torn::keep_on, Torn::help}, [](Torn&) {}).ok());
  using TornMember = MemberShop<ModelAtomics, TornFence>;
  EXPECT_FALSE(explore<TornMember>({TornMember::keep_for_a_moment, TornMember::help}, [](TornMember&) {}).ok());
  using TornWheel = WheelShop<ModelAtomics, TornFence>;
  EXPECT_FALSE(explore<TornWheel>({TornWheel::keep, TornWheel::help}, [](TornWheel&) {}).ok());
  using NoWheelRelease = WheelShop<Weakened<Weakening::store_release>>;
  EXPECT_FALSE(explore<NoWheelRelease>({NoWheelRelease::keep, NoWheelRelease::help}, [](NoWheelRelease&) {}).ok());
  using NoMemberRelease = MemberShop<Weakened<Weakening::store_release>>;
  EXPECT_FALSE(
      explore<NoMemberRelease>({NoMemberRelease::keep_for_a_moment, NoMemberRelease::help}, [](NoMemberRelease&) {
      }).ok());
  using NoRelease = Shop<Weakened<Weakening::store_release>>;
  EXPECT_FALSE(explore<NoRelease>({NoRelease::keep, NoRelease::help}, [](NoRelease&) {}).ok());
  using NoUpdateRelease = Shop<Weakened<Weakening::update_release>>;
  EXPECT_FALSE(
      explore<NoUpdateRelease>({NoUpdateRelease::keep, NoUpdateRelease::help_and_keep}, [](NoUpdateRelease&) {}).ok());
  using NoCompareAcquire = Shop<Weakened<Weakening::compare_acquire>>;
  EXPECT_FALSE(
      explore<NoCompareAcquire>({NoCompareAcquire::keep, NoCompareAcquire::help_and_keep}, [](NoCompareAcquire&) {
      }).ok());
}

}  // namespace
}  // namespace calm::explored
