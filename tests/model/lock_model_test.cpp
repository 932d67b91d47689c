#include "calm/lockfree/lock.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/model/explored.hpp"

namespace calm::explored {
namespace {

/// Sleepers are not woken.
struct SilentAtomics : ModelAtomics {
  template <class Word>
  static void notify_one(Word& /*word*/) noexcept {}
};
static_assert(lockfree::AtomicsPolicy<SilentAtomics>);

/// A section that would show two threads inside, also between two of its steps.
template <class Atomics, std::uint32_t spins>
struct Room {
  lockfree::Lock<Atomics, spins> lock;
  ModelAtomics::Atomic<int> inside{0};
  int visits = 0;
  int tries_that_failed = 0;

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

using SleepAtOnce = Room<ModelAtomics, 0>;
using SpinOnce = Room<ModelAtomics, 1>;
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
  in_each_room(
      []<class Room> { return explore<Room>({enter_twice<Room>, enter_twice<Room>}, expect_visits<Room>(4)); });
}

TEST(LockModel, three_that_lock_exclude_and_wake_each_other) {
  in_each_room(
      []<class Room> { return explore<Room>({enter<Room>, enter<Room>, enter<Room>}, expect_visits<Room>(3)); });
}

TEST(LockModel, one_that_tries_takes_it_or_leaves_no_trace) {
  in_each_room(
      []<class Room> { return explore<Room>({enter<Room>, try_to_enter<Room>, enter<Room>}, expect_visits<Room>(3)); });
}

TEST(LockModelItself, finds_that_a_notify_is_missing) {
  using Room = Room<SilentAtomics, 0>;
  const Report report = explore<Room>({enter<Room>, enter<Room>}, expect_visits<Room>(2));
  EXPECT_NE(report.failure.find("deadlock"), std::string::npos) << report;
}

}  // namespace
}  // namespace calm::explored
