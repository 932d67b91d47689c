// What the runtime costs where it should cost nothing: a great cancel, an idle program, a shutdown.
// CALM_PARKED_TASKS, CALM_IDLE_MS and CALM_LIMITS=strict ask for the sizes and bounds that `./dev soak` holds it to.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "calm/cx/mask.hpp"
#include "calm/cx/obligation.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/kernel/quiescence.hpp"
#include "calm/runtime/run.hpp"
#include "calm/runtime/runtime.hpp"
#include "tests/both_worlds.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)

using Clock = std::chrono::steady_clock;

std::uint64_t asked_for(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 10);
}
/// On a machine that has time for it, in an optimised build.
bool is_strict() {
  const char* const text = std::getenv("CALM_LIMITS");
  return text != nullptr && std::string_view(text) == "strict";
}
/// A sanitizer may have a thread of its own, which is not idle.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool is_sanitized = true;
#elif defined(__has_feature)
constexpr bool is_sanitized = __has_feature(thread_sanitizer) || __has_feature(address_sanitizer);
#else
constexpr bool is_sanitized = false;
#endif
double cpu_ms() {
  timespec used{};
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return 1e3 * static_cast<double>(used.tv_sec) + 1e-6 * static_cast<double>(used.tv_nsec);
}
/// By the clock on the wall, and by the CPU that the process has used.
struct Instant {
  Clock::time_point wall = Clock::now();
  double cpu = cpu_ms();

  [[nodiscard]] double ms_since() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - wall).count();
  }
  [[nodiscard]] double cpu_ms_since() const { return cpu_ms() - cpu; }
};
void say(std::uint16_t workers, const std::string& what) {
  std::printf("  on %u workers: %s\n", unsigned{workers}, what.c_str());
}

class LimitsOn : public testing::TestWithParam<std::uint16_t> {};
INSTANTIATE_TEST_SUITE_P(Workers, LimitsOn, testing::Values(std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{8}),
                         [](const auto& tested) { return std::to_string(tested.param); });

// --- a great cancel ---

/// So many workers, in either flavour where there is one.
struct Crew {
  std::uint16_t workers;
  Flavour flavour;
};
class CancelLimitsOn : public testing::TestWithParam<Crew> {};
INSTANTIATE_TEST_SUITE_P(Workers, CancelLimitsOn,
                         testing::Values(Crew{1, Flavour::current_thread}, Crew{1, Flavour::multi_worker},
                                         Crew{2, Flavour::multi_worker}, Crew{8, Flavour::multi_worker}),
                         [](const auto& tested) {
                           const Crew& crew = tested.param;
                           const bool alone = crew.workers == 1 && crew.flavour == Flavour::multi_worker;
                           return std::to_string(crew.workers) + (alone ? "_of_several" : "");
                         });

/// What the tasks of a region, and its finalizers, have left behind.
struct Great {
  std::uint64_t tasks;
  std::uint64_t finalizers;
  std::atomic<std::uint64_t> parked{0};
  std::atomic<std::uint64_t> left{0};
  std::atomic<std::uint64_t> finalized{0};
  double took_ms = 0;
  double cpu_ms = 0;
  std::string not_quiet{};
};

struct Parks {
  Great* great;

  struct Leaves {
    explicit Leaves(std::atomic<std::uint64_t>& its_count) noexcept : count(its_count) {}
    Leaves(const Leaves&) = delete;
    Leaves& operator=(const Leaves&) = delete;
    ~Leaves() { count.fetch_add(1, std::memory_order_relaxed); }  // relaxed: read when all have ended
    std::atomic<std::uint64_t>& count;
  };

  Task<void> operator()(Cx cx) const {
    const Leaves leaves(great->left);
    great->parked.fetch_add(1, std::memory_order_relaxed);
    co_await sleep(cx, Duration::seconds(1000));
  }
};
/// The same, with a promise that a cancel takes back (OBL-5).
struct ParksWithPromise {
  Great* great;
  Task<void> operator()(Cx cx) const {
    const Parks parks{great};
    Obligation promise = co_await reserve(cx, ObligationKind::lease);
    const Outcome<void> end = co_await outcome(parks(cx));
    (void)promise.abort();
    co_await fail_with(Outcome<void>(end));
  }
};
struct Finalizes {
  Great* great;
  void operator()() const { great->finalized.fetch_add(1, std::memory_order_relaxed); }
};

/// The region: its tasks all park, then it is cancelled.
struct GreatBody {
  Great* great;
  Instant* cancelled;

