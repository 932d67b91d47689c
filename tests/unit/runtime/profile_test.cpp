// Profiles of the runtime: other limits, the same meaning.
#include "calm/runtime/profile.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "calm/channel/mpsc.hpp"
#include "calm/cx/blocking.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/runtime/run.hpp"
#include "calm/sync/mutex.hpp"
#include "calm/trace/reader.hpp"
#include "tests/watched_run.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)

Task<void> sends_squares(Cx cx, channel::Sender<int> out, int count) {
  for (int i = 1; i <= count; ++i) {
    (void)co_await out.send(cx, i * i);
    co_await yield(cx);
  }
}
int slow_double(int value) { return 2 * value; }

Task<int> adds_in(Scope& scope) {
  channel::Mpsc<int> ends = co_await channel::mpsc<int>(scope.cx(), 2);
  (void)co_await scope.spawn(sends_squares, std::move(ends.sender), 6);
  Mutex<int> sum(scope.cx(), 0);
  while (true) {
    const std::optional<int> value = co_await ends.receiver.next(scope.cx());
    if (!value) break;
    auto guard = co_await sum.lock(scope.cx());
    *guard += *value;
  }
  auto guard = co_await sum.lock(scope.cx());
  co_return *guard;
}
Task<int> adds(Cx cx) {
  const int sum = co_await scope(cx, adds_in);
  co_return sum;
}
Task<int> adds_and_doubles(Cx cx) {
  const int sum = co_await adds(cx);
  const int twice = co_await blocking(cx, slow_double, sum);
  co_return twice;
}

TEST(RunProfile, PRF_1_a_program_gives_the_same_under_each_on_one_worker_and_on_two) {
  for (const kernel::Profile& profile : kernel::profiles) {
    for (const std::uint16_t workers : {std::uint16_t{1}, std::uint16_t{2}}) {
      const Outcome<int> end = block_on(adds_and_doubles, fitted_to({.workers = workers}, profile));
      ASSERT_TRUE(end.is_ok()) << profile.name << ": " << to_string(end);
      EXPECT_EQ(end.value(), 182) << profile.name;
    }
  }
}

TEST(RunProfile, PRF_1_its_semantic_digest_is_the_same_under_each) {
  using Entry = Task<int> (*)(Cx);
  const Entry entry = &adds;
  std::map<std::uint64_t, std::string_view> digests;
  for (const kernel::Profile& profile : kernel::profiles) {
    lab::ProgramOf<Entry> program(entry);
    const Watched watched = run_watched(program, {.kernel = fitted_to({}, profile).kernel, .title = "sums"});
    EXPECT_TRUE(watched.end.is_ok());
    EXPECT_TRUE(watched.not_quiet.empty()) << watched.not_quiet;
    EXPECT_GT(watched.trace.events.size(), 10U);
    digests.emplace(trace::semantic_digest(watched.trace), profile.name);
  }
  EXPECT_EQ(digests.size(), 1U);
}

TEST(RunProfile, PRF_1_sets_limits_queue_sizes_and_back_off_and_nothing_else) {
  RunOptions mine{.workers = 3, .seed = 5};
  mine.name = "mine";
  mine.kernel.strict_tokens = true;
  for (const kernel::Profile& profile : kernel::profiles) {
    const RunOptions options = fitted_to(mine, profile);
    EXPECT_EQ(options.kernel.ceilings, profile.ceilings);
    EXPECT_TRUE(options.kernel.strict_tokens);
    EXPECT_EQ(options.workers, 3);
    EXPECT_EQ(options.seed, 5U);
    EXPECT_EQ(options.name, "mine");
    EXPECT_EQ(options.worth_sharing, mine.worth_sharing);
  }
  const RunOptions tiny = fitted_to(mine, *kernel::find_profile("tiny"));
  EXPECT_LT(tiny.blocking.queue_max, mine.blocking.queue_max);
  EXPECT_EQ(tiny.back_off, (BackOff{.spins = 0, .yields = 0}));
}

Task<void> waits(Cx cx) { co_await sleep(cx, Duration::seconds(1000)); }
Task<int> spawns_until_refused(Scope& scope) {
  int admitted = 0;
  while (true) {
    const Outcome<Handle<void>> made = scope.spawn(waits);
    if (!made) {
      EXPECT_EQ(made.error().code(), Errc::resource_exhausted);
      break;
    }
    ++admitted;
  }
  scope.cancel();
  co_return admitted;
}
Task<int> counts_admitted(Cx cx) {
  int admitted = 0;
  const auto body = [&admitted](Scope& scope) -> Task<void> { admitted = co_await spawns_until_refused(scope); };
  (void)co_await outcome(scope(cx, body));
  co_return admitted;
}

TEST(RunProfile, HND_3_what_does_not_fit_a_tiny_one_is_refused_and_the_run_ends_in_quiet) {
  const kernel::Profile& tiny = *kernel::find_profile("tiny");
  const Outcome<int> admitted = block_on(counts_admitted, fitted_to({.workers = 1}, tiny));
  ASSERT_TRUE(admitted.is_ok()) << to_string(admitted);
  EXPECT_GT(admitted.value(), static_cast<int>(tiny.ceilings.tasks) - 10);
  EXPECT_LT(admitted.value(), static_cast<int>(tiny.ceilings.tasks));
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

}  // namespace
}  // namespace calm
