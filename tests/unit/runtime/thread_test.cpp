// The threads of a runtime: how they are called, where they run, and how much stack they have.
#include "calm/runtime/thread.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "calm/cx/scope.hpp"
#include "calm/runtime/run.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)

/// What the calling thread is told of itself.
struct ThreadSeen {
  std::string name;
  std::vector<int> cores;
  std::size_t stack_bytes = 0;
};
ThreadSeen see_this_thread() {
  ThreadSeen seen;
  char name[32] = {};
  EXPECT_EQ(pthread_getname_np(pthread_self(), name, sizeof name), 0);
  seen.name = name;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  EXPECT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &allowed)) seen.cores.push_back(core);
  }
  pthread_attr_t attributes;
  EXPECT_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
  EXPECT_EQ(pthread_attr_getstacksize(&attributes, &seen.stack_bytes), 0);
  EXPECT_EQ(pthread_attr_destroy(&attributes), 0);
  return seen;
}

/// One task for each worker. None ends its only poll before all are in theirs, so each is on a worker of its own.
struct SeesThreads {
  std::vector<ThreadSeen>* seen;  // by the worker
  std::atomic<std::size_t>* arrived;

  Task<void> operator()(Scope& scope) const {
    const auto looks = [this](Cx cx) -> Task<void> {
      const std::size_t all = seen->size();
      const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
      ++*arrived;
      while (*arrived < all && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
      EXPECT_EQ(*arrived, all) << "not every worker has come";
      (*seen)[cx::context_of(cx).root()->worker().index()] = see_this_thread();
      co_return;
    };
    for (std::size_t i = 0; i < seen->size(); ++i) (void)co_await scope.spawn(looks);
  }
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, *this); }
};

/// Gives: what each worker of a run with these options sees.
std::vector<ThreadSeen> see_threads(const RunOptions& options) {
  std::vector<ThreadSeen> seen(options.workers);
  std::atomic<std::size_t> arrived = 0;
  EXPECT_TRUE(block_on(SeesThreads{&seen, &arrived}, options).is_ok());
  return seen;
}

TEST(Thread, SHD_1_each_that_is_started_has_the_name_and_the_core_and_the_stack_that_were_asked_for) {
  constexpr std::size_t stack_bytes = 768 << 10;
  const ThreadSeen before = see_this_thread();
  const std::vector<ThreadSeen> seen = see_threads({.workers = 3,
                                                    .name = "a-long-name-for-it",
                                                    .worth_sharing = Duration(),
                                                    .pin_to_cores = true,
                                                    .stack_bytes = stack_bytes});
  for (std::size_t worker = 1; worker < seen.size(); ++worker) {
    EXPECT_EQ(seen[worker].name, "a-long-name-" + std::to_string(worker));
    EXPECT_EQ(seen[worker].cores, std::vector<int>{before.cores[worker % before.cores.size()]}) << worker;
    EXPECT_GE(seen[worker].stack_bytes, stack_bytes) << worker;
    EXPECT_LT(seen[worker].stack_bytes, 2 * stack_bytes) << worker;
  }
}

TEST(Thread, SHD_1_the_calling_one_stays_as_it_is) {
  const ThreadSeen before = see_this_thread();
  const std::vector<ThreadSeen> seen =
      see_threads({.workers = 2, .name = "other", .worth_sharing = Duration(), .pin_to_cores = true});
  const ThreadSeen after = see_this_thread();
  for (const ThreadSeen& then : {seen[0], after}) {
    EXPECT_EQ(then.name, before.name);
    EXPECT_EQ(then.cores, before.cores);
    EXPECT_EQ(then.stack_bytes, before.stack_bytes);
  }
}

TEST(Thread, SHD_1_without_being_asked_to_it_is_called_calm_and_goes_where_the_process_may) {
  const ThreadSeen before = see_this_thread();
  const std::vector<ThreadSeen> seen = see_threads({.workers = 2, .worth_sharing = Duration()});
  EXPECT_EQ(seen[1].name, "calm-1");
  EXPECT_EQ(seen[1].cores, before.cores);
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace
}  // namespace calm