  Task<void> operator()(Scope& scope) const {
    const Parks parks{great};
    const ParksWithPromise promises{great};
    const Finalizes finalizes{great};
    for (std::uint64_t i = 0; i < great->finalizers; ++i) co_await scope.defer(finalizes);
    for (std::uint64_t i = 0; i < great->tasks; ++i) {
      if (i % 1000 == 999) {
        (void)co_await scope.spawn(promises);
      } else {
        (void)co_await scope.spawn(parks);
      }
      if (i % 64 == 63) co_await yield(scope.cx());
    }
    while (great->parked.load(std::memory_order_relaxed) != great->tasks) co_await yield(scope.cx());
    *cancelled = Instant();
    scope.cancel("enough");
    co_await checkpoint(scope.cx());
  }
};

struct GreatProgram {
  Great* great;
  Task<void> operator()(Cx cx) const {
    Instant cancelled;
    const GreatBody body{great, &cancelled};
    // How long clean-up may take is not what this is about.
    const Outcome<void> end = co_await outcome(scope(cx, body, {.cleanup_time = Duration::seconds(600)}));
    great->took_ms = cancelled.ms_since();
    great->cpu_ms = cancelled.cpu_ms_since();
    if (!end.is_cancelled()) great->not_quiet = "it ended as " + to_string(end);
    look_around(cx);
  }
  /// Nothing of the region is left: the main task alone is there, and nobody has promised anything.
  void look_around(Cx cx) const {
    const kernel::Snapshot snapshot = look(cx);
    bool left = snapshot.pending_timers != 0 || !snapshot.obligations.empty();
    for (const kernel::TaskView& task : snapshot.tasks) left |= task.id != cx.task();
    for (const kernel::RegionView& region : snapshot.regions) left |= !region.ledger.is_zero() || bool(region.parent);
    if (left) great->not_quiet += kernel::diagnose(snapshot);
  }
};

