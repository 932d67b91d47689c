// Ghost monitors: what is touched on the wrong thread, and borrows that meet or last too long.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "calm/cx/drive.hpp"
#include "calm/cx/pinned.hpp"
#include "calm/cx/rref.hpp"
#include "calm/cx/scope.hpp"
#include "calm/lab/lab.hpp"
#include "tests/both_worlds.hpp"
#include "tests/kernel_host.hpp"
#include "tests/unit/cx/in_lab.hpp"

namespace {
struct Fleeting {
  int value = 0;
};
}  // namespace
template <>
inline constexpr bool calm::stays_within_a_poll<Fleeting> = true;

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

/// Gives: true when the report has a line with all of these.
bool tells(const lab::LabReport& report, const std::vector<std::string>& parts) {
  for (const lab::Problem& problem : report.problems) {
    bool all = true;
    for (const std::string& part : parts) all = all && problem.text.find(part) != std::string::npos;
    if (all) return true;
  }
  return false;
}

TEST(Pinned, GHO_1_is_seen_when_another_thread_touches_it) {
  const auto report = run([](Cx cx) -> Task<void> {
    Pinned<int> mine(1);
    mine.get(cx) = 2;
    std::thread([&] { ++mine.get(cx); }).join();
    EXPECT_EQ(mine.get(cx), 3);
    co_return;
  });
  EXPECT_EQ(report.problems.size(), 1U);
  EXPECT_TRUE(tells(report, {"touched what stays on another thread", "made at", "ghost_test.cpp", "GHO-1"}))
      << to_string(report);
}

TEST(Pinned, GHO_1_a_transfer_makes_it_lawful) {
  const auto report = run([](Cx cx) -> Task<void> {
    Pinned<int> mine(1);
    std::thread([&] {
      mine.transfer();
      ++mine.get(cx);
    }).join();
    mine.transfer();
    EXPECT_EQ(mine.get(cx), 2);
    co_return;
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  static_assert(!sendable<Pinned<int>>);
}

/// A port on a kernel with two workers, so that a fiber can be polled by the wrong one.
class TwoWorkers final : public cx::KernelPort<lockfree::RealAtomics> {
 public:
  explicit TwoWorkers(kernel::Kernel& kernel) noexcept : KernelPort(kernel) { ghosts_ = true; }
  Worker& of_this_thread() noexcept override { return kernel().worker(0); }
  Status arm(Worker& /*worker*/, clock::Alarm& /*alarm*/, clock::Beyond /*beyond*/) noexcept override { return {}; }
  void disarm(Worker& /*worker*/, clock::Alarm& /*alarm*/) noexcept override {}
  std::uint64_t entropy(Worker& /*worker*/) noexcept override { return 4; }
};

Task<void> stands_still(Cx cx) { co_await yield(cx); }

TEST(Fiber, GHO_1_is_seen_when_another_worker_polls_it) {
  kernel::BasicBench<lockfree::RealAtomics> bench({.workers = 2});
  TwoWorkers port(*bench.kernel);
  auto* const shell = new cx::Shell<void>(port);
  shell->begin(stands_still(Cx(shell->context())));
  shell->become_fiber(0);
  const TaskId task = bench.task(bench.root(), {.frame = static_cast<cx::TaskRoot*>(shell), .handle = false});
  (void)cx::drive(*bench.kernel, bench.kernel->worker(0), task);
  EXPECT_EQ(bench.host.found(kernel::FindingKind::wrong_thread), 0U);
  (void)cx::drive(*bench.kernel, bench.kernel->worker(1), task);
  EXPECT_EQ(bench.host.found(kernel::FindingKind::wrong_thread), 1U);
  EXPECT_NE(to_string(bench.host.findings.back()).find("GHO-1"), std::string::npos);
}

TEST(RRef, REG_10_an_object_lives_until_its_scope_is_closed) {
  const auto report = run([](Cx cx) -> Task<void> {
    std::vector<RRef<std::string>> kept;
    const auto body = [&kept](Scope& scope) -> Task<void> {
      kept.push_back(co_await make_in<std::string>(scope.cx(), "hello"));
      const auto reads = [ref = kept[0]](Cx inner) -> Task<void> {
        co_await sleep(inner, ms(1));
        const auto text = co_await ref.read(inner);
        EXPECT_EQ(*text, "hello");
      };
      auto child = co_await scope.spawn(reads);
    };
    co_await scope(cx, body);
    const auto gone = kept[0].read(cx);
    EXPECT_TRUE(gone.is_err());
    EXPECT_EQ(gone.error().code(), Errc::region_closed);
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  static_assert(sendable<RRef<std::string>> && !sendable<RRef<const char*>>);
}

struct Picky {
  explicit Picky(bool fails) {
    if (fails) throw std::runtime_error("picky");
  }
};

TEST(RRef, REG_10_an_object_that_cannot_be_made_leaves_nothing_behind) {
  const auto report = run([](Cx cx) -> Task<void> {
    bool thrown = false;
    try {
      (void)make_in<Picky>(cx, true);
    } catch (const std::runtime_error&) {
      thrown = true;
    }
    EXPECT_TRUE(thrown);
    co_return;
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
}

/// The lab has ghosts, the production runtime where slow checks are on.
bool ghosts_watch() { return in_lab() || cx::Port::ghosts_by_default; }

TEST(RRef, GHO_2_a_change_during_a_shared_borrow_is_seen_with_both_places) {
  const auto report = run([](Cx cx) -> Task<void> {
    const RRef<int> number = co_await make_in<int>(cx, 1);
    {
      const auto first = co_await number.read(cx);
      const auto second = co_await number.read(cx);  // readers do not mind each other
      EXPECT_EQ(*first + *second, 2);
    }
    {
      const auto alone = co_await number.write(cx);
      *alone = 5;
    }
    const auto reader = co_await number.read(cx);
    const auto writer = co_await number.write(cx);
    *writer = 6;
    EXPECT_EQ(*reader, 6);
  });
  EXPECT_EQ(report.problems.size(), ghosts_watch() ? 1U : 0U) << to_string(report);
  EXPECT_EQ(tells(report, {"that was already borrowed at", "ghost_test.cpp", "GHO-2"}), ghosts_watch())
      << to_string(report);
}

TEST(RRef, GHO_2_a_borrow_held_across_an_await_that_its_type_forbids_is_seen_with_both_places) {
  const auto report = run([](Cx cx) -> Task<void> {
    const RRef<Fleeting> number = co_await make_in<Fleeting>(cx);
    {
      const auto brief = co_await number.write(cx);
      brief->value = 1;
    }
    const auto lasting = co_await number.read(cx);
    co_await yield(cx);
    EXPECT_EQ(lasting->value, 1);
  });
  EXPECT_EQ(report.problems.size(), ghosts_watch() ? 1U : 0U) << to_string(report);
  EXPECT_EQ(tells(report, {"held what it borrowed at", "across an await at", "GHO-2"}), ghosts_watch())
      << to_string(report);
}

TEST(RRef, GHO_2_other_types_may_be_held_across_an_await) {
  const auto report = run([](Cx cx) -> Task<void> {
    const RRef<int> number = co_await make_in<int>(cx, 1);
    const auto lasting = co_await number.read(cx);
    co_await yield(cx);
    EXPECT_EQ(*lasting, 1);
  });
  EXPECT_TRUE(report.is_clean()) << to_string(report);
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
