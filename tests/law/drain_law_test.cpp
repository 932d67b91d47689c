// What goes on while a program drains: timers, clean-up that needs time, and shutdown as a cancel of the root.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>

#include "calm/cx/mask.hpp"
#include "calm/cx/obligation.hpp"
#include "calm/kernel/quiescence.hpp"
#include "program_bench.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

TEST(Drain, QUI_4_timers_fire_while_a_scope_drains_and_clean_up_may_arm_them) {
  Log log;
  std::atomic<bool> begun = false;
  run_clean([&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      co_await scope.defer_async([&log](Cx inner) -> Task<void> {
        co_await sleep(inner, ms(5));
        EXPECT_TRUE(comes_at(inner.now(), at_ms(15)));
        log.emplace_back("finalizer");
      });
      auto child = co_await scope.spawn([&](Cx inner) -> Task<void> {
        const CancelMask mask(inner);
        begun = true;
        co_await sleep(inner, ms(10));  // armed before the cancel, fires after it
        EXPECT_TRUE(comes_at(inner.now(), at_ms(10)));
        log.emplace_back("child");
      });
      co_await sleep(scope.cx(), ms(1));
      co_await catch_up(scope.cx(), begun);
      scope.cancel("drain");
    };
    (void)co_await outcome(scope(cx, body));
    EXPECT_TRUE(comes_at(cx.now(), at_ms(15)));
    log.emplace_back("quiet");
  });
  EXPECT_EQ(log, (Log{"child", "finalizer", "quiet"}));
}

TEST(Drain, QUI_4_a_timer_that_fires_for_a_cancelled_task_only_wakes_it) {
  Log log;
  std::atomic<bool> begun = false;
  run_clean([&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      auto child = co_await scope.spawn([&](Cx inner) -> Task<void> {
        {
          const CancelMask mask(inner);
          begun = true;
          const Outcome<void> slept = co_await outcome(sleeps(inner, ms(10)));
          EXPECT_TRUE(slept.is_ok()) << "the timer woke it; whether it is cancelled is not the timer's to say";
          EXPECT_TRUE(comes_at(inner.now(), at_ms(10)));
          const auto is_cancelled = [inner] { return inner.is_cancelled(); };
          co_await catch_up(inner, is_cancelled);
        }
        log.emplace_back("awake");
        co_await checkpoint(inner);
        log.emplace_back("not reached");
      });
      co_await sleep(scope.cx(), ms(1));
      co_await catch_up(scope.cx(), begun);
      child.cancel("stop");
      const Outcome<void> end = co_await outcome(std::move(child).join(scope.cx()));
      EXPECT_TRUE(end.is_cancelled());
    };
    (void)co_await outcome(scope(cx, body));
  });
  EXPECT_EQ(log, (Log{"awake"}));
}

TEST(Drain, QUI_2_a_shutdown_of_the_root_cascades_ends_timers_and_is_quiet) {
  std::mutex mutex;  // the children may end at one time
  std::vector<Reason> reasons;
  std::string while_draining;
  std::atomic<int> begun = 0;
  std::atomic<bool> has_looked = false;
  const auto report = run_clean([&](Cx cx) -> Task<void> {
    const auto inner_body = [&](Scope& scope) -> Task<void> {
      const auto child = [&](Cx inner) -> Task<void> {
        ++begun;
        const Outcome<void> end = co_await outcome(forever(inner));
        const std::lock_guard hold(mutex);
        if (end.is_cancelled()) reasons.push_back(end.reason());
      };
      auto first = co_await scope.spawn(child);
      auto second = co_await scope.spawn(child);
      co_await forever(scope.cx());
    };
    const auto body = [&](Scope& scope) -> Task<void> {
      auto nested =
          co_await scope.spawn([inner_body](Cx inner) -> Task<void> { co_await calm::scope(inner, inner_body); });
      auto straggler = co_await scope.spawn([&](Cx inner) -> Task<void> {
        Obligation promise = co_await reserve(inner, ObligationKind::lease);
        {
          const CancelMask mask(inner);
          ++begun;
          co_await sleep(inner, ms(50));
          co_await catch_up(inner, has_looked);
        }
        (void)promise.commit();
      });
      co_await sleep(scope.cx(), ms(1));
      const auto all_have_begun = [&begun] { return begun == 3; };
      co_await catch_up(scope.cx(), all_have_begun);
      const auto shut_down = [&scope](auto& kernel) {
        return kernel.cancel(worker_under(scope.cx()), kernel.root(), {.kind = CancelKind::shutdown, .message = "bye"});
      };
      EXPECT_TRUE(with_kernel_of(scope.cx(), shut_down));
      const CancelMask mask(scope.cx());
      co_await sleep(scope.cx(), ms(10));
      while_draining = kernel::diagnose(look(scope.cx()));
      has_looked = true;
    };
    (void)co_await outcome(scope(cx, body));
  });
  ASSERT_EQ(reasons.size(), 2U);
  for (const Reason& reason : reasons) {
    EXPECT_EQ(reason.kind(), CancelKind::parent_cancelled);
    EXPECT_NE(reason.explain().find("Shutdown"), std::string::npos) << reason.explain();
    EXPECT_NE(reason.explain().find("bye"), std::string::npos) << reason.explain();
  }
  EXPECT_NE(while_draining.find("drain_law_test.cpp"), std::string::npos) << while_draining;
  EXPECT_NE(while_draining.find("lease"), std::string::npos) << "the straggler holds one: " << while_draining;
  EXPECT_TRUE(report.end.is_cancelled());
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
