// A lock that is passed on: under every interleaving one has it at a time, and nobody waits for one that does not come.
#include "calm/lockfree/passed_lock.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "calm/explore/plain.hpp"
#include "tests/model/explored.hpp"
#include "tests/model/weakened.hpp"

namespace calm::explored {
namespace {

/// Everyone who waits has to be let by after every turn.
template <class Atomics>
struct Counter {
  lockfree::PassedLock<int, 1, Atomics, lockfree::Lock<Atomics, 1>> lock;
  explore::Plain<int> served{0};

  template <int me, int times>
  static void serve(Counter& counter) {
    for (int i = 0; i < times; ++i) {
      counter.lock.lock(me);
      counter.served = counter.served.get() + 1;
      counter.lock.unlock();
    }
  }
};

template <class State>
Body<State> expect_served(int all) {
  return [all](State& counter) { EXPECT_EQ(counter.served.get(), all); };
}

TEST(PassedLockModel, SCH_9_one_has_it_at_a_time_and_nobody_waits_for_one_that_does_not_come) {
  using State = Counter<ModelAtomics>;
  expect_exhausted(explore<State>({State::serve<1, 1>, State::serve<2, 1>}, expect_served<State>(2)));
  expect_exhausted(explore<State>({State::serve<1, 2>, State::serve<2, 1>}, expect_served<State>(3)));
}

TEST(PassedLockModel, SCH_9_two_that_take_turns_pass_it_to_each_other_until_one_has_gone) {
  using State = Counter<ModelAtomics>;
  expect_exhausted(explore<State>({State::serve<1, 2>, State::serve<2, 2>}, expect_served<State>(4)));
}

TEST(PassedLockModel, SCH_9_three_pass_it_on_and_all_get_through) {
  using State = Counter<ModelAtomics>;
  Options options;
  options.max_preemptions = 3;  // 453 792 executions; without a bound more than 200 000 reduced ones
  const std::vector<Body<State>> threads = {State::serve<1, 1>, State::serve<2, 1>, State::serve<3, 1>};
  expect_exhausted(explore<State>(threads, expect_served<State>(3), options));
}

/// Who has passed it on is not woken.
struct Deaf : ModelAtomics {
  template <class Word>
  static void notify_all(Word& /*word*/) noexcept {}
};
/// Who has the lock still counts as one that waits.
struct Forgetful : ModelAtomics {
  template <class T>
  struct Atomic : ModelAtomics::Atomic<T> {
    using ModelAtomics::Atomic<T>::Atomic;
    T fetch_sub(T /*value*/, std::memory_order order) noexcept { return this->load(order); }
  };
};

template <class Atomics>
Report serve_with() {
  using State = Counter<Atomics>;
  return explore<State>({State::template serve<1, 2>, State::template serve<2, 1>}, expect_served<State>(3));
}

TEST(PassedLockModelItself, LAB_8_finds_a_missing_wake_a_wrong_count_and_a_missing_order) {
  EXPECT_TRUE(serve_with<Weakened<Weakening::none>>().ok());
  EXPECT_NE(serve_with<Deaf>().failure.find("deadlock"), std::string::npos);
  EXPECT_NE(serve_with<Forgetful>().failure.find("deadlock"), std::string::npos);
  EXPECT_NE(serve_with<Weakened<Weakening::compare_acquire>>().failure.find("a data race"), std::string::npos);
  EXPECT_NE(serve_with<Weakened<Weakening::update_release>>().failure.find("a data race"), std::string::npos);
}

}  // namespace
}  // namespace calm::explored
