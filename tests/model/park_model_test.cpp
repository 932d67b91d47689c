// Parking and waking under every interleaving: no wake is lost, and no work is left behind while all workers sleep.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "calm/explore/plain.hpp"
#include "calm/lockfree/event_count.hpp"
#include "calm/lockfree/idle_set.hpp"
#include "calm/lockfree/parker.hpp"
#include "tests/model/explored.hpp"
#include "tests/model/futex_model.hpp"
#include "tests/model/orders.hpp"
#include "tests/model/weakened.hpp"

namespace calm::explored {
namespace {

void expect_deadlock(const Report& report) { EXPECT_NE(report.failure.find("deadlock"), std::string::npos) << report; }

// --- one thread's parker ---

template <class Atomics, class Futex = ModelFutex>
struct Sleeper {
  lockfree::Parker<Atomics, Futex> parker;
  explore::Plain<int> letter{0};
  int woken = 0;

  static void park(Sleeper& sleeper) {
    EXPECT_EQ(sleeper.parker.park(), lockfree::ParkEnd::unparked);
    EXPECT_EQ(sleeper.letter.get(), 1) << "what the waker wrote is there";
    ++sleeper.woken;
  }
  static void unpark(Sleeper& sleeper) {
    sleeper.letter = 1;
    sleeper.parker.unpark();
  }
  static void unpark_twice(Sleeper& sleeper) {
    unpark(sleeper);
    sleeper.parker.unpark();
  }
};

TEST(ParkerModel, an_unpark_before_during_or_after_the_fall_asleep_ends_the_park) {
  using State = Sleeper<ModelAtomics>;
  expect_exhausted(explore<State>({State::park, State::unpark}, [](State& sleeper) { EXPECT_EQ(sleeper.woken, 1); }));
}

TEST(ParkerModel, a_park_that_timed_out_takes_the_wake_or_leaves_it_to_the_next) {
  struct Timed : Sleeper<ModelAtomics> {
    int first_ends = 0;
  };
  const Body<Timed> park_until_told = [](Timed& sleeper) {
    while (sleeper.parker.park(1) == lockfree::ParkEnd::timed_out) {
      if (++sleeper.first_ends == 2) {
        Timed::park(sleeper);
        return;
      }
    }
    EXPECT_EQ(sleeper.letter.get(), 1);
  };
  expect_exhausted(explore<Timed>({park_until_told, [](Timed& sleeper) { Timed::unpark(sleeper); }}, [](Timed&) {}));
}

TEST(ParkerModel, two_unparks_are_one_or_two_and_never_none) {
  using State = Sleeper<ModelAtomics>;
  expect_exhausted(
      explore<State>({State::park, State::unpark_twice}, [](State& sleeper) { EXPECT_EQ(sleeper.woken, 1); }));
}

/// Two write a letter each and wake the same sleeper, which parks until it has both.
template <class Atomics, class Futex = ModelFutex>
struct Correspondent {
  lockfree::Parker<Atomics, Futex> parker;
  std::array<ModelAtomics::Atomic<int>, 2> letters{};  // relaxed: what is seen of them is seen through the parker
  int parks = 0;