/// Gives: how long the cancel took by the clock on the wall.
double great_cancel_ms(const Crew& crew) {
  Great great{.tasks = asked_for("CALM_PARKED_TASKS", 20'000), .finalizers = 1000};
  const RunOptions options{.workers = crew.workers, .flavour = crew.flavour, .seed = 5};
  const Outcome<void> end = block_on(GreatProgram{&great}, options);
  EXPECT_TRUE(end.is_ok()) << to_string(end);
  EXPECT_EQ(great.left, great.tasks);
  EXPECT_EQ(great.finalized, great.finalizers);
  EXPECT_EQ(great.not_quiet, "");
  const char* const words = crew.flavour == Flavour::current_thread ? "alone: " : "";
  say(crew.workers, words + std::to_string(great.tasks) + " parked tasks and " + std::to_string(great.finalizers) +
                        " finalizers ended in " + std::to_string(great.took_ms) + " ms, with " +
                        std::to_string(great.cpu_ms) + " ms of CPU");
  return great.took_ms;
}

TEST_P(CancelLimitsOn, I2_REG_5_a_cancelled_region_of_parked_tasks_is_quiet_soon_with_every_finalizer_run) {
  // Where the machine is busy with other things one run may be late; none of them is where it waits for something.
  const double limit_ms = is_strict() ? 1000 : 5000;
  double best_ms = great_cancel_ms(GetParam());
  for (int again = 0; again < 4 && best_ms >= limit_ms && !HasFailure(); ++again) {
    best_ms = std::min(best_ms, great_cancel_ms(GetParam()));
  }
  EXPECT_LT(best_ms, limit_ms);
}

/// Its clean-up waits for something that never happens.
struct NeverCleansUp {
  std::atomic<std::uint64_t>* begun;
  std::atomic<std::uint64_t>* gone;

  struct Gone {
    std::atomic<std::uint64_t>* count;
    ~Gone() { count->fetch_add(1, std::memory_order_relaxed); }
  };
  Task<void> operator()(Cx cx) const {
    const Gone counts{gone};
    const auto waits = [this](Cx masked) -> Task<void> {
      begun->fetch_add(1, std::memory_order_relaxed);
      co_await sleep(masked, Duration::seconds(1000));
    };
    co_await with_cancel_mask(cx, waits);
  }
};

TEST_P(CancelLimitsOn, CAN_8_what_overruns_its_clean_up_is_forced_when_the_time_of_its_region_is_over) {
  constexpr std::uint64_t tasks = 200;
  std::atomic<std::uint64_t> begun{0};
  std::atomic<std::uint64_t> gone{0};
  const auto program = [&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      const NeverCleansUp never{&begun, &gone};
      for (std::uint64_t i = 0; i < tasks; ++i) (void)co_await scope.spawn(never);
      while (begun.load(std::memory_order_relaxed) != tasks) co_await yield(scope.cx());
      scope.cancel("enough");
    };
    const ScopeOptions options{.cleanup_time = Duration::milliseconds(30)};
    const Outcome<void> end = co_await outcome(scope(cx, body, options));
    EXPECT_TRUE(end.is_cancelled()) << to_string(end);
  };
  testing::internal::CaptureStderr();  // it says so for each
  const Outcome<void> end =
      block_on(program, {.workers = GetParam().workers, .flavour = GetParam().flavour, .seed = 5});
  (void)testing::internal::GetCapturedStderr();
  ASSERT_TRUE(end.is_ok()) << to_string(end);
  EXPECT_EQ(gone, tasks);
}

// --- idle, and its end ---

Task<void> parked_for_ever(Cx cx) {
  for (;;) co_await sleep(cx, Duration::seconds(1000));
}
Task<void> three_parked_for_ever(Scope& scope) {
  for (int i = 0; i < 3; ++i) (void)co_await scope.spawn(parked_for_ever);
  co_await parked_for_ever(scope.cx());
}
CALM_CORO_WRAPPER Task<void> idle_program(Cx cx) { return scope(cx, three_parked_for_ever); }

void wait_until_parked(Runtime& runtime) {
  while (runtime.inspect().find("4 tasks") == std::string::npos) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // Threads that have just been started may not have come to rest: not on few cores, under a sanitizer, beside other tests. Who
  // never does is not waited for, and fails in what follows.
  double before = 0;
  for (int i = 0; i < 100 && (i == 0 || cpu_ms() - before > 1); ++i) {
    before = cpu_ms();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

TEST_P(LimitsOn, SCH_8_idle_workers_use_less_than_five_milliseconds_of_cpu_in_ten_seconds) {
  const std::uint64_t idle_ms = asked_for("CALM_IDLE_MS", 1000);
  Runtime runtime({.workers = GetParam()});
  double used_ms = 0;
  std::thread looker([&] {
    wait_until_parked(runtime);
    const double before = cpu_ms();
    std::this_thread::sleep_for(std::chrono::milliseconds(idle_ms));
    used_ms = cpu_ms() - before;
    (void)runtime.shut_down();
  });
  (void)runtime.block_on(idle_program);
  looker.join();
  say(GetParam(), std::to_string(used_ms) + " ms of CPU in " + std::to_string(idle_ms) + " ms");
  EXPECT_LT(used_ms, is_sanitized ? 5.0 : 5.0 * static_cast<double>(idle_ms) / 10'000);
}

/// What a shutdown took from the request to the end of the run.
struct Shutdown {
  double wall_ms;
  double cpu_ms;
};
Shutdown shut_down_idle(std::uint16_t workers) {
  Runtime runtime({.workers = workers});
  Instant asked;
  std::thread stopper([&] {
    wait_until_parked(runtime);
    asked = Instant();
    (void)runtime.shut_down();
  });
  const Outcome<void> end = runtime.block_on(idle_program);
  const Shutdown took{asked.ms_since(), asked.cpu_ms_since()};
  stopper.join();
  EXPECT_TRUE(end.is_cancelled()) << to_string(end);
  return took;
}

TEST_P(LimitsOn, QUI_2_an_idle_runtime_is_shut_down_in_less_than_five_milliseconds) {
  std::vector<double> wall;
  std::vector<double> cpu;
  for (int i = 0; i < 9; ++i) {
    const Shutdown took = shut_down_idle(GetParam());
    wall.push_back(took.wall_ms);
    cpu.push_back(took.cpu_ms);
  }
  std::sort(wall.begin(), wall.end());
  std::sort(cpu.begin(), cpu.end());
  const std::size_t half = wall.size() / 2;
  say(GetParam(), "shut down in " + std::to_string(wall.front()) + " ms, half of them within " +
                      std::to_string(wall[half]) + " ms, all within " + std::to_string(wall.back()) + " ms, with " +
                      std::to_string(cpu[half]) + " ms of CPU");
  EXPECT_LT(is_strict() ? cpu[half] : cpu.front(), 5.0);
  // Threads may have to wait for a processor, where other tests run beside this one.
  EXPECT_LT(wall.front(), is_strict() ? 5.0 : 500.0);
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

}  // namespace
}  // namespace calm
