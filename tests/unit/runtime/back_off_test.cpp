// What a worker without work does before it sleeps: so often it looks again at once, and so often it gives way before it does.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "calm/combinator/never.hpp"
#include "calm/cx/wait.hpp"
#include "calm/runtime/profile.hpp"
#include "calm/runtime/runtime.hpp"
#include "calm/runtime/this_worker.hpp"
#include "tests/unit/runtime/inspected.hpp"

namespace {

/// How often workers have given way.
std::atomic<std::uint64_t> times_given_way{0};

}  // namespace

/// In place of the C library's: std::this_thread::yield() comes here.
// NOLINTNEXTLINE(readability-identifier-naming,misc-use-internal-linkage): its name
extern "C" int sched_yield() noexcept {
  if (calm::runtime::worker_of_this_thread() != nullptr) ++times_given_way;
  return static_cast<int>(::syscall(SYS_sched_yield));
}

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters): what they refer to outlives the run

struct NapsOften {
  std::atomic<bool>* done;
  Task<void> operator()(Cx cx) const {
    for (int i = 0; i < 400; ++i) co_await sleep(cx, Duration::microseconds(50));
    *done = true;
    done->notify_one();
    co_await never<>(cx);
  }
};

struct Rests {
  std::uint64_t looks = 0;  ///< how often workers looked for work at each other,
  std::uint64_t given_way =
      0;  ///< and how often they gave way; a few times more than that, where they waited for each other's locks
};

/// Gives: what two workers did that rest again and again, and never find work at each other.
Rests rest_often(BackOff back_off) {
  RunOptions options{.workers = 2, .worth_sharing = Duration::seconds(1), .rescue_after = Duration()};
  options.back_off = back_off;
  Runtime runtime(options);
  std::atomic<bool> done = false;
  Rests rests;
  const std::uint64_t before = times_given_way;
  std::thread looker([&] {
    done.wait(false);
    rests = {.looks = counted_in_all(runtime.inspect(), "look"), .given_way = times_given_way - before};
    runtime.shut_down();
  });
  (void)runtime.block_on(NapsOften{&done});
  looker.join();
  EXPECT_GE(rests.looks, 100U);
  return rests;
}

TEST(BackOff, SCH_6_who_rests_gives_way_as_often_as_it_may) {
  const Rests only = rest_often({.spins = 0, .yields = 2});
  EXPECT_GE(2 * only.given_way, only.looks) << "each time that it looked, but for those in which there was something";
}

TEST(BackOff, SCH_6_once_it_has_spun) {
  const Rests both = rest_often({.spins = 1, .yields = 1});
  EXPECT_GE(3 * both.given_way, both.looks);
  const Rests none = rest_often({.spins = 1, .yields = 0});
  EXPECT_LE(4 * none.given_way, none.looks);
}

TEST(BackOff, SCH_6_it_spins_8_times_and_gives_way_twice_where_nothing_is_said) {
  static_assert(RunOptions().back_off == BackOff{.spins = 8, .yields = 2});
  EXPECT_EQ(fitted_to({}, *kernel::find_profile("server")).back_off, (BackOff{.spins = 8, .yields = 2}));
  const Rests usual = rest_often({});
  EXPECT_GE(6 * usual.given_way, usual.looks) << "when nothing is ever found it spins once, and gives way twice";
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

}  // namespace
}  // namespace calm