  static void park(Correspondent& sleeper) {
    for (int come = 0; come < 2; ++sleeper.parks) {
      EXPECT_EQ(sleeper.parker.park(), lockfree::ParkEnd::unparked);
      come = sleeper.letters[0].load(relaxed) + sleeper.letters[1].load(relaxed);
      EXPECT_GE(come, 1) << "what the waker wrote is there";
    }
  }
  template <std::size_t which>
  static void unpark(Correspondent& sleeper) {
    sleeper.letters[which].store(1, relaxed);
    sleeper.parker.unpark();
  }
  static Report explore_three() {
    const auto woken_once_or_twice = [](Correspondent& sleeper) {
      EXPECT_GE(sleeper.parks, 1);
      EXPECT_LE(sleeper.parks, 2);
    };
    return explore<Correspondent>({park, unpark<0>, unpark<1>}, woken_once_or_twice);
  }
};

TEST(ParkerModel, SCH_8_two_who_unpark_at_once_wake_the_sleeper_for_both_letters) {
  expect_exhausted(Correspondent<ModelAtomics>::explore_three());
}

TEST(ParkerModelItself, LAB_8_finds_a_letter_of_two_that_is_missed) {
  expect_deadlock(Correspondent<ModelAtomics, SilentFutex>::explore_three());
  EXPECT_FALSE(Correspondent<Weakened<Weakening::update_acquire>>::explore_three().ok());
  EXPECT_FALSE(Correspondent<Weakened<Weakening::update_release>>::explore_three().ok());
}

TEST(ParkerModelItself, finds_a_missing_wake_and_a_missing_order) {
  using Silent = Sleeper<ModelAtomics, SilentFutex>;
  expect_deadlock(explore<Silent>({Silent::park, Silent::unpark}, [](Silent&) {}));
  using NoAcquire = Sleeper<Weakened<Weakening::update_acquire>>;
  EXPECT_FALSE(explore<NoAcquire>({NoAcquire::park, NoAcquire::unpark}, [](NoAcquire&) {}).ok());
  using NoRelease = Sleeper<Weakened<Weakening::update_release>>;
  EXPECT_FALSE(explore<NoRelease>({NoRelease::park, NoRelease::unpark}, [](NoRelease&) {}).ok());
}

// --- an event count beside a number of letters ---

template <class Atomics, class Futex = ModelFutex>
struct Mailbox {
  lockfree::EventCount<Atomics, Futex> events;
  ModelAtomics::Atomic<int> letters{0};
  std::memory_order order = seq_cst;  // of those who look and post
  int got[2] = {0, 0};

  bool take() {
    int there = letters.load(order);
    while (there > 0) {
      if (letters.compare_exchange_strong(there, there - 1, seq_cst, seq_cst)) return true;
    }
    return false;
  }
  void receive(int who, std::uint64_t until_ns = lockfree::never_ns) {
    while (!take()) {
      const auto key = events.prepare();
      if (take()) {
        events.cancel();
        break;
      }
      (void)events.wait(key, until_ns);
      until_ns = lockfree::never_ns;
    }
    ++got[who];
  }
  void post(int count, bool to_all = false) {
    letters.fetch_add(count, order == seq_cst ? seq_cst : release);
    to_all ? events.notify_all() : events.notify_one();
  }

