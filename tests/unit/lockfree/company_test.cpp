// Threads that come, are alone for a while and leave, on real cores.
#include "calm/lockfree/company.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "calm/lockfree/turn.hpp"

namespace calm::lockfree {
namespace {

TEST(Company, CHN_12_one_that_is_alone_needs_no_lock_and_others_end_that) {
  Company<> company;
  company.prepare();
  company.enter();
  EXPECT_FALSE(company.begin_alone()) << "it has not asked for it";
  company.try_alone();
  ASSERT_TRUE(company.begin_alone());
  company.end_alone();
  std::thread([&company] { company.enter(); }).join();
  EXPECT_FALSE(company.begin_alone());
  company.try_alone();
  EXPECT_FALSE(company.begin_alone()) << "there are two";
  company.leave();
  company.try_alone();
  EXPECT_TRUE(company.begin_alone());
  company.end_alone();
  company.leave();
}

TEST(TurnLock, SCH_6_who_takes_over_many_turns_of_others_is_told_once) {
  TurnLock lock;
  int told = 0;
  const auto take_over = [&lock] {
    std::thread([&lock] {
      lock.lock();
      lock.unlock();
    }).join();
    lock.lock();
    lock.unlock();
  };
  take_over();
  const std::uint32_t before = turn_history().moved;
  turn_history().call_after(3, [](void* times) noexcept { ++*static_cast<int*>(times); }, &told);
  for (int i = 1; i <= 6; ++i) {
    take_over();
    EXPECT_EQ(told, i < 3 ? 0 : 1) << i;
    lock.lock();
    lock.unlock();  // its own again
  }
  EXPECT_EQ(turn_history().moved, before + 6);
  turn_history().call_after(1, [](void* times) noexcept { ++*static_cast<int*>(times); }, &told);
  turn_history().call_nobody();
  take_over();
  EXPECT_EQ(told, 1);
}

TEST(Company, CHN_12_one_that_is_alone_is_so_as_a_member_and_as_no_other) {
  Company<> company;
  Company<>::Member mine;
  Company<>::Member another;
  company.prepare();
  company.enter();
  EXPECT_FALSE(mine.begin_turn()) << "it has not asked for it";
  company.try_alone(mine);
  ASSERT_TRUE(mine.begin_turn());
  ASSERT_TRUE(mine.begin_turn(Company<>::Member::Of::alarms)) << "one in the other";
  mine.end_turn(Company<>::Member::Of::alarms);
  mine.end_turn();
  EXPECT_FALSE(another.begin_turn());
  EXPECT_FALSE(another.begin_turn(Company<>::Member::Of::alarms));
  ASSERT_TRUE(company.begin_alone()) << "as before";
  company.end_alone();
  std::thread([&company] { company.enter(); }).join();
  EXPECT_FALSE(mine.begin_turn());
  company.leave();
  company.try_alone(mine);
  EXPECT_TRUE(mine.begin_turn());
  mine.end_turn();
  company.leave();
  EXPECT_FALSE(mine.begin_turn()) << "it has left";
  company.enter();
  company.try_alone(another);
  EXPECT_FALSE(mine.begin_turn());
  EXPECT_TRUE(another.begin_turn());
  another.end_turn();
  company.leave();
}

TEST(Company, CHN_12_without_a_fence_nobody_is_alone) {
  Company<> company;
  company.enter();
  company.try_alone();
  EXPECT_FALSE(company.begin_alone());
  company.leave();
}

TEST(CompanyTurn, a_lock_knows_when_another_thread_had_it_last) {
  Company<> company;
  TurnLock lock;
  company.enter();
  const std::uint32_t before = turn_history().moved;
  const auto take = [&] { const CompanyTurn turn(&company, lock); };
  take();
  take();
  EXPECT_EQ(turn_history().moved, before) << "nobody else had it";
  std::thread(take).join();
  take();
  take();
  EXPECT_EQ(turn_history().moved, before + 1);
  company.leave();
}

constexpr int turns_of_a_visit = 50;

/// Threads come, sell once a turn and leave, again and again: what is sold is guarded by turns and by nothing else.
/// `try_alone(me)` is for who may be alone from here on; `sell(me, turn, sold)` is one turn.
template <class TryAlone, class Sell>
void come_and_go(Company<>& company, int threads_count, TryAlone try_alone, Sell sell) {
  constexpr int visits = 400;
  std::uint64_t sold = 0;
  const auto work = [&](int me) {
    for (int visit = 0; visit < visits; ++visit) {
      company.enter();
      for (int turn = 0; turn < turns_of_a_visit; ++turn) {
        if (turn % 8 == me) try_alone(me);
        sell(me, turn, sold);
      }
      company.leave();
      if (visit % 4 == me) std::this_thread::yield();
    }
  };
  std::vector<std::thread> threads;
  for (int me = 0; me < threads_count; ++me) threads.emplace_back(work, me);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sold, std::uint64_t{visits} * turns_of_a_visit * static_cast<std::uint64_t>(threads_count));
}

TEST(CompanyTurn, CHN_12_threads_that_come_and_go_never_have_a_turn_at_a_time) {
  Company<> company;
  company.prepare();
  TurnLock lock;
  const auto sell = [&](int /*me*/, int /*turn*/, std::uint64_t& sold) {
    const CompanyTurn its(&company, lock);
    ++sold;
  };
  come_and_go(company, 3, [&](int /*me*/) { company.try_alone(); }, sell);
}

/// Half of the turns are asked for by the member of who came in, the others by that of another one.
TEST(CompanyTurn, CHN_12_members_that_come_and_go_never_have_a_turn_at_a_time) {
  constexpr int threads_count = 3;
  Company<> company;
  company.prepare();
  Company<>::Member members[threads_count];
  TurnLock lock;
  const auto sell = [&](int me, int turn, std::uint64_t& sold) {
    Company<>::Member& asked = members[(me + turn % 2) % threads_count];
    if (asked.begin_turn()) {
      ++sold;
      asked.end_turn();
      return;
    }
    const CompanyTurn its(&company, lock);
    ++sold;
  };
  come_and_go(company, threads_count, [&](int me) { company.try_alone(members[me]); }, sell);
}

}  // namespace
}  // namespace calm::lockfree
