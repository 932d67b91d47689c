// What goes on while a program drains: timers, clean-up that needs time, and shutdown as a cancel of the root.
#include <gtest/gtest.h>

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
  run_clean([&log](Cx cx) -> Task<void> {
    const auto body = [&log](Scope& scope) -> Task<void> {
      co_await scope.defer_async([&log](Cx inner) -> Task<void> {
        co_await sleep(inner, ms(5));
        log.push_back("finalizer at " + to_string(inner.now()));
      });
      auto child = co_await scope.spawn([&log](Cx inner) -> Task<void> {
        const CancelMask mask(inner);
        co_await sleep(inner, ms(10));  // armed before the cancel, fires after it
        log.push_back("child at " + to_string(inner.now()));
      });
      co_await sleep(scope.cx(), ms(1));
      scope.cancel("drain");
    };
    (void)co_await outcome(scope(cx, body));
    log.push_back("quiet at " + to_string(cx.now()));
  });
  EXPECT_EQ(log, (Log{"child at 0.01s", "finalizer at 0.015s", "quiet at 0.015s"}));
}

TEST(Drain, QUI_4_a_timer_that_fires_for_a_cancelled_task_only_wakes_it) {
  Log log;
  run_clean([&log](Cx cx) -> Task<void> {
    const auto body = [&log](Scope& scope) -> Task<void> {
      auto child = co_await scope.spawn([&log](Cx inner) -> Task<void> {
        {
          const CancelMask mask(inner);
          const Outcome<void> slept = co_await outcome(sleeps(inner, ms(10)));
          EXPECT_TRUE(slept.is_ok()) << "the timer woke it; whether it is cancelled is not the timer's to say";
        }
        log.push_back("awake at " + to_string(inner.now()));
        co_await checkpoint(inner);
        log.emplace_back("not reached");
      });
      co_await sleep(scope.cx(), ms(1));
      child.cancel("stop");
      const Outcome<void> end = co_await outcome(std::move(child).join(scope.cx()));
      EXPECT_TRUE(end.is_cancelled());
    };
    (void)co_await outcome(scope(cx, body));
  });
  EXPECT_EQ(log, (Log{"awake at 0.01s"}));
}

TEST(Drain, QUI_2_a_shutdown_of_the_root_cascades_ends_timers_and_is_quiet) {
  std::vector<Reason> reasons;
  std::string while_draining;
  const auto report = run_clean([&](Cx cx) -> Task<void> {
    const auto inner_body = [&reasons](Scope& scope) -> Task<void> {
      const auto child = [&reasons](Cx inner) -> Task<void> {
        const Outcome<void> end = co_await outcome(forever(inner));
        if (end.is_cancelled()) reasons.push_back(end.reason());
      };
      auto first = co_await scope.spawn(child);
      auto second = co_await scope.spawn(child);
      co_await forever(scope.cx());
    };
    const auto body = [&](Scope& scope) -> Task<void> {
      auto nested =
          co_await scope.spawn([inner_body](Cx inner) -> Task<void> { co_await calm::scope(inner, inner_body); });
      auto straggler = co_await scope.spawn([](Cx inner) -> Task<void> {
        Obligation promise = co_await reserve(inner, ObligationKind::lease);
        {
          const CancelMask mask(inner);
          co_await sleep(inner, ms(50));
        }
        (void)promise.commit();
      });
      co_await sleep(scope.cx(), ms(1));
      kernel::LocalKernel& kernel = kernel_under(scope.cx());
      EXPECT_TRUE(
          kernel.cancel(worker_under(scope.cx()), kernel.root(), {.kind = CancelKind::shutdown, .message = "bye"}));
      const CancelMask mask(scope.cx());
      co_await sleep(scope.cx(), ms(10));
      while_draining = kernel::diagnose(look(scope.cx()));
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