  static void receive_first(Mailbox& box) { box.receive(0); }
  static void receive_second(Mailbox& box) { box.receive(1); }
  static void post_one(Mailbox& box) { box.post(1); }
  static void post_two_to_all(Mailbox& box) { box.post(2, true); }
};

template <class Box>
Body<Box> expect_received(int first, int second) {
  return [=](Box& box) {
    EXPECT_EQ(box.got[0], first);
    EXPECT_EQ(box.got[1], second);
  };
}

TEST(EventCountModel, a_letter_posted_while_its_reader_falls_asleep_is_received) {
  using Box = Mailbox<ModelAtomics>;
  expect_exhausted(explore<Box>({Box::receive_first, Box::post_one}, expect_received<Box>(1, 0)));
}

TEST(EventCountModel, two_who_post_at_once_wake_the_readers_that_there_is_work_for) {
  using Box = Mailbox<ModelAtomics>;
  const Body<Box> receive_two = [](Box& box) {
    box.receive(0);
    box.receive(0);
  };
  expect_exhausted(explore<Box>({receive_two, Box::post_one, Box::post_one}, expect_received<Box>(2, 0)));
}

TEST(EventCountModel, notify_all_wakes_both_readers) {
  using Box = Mailbox<ModelAtomics>;
  expect_exhausted(
      explore<Box>({Box::receive_first, Box::receive_second, Box::post_two_to_all}, expect_received<Box>(1, 1)));
}

TEST(EventCountModel, a_wait_that_timed_out_leaves_no_trace) {
  using Box = Mailbox<ModelAtomics>;
  const Body<Box> receive = [](Box& box) { box.receive(0, 1); };
  expect_exhausted(explore<Box>({receive, Box::post_one}, expect_received<Box>(1, 0)));
}

TEST(EventCountModelItself, finds_a_missing_wake_and_a_change_that_is_not_seq_cst) {
  using Silent = Mailbox<ModelAtomics, SilentFutex>;
  expect_deadlock(explore<Silent>({Silent::receive_first, Silent::post_one}, [](Silent&) {}));
  struct Loose : Mailbox<ModelAtomics> {
    Loose() { order = acquire; }
  };
  const Body<Loose> receive = [](Loose& box) { box.receive(0); };
  const Body<Loose> post = [](Loose& box) { box.post(1); };
  expect_deadlock(explore<Loose>({receive, post}, [](Loose&) {}));
}

// --- workers that sleep one by one ---

enum class Fault : std::uint8_t {
  none,
  sleeps_without_a_last_look,
  makes_work_and_only_loads,   ///< who is no worker says wake_one_to_help()
  takes_one_and_tells_nobody,  ///< that there is more
};

/// Workers with one place for all work. Its word is relaxed: what is seen of it is seen through the idle set.
template <class Atomics, std::uint32_t workers, Fault fault = Fault::none>
struct Yard {
  using Idle = lockfree::IdleSet<Atomics>;

  Idle idle;
  std::array<lockfree::Parker<Atomics, ModelFutex>, workers> parkers;
  ModelAtomics::Atomic<int> jobs{0};  // that wait; -1: all are done
  int left;                           // not taken yet
  bool leaves_after_one = false;      // a job takes for ever

  explicit Yard(int total = 1) : left(total) {}

  /// Gives: what it found there, and 1 when a job is its own now.
  int take() {
    int there = jobs.load(relaxed);
    while (there > 0 && !jobs.compare_exchange_strong(there, there - 1, relaxed, relaxed)) {
    }
    return there;
  }
  void wake(std::optional<typename Idle::Index> who) {
    if (who) parkers[*who].unpark();
  }
  void do_one() {
    if (--left != 0) return;
    jobs.store(-1, relaxed);
    wake_everyone();
  }
  void wake_everyone() {
    const std::uint64_t all = idle.wake_all();
    for (std::uint32_t i = 0; i < workers; ++i) {
      if ((all >> i & 1U) != 0) parkers[i].unpark();
    }
  }
  void make_work() {
    jobs.fetch_add(1, relaxed);
    wake(fault == Fault::makes_work_and_only_loads ? idle.wake_one_to_help() : idle.wake_one());
  }

  void sleep_and_work(std::uint32_t me) {
    (void)parkers[me].park();
    work(me, !idle.leave(me));
  }
  void work(std::uint32_t me, bool searching = false) {
    for (;;) {
      if (!searching) searching = idle.begin_search(workers);
      const int found = searching ? take() : 0;
      if (found < 0) {  // there is an end for everyone
        if (idle.end_search()) wake_everyone();
        return;
      }
      if (found > 0) {
        searching = false;
        const bool nobody_searches = idle.end_search();
        if (nobody_searches && fault != Fault::takes_one_and_tells_nobody && jobs.load(relaxed) > 0)
          wake(idle.wake_one());
        if (leaves_after_one) return;
        do_one();
        continue;
      }
      const bool is_last = idle.begin_park(me, searching, me);
      const bool looks = is_last && fault != Fault::sleeps_without_a_last_look;
      if (!looks || jobs.load(relaxed) == 0) (void)parkers[me].park();
      searching = !idle.leave(me);
    }
  }

