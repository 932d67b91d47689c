// Calls for those who serve jobs, on real cores: no job is left behind while all sleep, and all hear of the end.
#include "calm/lockfree/job_calls.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "calm/lockfree/lock.hpp"

namespace calm::lockfree {
namespace {

using Rest = JobCalls<>::Rest;

constexpr std::uint64_t long_ago_ns = 1;

TEST(JobCalls, IO_4_a_rest_says_why_it_ends) {
  JobCalls<> calls;
  EXPECT_EQ(calls.rest(long_ago_ns), Rest::idle);
  calls.add();
  EXPECT_EQ(calls.rest(), Rest::work);
  EXPECT_EQ(calls.waiting(), 1U);
  calls.remove();
  EXPECT_EQ(calls.rest(long_ago_ns), Rest::idle);
  calls.say_end();
  EXPECT_EQ(calls.rest(), Rest::end);
  EXPECT_TRUE(calls.is_over());
}

TEST(JobCalls, IO_4_SCH_8_in_a_crowd_every_job_is_done_and_everyone_goes_home) {
  constexpr int jobs_count = 3'000;
  constexpr int servers = 2;
  Lock<> lock;
  JobCalls<> calls;
  int done = 0;  // under the lock
  const auto take = [&] {
    lock.lock();
    const bool any = calls.waiting() != 0;
    if (any) {
      calls.remove();
      ++done;
    }
    lock.unlock();
    return any;
  };
  const auto serve = [&] {
    while (take() || calls.rest() != Rest::end) {
    }
  };
  std::atomic<int> submitters = 2;
  const auto submit = [&] {
    for (int i = 0; i < jobs_count; ++i) {
      lock.lock();
      calls.add();
      lock.unlock();
      calls.call_one();
      if (i % 16 == 0) std::this_thread::yield();
    }
    submitters.fetch_sub(1);
  };
  std::vector<std::thread> crowd;
  for (int i = 0; i < servers; ++i) crowd.emplace_back(serve);
  for (int i = 0; i < 2; ++i) crowd.emplace_back(submit);
  for (bool all = false; !all;) {
    std::this_thread::yield();
    lock.lock();
    all = done == 2 * jobs_count;  // each of them, although everyone may sleep when it comes
    lock.unlock();
  }
  lock.lock();
  calls.say_end();
  lock.unlock();
  calls.call_all();
  for (std::thread& thread : crowd) thread.join();
  EXPECT_EQ(done, 2 * jobs_count);
  EXPECT_EQ(submitters.load(), 0);
}

}  // namespace
}  // namespace calm::lockfree
