// Everything on the calling thread: who polls, and which threads there are beside it.
#include <dirent.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "calm/cx/blocking.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/runtime/run.hpp"
#include "tests/unit/runtime/asked_workers.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters,cppcoreguidelines-avoid-capturing-lambda-coroutines):
// what they refer to outlives the run

using Ids = std::set<std::string>;

/// Gives: the ids of this process's threads, as the system has them.
Ids ids_of_threads() {
  Ids ids;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/task"), &::closedir);
  EXPECT_NE(folder, nullptr);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody else reads this folder
  while (const dirent* const entry = ::readdir(folder.get())) {
    const std::string name(static_cast<const char*>(entry->d_name));
    if (name != "." && name != "..") ids.insert(name);
  }
  return ids;
}
/// Gives: those that were not there before.
Ids new_since(const Ids& before) {
  Ids since;
  for (const std::string& id : ids_of_threads()) {
    if (before.count(id) == 0) since.insert(id);
  }
  return since;
}

/// What the polls of a program saw.
struct PollsSeen {
  std::vector<std::thread::id> threads;
  Ids new_ids;
};

/// Tasks of all lanes that yield, sleep and are cancelled, each of whose polls looks where it is.
struct LooksAround {
  PollsSeen* seen;
  const Ids* before;

  void look() const {
    seen->threads.push_back(std::this_thread::get_id());
    seen->new_ids.merge(new_since(*before));
  }
  Task<void> operator()(Cx cx, int number) const {
    for (int i = 0; i < 4; ++i) {
      look();
      if (number % 2 == 0) {
        co_await yield(cx);
      } else {
        co_await sleep(cx, Duration::microseconds(100));
      }
    }
    (void)co_await outcome(sleep(cx, Duration::seconds(1000)));
    look();
  }
  Task<void> operator()(Scope& scope) const {
    std::vector<Handle<void>> handles;
    for (int number = 0; number < 8; ++number) {
      TaskOptions options;
      if (number % 3 == 1) options.budget.priority = 7;
      if (number % 3 == 2) options.budget.deadline = Deadline(scope.cx().now() + Duration::seconds(500));
      Handle<void> handle = co_await scope.spawn(options, *this, number);
      handles.push_back(std::move(handle));
    }
    co_await sleep(scope.cx(), Duration::milliseconds(5));
    look();
    for (const Handle<void>& handle : handles) handle.cancel();
  }
  CALM_CORO_WRAPPER Task<void> operator()(Cx cx) const { return scope(cx, *this, {.policy = FoldPolicy::collect}); }
};

PollsSeen look_around(const RunOptions& options) {
  PollsSeen seen;
  std::thread([] {}).join();  // with the first thread of a process a sanitizer begins one of its own
  const Ids before = ids_of_threads();
  const Outcome<void> end = block_on(LooksAround{&seen, &before}, options);
  EXPECT_TRUE(end.is_cancelled()) << to_string(end);
  EXPECT_GT(seen.threads.size(), 8U);
  for (const std::thread::id id : seen.threads) EXPECT_EQ(id, std::this_thread::get_id());
  return seen;
}

TEST(CurrentThread, SCH_6_every_poll_is_on_the_calling_thread_and_there_is_no_other) {
  EXPECT_EQ(look_around({.flavour = Flavour::current_thread}).new_ids, Ids());
}

TEST(CurrentThread, SCH_6_whatever_the_environment_says_of_workers) {
  const AskedWorkers asked("4");
  EXPECT_EQ(look_around({.flavour = Flavour::current_thread}).new_ids, Ids());
}

TEST(CurrentThread, SCH_6_and_so_it_is_where_nothing_is_said) { EXPECT_EQ(look_around({.workers = 1}).new_ids, Ids()); }

TEST(CurrentThread, GHO_3_QUI_2_who_minds_signals_or_long_polls_is_one_thread_beside_it_and_polls_nothing) {
  EXPECT_EQ(look_around({.flavour = Flavour::current_thread, .signals = true}).new_ids.size(), 1U);
  const Duration limit = Duration::seconds(100);
  EXPECT_EQ(look_around({.flavour = Flavour::current_thread, .stall_limit = limit}).new_ids.size(), 1U);
}

TEST(CurrentThread, IO_4_a_call_that_blocks_is_made_on_another_thread_and_its_task_goes_on_here) {
  const std::thread::id here = std::this_thread::get_id();
  const auto calls = [here](Cx cx) -> Task<int> {
    const auto where = [] { return std::this_thread::get_id(); };
    const std::thread::id there = co_await blocking(cx, where);
    EXPECT_NE(there, here);
    EXPECT_EQ(std::this_thread::get_id(), here);
    co_return 1;
  };
  EXPECT_TRUE(block_on(calls, {.flavour = Flavour::current_thread}).is_ok());
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters,cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace
}  // namespace calm