  template <std::uint32_t me>
  static void work_as(Yard& yard) {
    yard.work(me);
  }
  static void make_one(Yard& yard) { yard.make_work(); }
};

template <class Yard>
void expect_all_done(Yard& yard) {
  EXPECT_EQ(yard.jobs.load(relaxed), -1);
  EXPECT_EQ(yard.left, 0);
  EXPECT_EQ(yard.idle.sleepers(), 0U);
}

template <class Atomics = ModelAtomics, Fault fault = Fault::none>
Report explore_one_worker() {
  using State = Yard<Atomics, 1, fault>;
  return explore<State>({State::template work_as<0>, State::make_one}, expect_all_done<State>);
}

TEST(IdleSetModel, work_from_outside_reaches_a_worker_that_is_falling_asleep) {
  expect_exhausted(explore_one_worker());
}

TEST(IdleSetModel, work_of_two_makers_is_done_and_the_worker_ends) {
  struct Busy : Yard<ModelAtomics, 1> {
    Busy() : Yard(2) {}
  };
  const Body<Busy> work = [](Busy& yard) { yard.work(0); };
  const Body<Busy> make = [](Busy& yard) { yard.make_work(); };
  expect_exhausted(explore<Busy>({work, make, make}, expect_all_done<Busy>));
}

/// A job for each of two workers, which is busy with it for ever. One searches while the second job comes, one sleeps.
template <Fault fault = Fault::none>
Report explore_two_workers() {
  struct Long : Yard<ModelAtomics, 2, fault> {
    Long() {
      this->leaves_after_one = true;
      this->jobs.store(1, relaxed);
      (void)this->idle.begin_search(2);
      (void)this->idle.begin_park(1, false, 0);
    }
  };
  const Body<Long> search = [](Long& yard) { yard.work(0, true); };
  const Body<Long> sleep = [](Long& yard) { yard.sleep_and_work(1); };
  const Body<Long> make = [](Long& yard) { yard.make_work(); };
  return explore<Long>({search, sleep, make}, [](Long& yard) { EXPECT_EQ(yard.jobs.load(relaxed), 0); });
}

TEST(IdleSetModel, while_one_worker_is_busy_the_other_is_up_for_the_next_job) {
  expect_exhausted(explore_two_workers());
}

TEST(IdleSetModel, two_workers_that_fall_asleep_at_once_do_not_leave_it_to_each_other) {
  struct Two : Yard<ModelAtomics, 2> {
    Two() {
      leaves_after_one = true;
      jobs.store(1, relaxed);
      (void)idle.begin_search(4);
      (void)idle.begin_search(4);
    }
  };
  const Body<Two> first = [](Two& yard) { yard.work(0, true); };
  const Body<Two> second = [](Two& yard) { yard.work(1, true); };
  const Body<Two> make = [](Two& yard) { yard.make_work(); };
  expect_exhausted(explore<Two>({first, second, make}, [](Two& yard) { EXPECT_EQ(yard.jobs.load(relaxed), 0); }));
}

TEST(IdleSetModel, the_end_reaches_a_worker_that_is_falling_asleep) {
  using State = Yard<ModelAtomics, 2>;
  const Body<State> end = [](State& yard) {
    yard.do_one();
    yard.work(0);
  };
  expect_exhausted(explore<State>({end, State::work_as<1>}, expect_all_done<State>));
}

TEST(IdleSetModelItself, finds_work_that_is_left_behind) {
  expect_deadlock(explore_one_worker<ModelAtomics, Fault::sleeps_without_a_last_look>());
  expect_deadlock(explore_one_worker<ModelAtomics, Fault::makes_work_and_only_loads>());
  expect_deadlock(explore_two_workers<Fault::takes_one_and_tells_nobody>());
  expect_deadlock(explore_one_worker<Weakened<Weakening::update_acquire>>());
  expect_deadlock(explore_one_worker<Weakened<Weakening::update_release>>());
}

}  // namespace
}  // namespace calm::explored
