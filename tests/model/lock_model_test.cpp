#include "calm/lockfree/lock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/model/interleave.hpp"

namespace calm::interleave {
namespace {

/// Sleeping as the operating system does it: a wait compares and lies down in one step, and only a notify for the same
/// word ends it. ModelAtomics alone ends a wait with any change, and so would hide a notify that is missing.
template <bool notifies>
struct SleepingAtomics : ModelAtomics {
  template <class Word, class T>
  static void wait(const Word& word, T old) noexcept {
    if (word.load(std::memory_order_relaxed) != old) return;
    bool awake = false;
    sleepers.push_back({&word, &awake});
    while (!awake) detail::wait_for_change();
  }
  template <class Word>
  static void notify_one(Word& word) noexcept {
    detail::wait_for_turn();
    const auto found = std::find_if(sleepers.begin(), sleepers.end(), [&word](Sleeper s) { return s.word == &word; });
    if (!notifies || found == sleepers.end()) return;
    *found->awake = true;
    sleepers.erase(found);
    detail::value_changed();
  }

  struct Sleeper {
    const void* word;
    bool* awake;
  };
  static inline std::vector<Sleeper> sleepers;
};
static_assert(lockfree::AtomicsPolicy<SleepingAtomics<true>>);

/// A section that would show two threads inside, also between two of its steps.
template <class Atomics, std::uint32_t spins>
struct Room {
  lockfree::Lock<Atomics, spins> lock;
  ModelAtomics::Atomic<int> inside{0};
  int visits = 0;
  int tries_that_failed = 0;

  Room() {
    if constexpr (requires { Atomics::sleepers; }) Atomics::sleepers.clear();
  }

  void visit() {
    EXPECT_EQ(inside.exchange(1, std::memory_order_relaxed), 0) << "two inside";
    ++visits;
    inside.store(0, std::memory_order_relaxed);
    lock.unlock();
  }
};

template <class Room>
void enter(Room& room) {
  room.lock.lock();
  room.visit();
}
template <class Room>
void enter_twice(Room& room) {
  enter(room);
  enter(room);
}
template <class Room>
void try_to_enter(Room& room) {
  if (room.lock.try_lock()) {
    room.visit();
  } else {
    ++room.tries_that_failed;
  }
}

template <class Room>
Body<Room> expect_visits(int visits) {
  return [visits](Room& room) {
    EXPECT_EQ(room.visits + room.tries_that_failed, visits);
    EXPECT_TRUE(room.lock.try_lock()) << "it is free at the end";
  };
}

void expect_exhausted(const Report& report) { EXPECT_TRUE(report.ok()) << report; }

using SleepAtOnce = Room<SleepingAtomics<true>, 0>;
using SpinOnce = Room<SleepingAtomics<true>, 1>;
using Spinning = Room<ModelAtomics, 64>;

/// Explores the same for threads that sleep at once, that spin once before, and that spin all the time.
template <class Explore>
void in_each_room(Explore explore_in) {
  expect_exhausted(explore_in.template operator()<SleepAtOnce>());
  expect_exhausted(explore_in.template operator()<SpinOnce>());
  expect_exhausted(explore_in.template operator()<Spinning>());
}

TEST(LockModel, two_that_lock_exclude_and_wake_each_other) {
  in_each_room([]<class Room> { return explore<Room>({enter<Room>, enter<Room>}, expect_visits<Room>(2)); });
}

TEST(LockModel, one_that_locks_again_neither_enters_early_nor_leaves_a_sleeper_behind) {
  in_each_room([]<class Room> { return explore<Room>({enter_twice<Room>, enter<Room>}, expect_visits<Room>(3)); });
}

TEST(LockModel, two_that_lock_twice_exclude_and_wake_each_other) {
  in_each_room([]<class Room> {
    return explore<Room>({enter_twice<Room>, enter_twice<Room>}, expect_visits<Room>(4), {.max_preemptions = 4});
  });
}

TEST(LockModel, three_that_lock_exclude_and_wake_each_other) {
  in_each_room([]<class Room> {
    return explore<Room>({enter<Room>, enter<Room>, enter<Room>}, expect_visits<Room>(3), {.max_preemptions = 3});
  });
}

TEST(LockModel, one_that_tries_takes_it_or_leaves_no_trace) {
  in_each_room([]<class Room> {
    return explore<Room>({enter<Room>, try_to_enter<Room>, enter<Room>}, expect_visits<Room>(3),
                         {.max_preemptions = 3});
  });
}

TEST(LockModelItself, finds_that_a_notify_is_missing) {
  using Room = Room<SleepingAtomics<false>, 0>;
  const Report report = explore<Room>({enter<Room>, enter<Room>}, expect_visits<Room>(2));
  EXPECT_NE(report.failure.find("deadlock"), std::string::npos) << report;
}

}  // namespace
}  // namespace calm::interleave
