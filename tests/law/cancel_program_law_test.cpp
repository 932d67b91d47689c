// Cancellation as a program meets it: what looks, what acknowledges, what is held back, what wakes, and how a task ends.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <stdexcept>

#include "calm/cx/mask.hpp"
#include "program_bench.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

/// How a task ended that was cancelled one millisecond after its start.
struct Ended {
  OutcomeKind kind = OutcomeKind::ok;
  Reason reason{};
  std::optional<Witness> witness{};
};

/// Starts `program(cx)` as a task, cancels it after a millisecond, and joins it.
template <class F>
Ended cancelled_after_a_millisecond(F program) {
  Ended ended;
  std::atomic<bool> begun = false;
  run_clean([&, program](Cx cx) -> Task<void> {
    const auto body = [&, program](Scope& scope) -> Task<void> {
      const auto begins = [&begun, program](Cx inner) -> Task<int> {
        begun = true;
        co_return co_await program(inner);
      };
      auto handle = co_await scope.spawn(begins);
      const TaskId task = handle.id();
      co_await sleep(scope.cx(), ms(1));
      co_await catch_up(scope.cx(), begun);
      handle.cancel("stop");
      while (state_of(scope.cx(), task) != TaskState::completed) {
        const CancelMask mask(scope.cx());
        co_await sleep(scope.cx(), Duration::microseconds(500));
      }
      ended.witness = witness_of(scope.cx(), task);
      const Outcome<int> end = co_await outcome(std::move(handle).join(scope.cx()));
      ended.kind = end.kind();
      if (end.is_cancelled()) ended.reason = end.reason();
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
  });
  return ended;
}

// --- TSK-3, TSK-8 ---

TEST(ProgramTask, TSK_3_a_task_whose_handle_is_dropped_still_belongs_to_its_scope) {
  Log log;
  std::atomic<bool> said = false;
  run_clean([&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto child = [&](Cx inner) -> Task<void> {
        co_await sleep(inner, ms(4));
        co_await catch_up(inner, said);
        log.emplace_back("child");
      };
      {
        auto dropped = co_await scope.spawn(child);
      }
      log.emplace_back("dropped");
      said = true;
    };
    co_await scope(cx, body);
    log.emplace_back("back");
    EXPECT_TRUE(comes_at(cx.now(), at_ms(4)));
  });
  EXPECT_EQ(log, (Log{"dropped", "child", "back"}));
}

TEST(ProgramTask, TSK_8_one_that_is_cancelled_before_its_first_poll_never_runs) {
  bool ran = false;
  bool argument_gone = false;
  run_clean([&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto gone = [&argument_gone](const int* pointer) {
        argument_gone = true;
        delete pointer;
      };
      const auto child = [&ran](Cx, std::shared_ptr<int>) -> Task<void> {
        ran = true;
        co_return;
      };
      auto handle = co_await scope.spawn(child, std::shared_ptr<int>(new int(1), gone));
      handle.cancel();
      EXPECT_FALSE(argument_gone);
      const Outcome<void> end = co_await outcome(std::move(handle).join(scope.cx()));
      EXPECT_TRUE(end.is_cancelled());
      EXPECT_TRUE(argument_gone);
    };
    (void)co_await outcome(scope(cx, body));
  });
  EXPECT_FALSE(ran);
}

/// Notes the state of its task when the outermost frame is left.
class StateAtExit {
 public:
  StateAtExit(Cx cx, std::optional<TaskState>& state) : cx_(cx), state_(state) {}
  StateAtExit(const StateAtExit&) = delete;
  StateAtExit& operator=(const StateAtExit&) = delete;
  ~StateAtExit() { state_ = state_of(cx_, cx_.task()); }

 private:
  Cx cx_;
  std::optional<TaskState>& state_;
};

TEST(ProgramTask, TSK_8_cancelling_lasts_until_the_root_frame_is_gone_and_the_witness_comes_after) {
  std::optional<TaskState> at_exit;
  const Ended ended = cancelled_after_a_millisecond([&at_exit](Cx cx) -> Task<int> {
    const StateAtExit state(cx, at_exit);
    co_await forever(cx);
    co_return 1;
  });
  EXPECT_EQ(at_exit, TaskState::cancelling);
  EXPECT_EQ(ended.kind, OutcomeKind::cancelled);
  if (!in_lab()) return;  // no record of it is kept
  ASSERT_TRUE(ended.witness.has_value());
  EXPECT_EQ(ended.witness->phase, CancelPhase::completed);
}

TEST(ProgramTask, TSK_8_one_that_is_cancelled_only_because_it_awaited_a_cancelled_one_has_no_witness) {
  run_clean([](Cx cx) -> Task<void> {
    const auto body = [](Scope& scope) -> Task<void> {
      auto first = co_await scope.spawn(forever);
      const TaskId first_id = first.id();
      auto shared = std::make_shared<Handle<void>>(std::move(first));
      const auto joins = [shared](Cx inner) -> Task<void> { co_await std::move(*shared).join(inner); };
      auto second = co_await scope.fiber(joins);
      const TaskId second_id = second.id();
      co_await sleep(scope.cx(), ms(1));
      (void)cx::context_of(scope.cx())
          .root()
          ->port()
          .request_cancel(worker_under(scope.cx()), first_id, {.message = "the first"});
      co_await sleep(scope.cx(), ms(1));
      const auto has_ended = [&] { return state_of(scope.cx(), second_id) == TaskState::completed; };
      co_await catch_up(scope.cx(), has_ended);
      const auto end_of_second = [second_id](auto& kernel) { return kernel.outcome_of(second_id); };
      if (in_lab()) {  // on workers no record of it is kept
        EXPECT_EQ(with_kernel_of(scope.cx(), end_of_second), OutcomeKind::cancelled);
      }
      EXPECT_FALSE(witness_of(scope.cx(), second_id).has_value());
      const Outcome<void> end = co_await outcome(std::move(second).join(scope.cx()));
      EXPECT_TRUE(end.is_cancelled());
      if (end.is_cancelled()) {
        EXPECT_EQ(end.reason().message(), "the first");
      }
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
  });
}

// --- CAN-7 ---

TEST(ProgramCancel, CAN_7_a_look_changes_nothing_and_a_checkpoint_says_so_every_time) {
  Log log;
  const Ended ended = cancelled_after_a_millisecond([&log](Cx cx) -> Task<int> {
    const auto masked = [&log](Cx inner) -> Task<void> {
      co_await sleep(inner, ms(2));
      const auto is_cancelled = [inner] { return inner.is_cancelled(); };
      co_await catch_up(inner, is_cancelled);
      log.emplace_back(inner.is_cancelled() ? "seen" : "not seen");
    };
    co_await with_cancel_mask(cx, masked);
    EXPECT_EQ(state_of(cx, cx.task()), TaskState::cancel_requested);  // looking was not acknowledging
    for (int i = 0; i < 3; ++i) {
      const auto waits = [](Cx inner) -> Task<void> { co_await checkpoint(inner); };
      const Outcome<void> end = co_await outcome(waits(cx));
      log.emplace_back(end.is_cancelled() ? "cancelled" : "went on");
      EXPECT_EQ(state_of(cx, cx.task()), TaskState::cancelling);
    }
    const auto again = [](Cx inner) -> Task<void> { co_await checkpoint(inner); };
    co_await with_cancel_mask(cx, again);
    co_await commit_section(cx, again);
    log.emplace_back("masked again");
    const Outcome<void> slept = co_await outcome(forever(cx));
    log.emplace_back(slept.is_cancelled() ? "cancelled" : "slept");
    co_return 1;
  });
  EXPECT_EQ(log, (Log{"seen", "cancelled", "cancelled", "cancelled", "masked again", "cancelled"}));
  EXPECT_EQ(ended.kind, OutcomeKind::cancelled);  // CAN-9: it gave a value after it had acknowledged
}

TEST(ProgramCancel, CAN_7_a_request_made_in_the_same_poll_is_seen_at_the_next_wait) {
  Log log;
  run_clean([&log](Cx cx) -> Task<void> {
    const auto body = [&log](Scope& scope) -> Task<void> {
      const auto child = [&log](Cx inner) -> Task<void> {
        const auto waits = [](Cx at) -> Task<void> { co_await checkpoint(at); };
        co_await checkpoint(inner);
        if (in_lab()) {  // it need not look again; on workers there is a quicker way
          EXPECT_TRUE(worker_under(inner).is_clear());
        }
        cx::Port& port = cx::context_of(inner).root()->port();
        EXPECT_TRUE(port.request_cancel(worker_under(inner), inner.task(), {}));
        EXPECT_FALSE(worker_under(inner).is_clear());
        co_await with_cancel_mask(inner, waits);
        log.emplace_back("masked");
        const Outcome<void> end = co_await outcome(waits(inner));
        log.emplace_back(end.is_cancelled() ? "cancelled" : "went on");
      };
      auto handle = co_await scope.spawn(child);
      (void)co_await outcome(std::move(handle).join(scope.cx()));
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
  });
  EXPECT_EQ(log, (Log{"masked", "cancelled"}));
}

TEST(ProgramCancel, CAN_5_CAN_7_a_cancel_of_the_whole_region_in_the_same_poll_is_seen_at_the_next_wait) {
  Log log;
  run_clean([&log](Cx cx) -> Task<void> {
    const auto body = [&log](Scope& scope) -> Task<void> {
      const auto child = [&log, &scope](Cx inner) -> Task<void> {
        co_await checkpoint(inner);
        scope.cancel("all of us");
        const auto waits = [](Cx at) -> Task<void> { co_await checkpoint(at); };
        const Outcome<void> end = co_await outcome(waits(inner));
        log.emplace_back(end.is_cancelled() ? "cancelled" : "went on");
      };
      auto handle = co_await scope.spawn(child);
      (void)co_await outcome(std::move(handle).join(scope.cx()));
    };
    (void)co_await outcome(scope(cx, body));
  });
  EXPECT_EQ(log, (Log{"cancelled"}));
}

TEST(ProgramCancel, CAN_7_the_release_of_a_bracket_and_a_finalizer_do_not_see_it) {
  Log log;
  const Ended ended = cancelled_after_a_millisecond([&log](Cx cx) -> Task<int> {
    const auto acquire = [](Cx) -> Task<int> { co_return 1; };
    const auto use = [](Cx inner, int&) -> Task<void> { co_await forever(inner); };
    const auto release = [&log](Cx inner, int&) -> Task<void> {
      co_await checkpoint(inner);
      co_await sleep(inner, ms(1));
      log.emplace_back("released");
    };
    co_await bracket(cx, acquire, use, release);
    co_return 1;
  });
  EXPECT_EQ(log, (Log{"released"}));
  EXPECT_EQ(ended.kind, OutcomeKind::cancelled);
}

// --- CAN-9 ---

TEST(ProgramCancel, CAN_9_a_task_that_ends_before_it_acknowledges_keeps_its_end_and_has_no_witness) {
  const Ended ended = cancelled_after_a_millisecond([](Cx cx) -> Task<int> {
    const auto masked = [](Cx inner) -> Task<int> {
      co_await sleep(inner, ms(2));
      const auto is_cancelled = [inner] { return inner.is_cancelled(); };
      co_await catch_up(inner, is_cancelled);
      co_return 5;
    };
    co_return co_await with_cancel_mask(cx, masked);
  });
  EXPECT_EQ(ended.kind, OutcomeKind::ok);
  EXPECT_FALSE(ended.witness.has_value());
}

Task<void> acknowledges(Cx cx) {
  const Outcome<void> slept = co_await outcome(forever(cx));
  EXPECT_TRUE(slept.is_cancelled());
}

TEST(ProgramCancel, CAN_9_after_it_values_and_errors_become_cancelled_and_a_panic_stays) {
  const Ended value = cancelled_after_a_millisecond([](Cx cx) -> Task<int> {
    co_await acknowledges(cx);
    co_return 1;
  });
  EXPECT_EQ(value.kind, OutcomeKind::cancelled);
  EXPECT_EQ(value.reason.message(), "stop");
  EXPECT_TRUE(value.witness.has_value() || !in_lab());
  const Ended error = cancelled_after_a_millisecond([](Cx cx) -> Task<int> {
    co_await acknowledges(cx);
    co_return err(Errc::io);
  });
  EXPECT_EQ(error.kind, OutcomeKind::cancelled);
  const Ended panic = cancelled_after_a_millisecond([](Cx cx) -> Task<int> {
    co_await acknowledges(cx);
    throw std::runtime_error("boom");
    co_return 1;
  });
  EXPECT_EQ(panic.kind, OutcomeKind::panicked);
}

// --- CAN-12 ---

Task<void> mask_deeper(Cx cx, int levels, std::function<void()> at_bottom) {
  if (levels == 0) {
    at_bottom();
    co_await checkpoint(cx);
    co_return;
  }
  const CancelMask mask(cx);
  co_await mask_deeper(cx, levels - 1, at_bottom);
}

/// Gives: whether the bottom of so many masks was left by a cancel, and what the run had to say.
std::pair<bool, std::string> cancelled_under(int masks) {
  bool passed = false;
  const auto report = lab::run({}, [&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto cancels = [&scope] { scope.cancel(); };
      co_await mask_deeper(scope.cx(), masks, cancels);
      passed = true;
    };
    (void)co_await outcome(scope(cx, body));
  });
  return {passed, to_string(report)};
}

TEST(ProgramMask, CAN_12_masks_nest_sixty_four_deep_and_one_more_takes_them_off_and_is_reported) {
  const auto [held, quiet] = cancelled_under(kernel::mask_depth_max);
  EXPECT_TRUE(held);
  EXPECT_EQ(quiet.find("CAN-12"), std::string::npos) << quiet;
  const auto [too_deep, report] = cancelled_under(kernel::mask_depth_max + 1);
  EXPECT_FALSE(too_deep);
  EXPECT_NE(report.find("CAN-12"), std::string::npos) << report;
}

TEST(ProgramMask, CAN_12_a_mask_holds_a_thousand_polls_and_is_then_taken_off_and_reported) {
  int rounds = 0;
  const auto report = lab::run({}, [&rounds](Cx cx) -> Task<void> {
    const auto body = [&rounds](Scope& scope) -> Task<void> {
      const auto long_one = [&](Cx inner) -> Task<void> {
        scope.cancel();
        for (;; ++rounds) co_await yield(inner);
      };
      co_await commit_section(scope.cx(), long_one);
    };
    (void)co_await outcome(scope(cx, body));
  });
  EXPECT_EQ(rounds, kernel::mask_polls_max);
  EXPECT_NE(to_string(report).find("CAN-12"), std::string::npos) << to_string(report);
}

// --- CAN-13 ---

/// How each wait is left when its task is cancelled at one millisecond: at once.
template <class F>
void expect_to_wake_at_once(F waits) {
  Time woke;
  const Ended ended = cancelled_after_a_millisecond([&woke, waits](Cx cx) -> Task<int> {
    const Outcome<void> end = co_await outcome(waits(cx));
    EXPECT_TRUE(end.is_cancelled());
    woke = cx.now();
    co_return 1;
  });
  EXPECT_TRUE(comes_at(woke, at_ms(1)));
  EXPECT_EQ(ended.kind, OutcomeKind::cancelled);
}

TEST(ProgramCancel, CAN_13_a_cancel_wakes_a_sleep) { expect_to_wake_at_once(forever); }

TEST(ProgramCancel, CAN_13_a_cancel_wakes_a_join) {
  expect_to_wake_at_once([](Cx cx) -> Task<void> {
    const auto body = [](Scope& scope) -> Task<void> {
      auto child = co_await scope.spawn(forever);
      co_await std::move(child).join(scope.cx());
    };
    co_await scope(cx, body);
  });
}

TEST(ProgramCancel, CAN_13_a_cancel_wakes_a_scope_that_waits_for_its_children) {
  expect_to_wake_at_once([](Cx cx) -> Task<void> {
    const auto body = [](Scope& scope) -> Task<void> {
      auto child = co_await scope.spawn(forever);
      auto other = co_await scope.fiber(forever);
    };
    co_await scope(cx, body);
  });
}

TEST(ProgramCancel, CAN_13_a_cancel_of_an_outer_scope_wakes_what_is_parked_far_below) {
  Time left;
  run_clean([&left](Cx cx) -> Task<void> {
    const auto outer = [](Scope& scope) -> Task<void> {
      const auto nests = [](Cx one) -> Task<void> {
        const auto inner = [](Scope& below) -> Task<void> {
          auto child = co_await below.spawn(forever);
          co_await forever(below.cx());
        };
        co_await calm::scope(one, inner);
      };
      auto child = co_await scope.spawn(nests);
      co_await sleep(scope.cx(), ms(1));
      scope.cancel();
    };
    const Outcome<void> end = co_await outcome(scope(cx, outer));
    EXPECT_TRUE(end.is_cancelled());
    left = cx.now();
  });
  EXPECT_TRUE(comes_at(left, at_ms(1)));
}

// --- BUD ---

TEST(ProgramBudget, BUD_5_a_task_with_a_quota_runs_so_many_polls_and_then_on_its_clean_up_budget) {
  for (std::uint64_t quota = 1; quota <= 4; ++quota) {
    std::uint64_t polls = 0;
    run_clean([&](Cx cx) -> Task<void> {
      const auto body = [&](Scope& scope) -> Task<void> {
        const auto child = [&polls](Cx inner) -> Task<void> {
          for (;;) {
            ++polls;
            co_await yield(inner);
          }
        };
        auto handle = co_await scope.spawn(TaskOptions{.budget = {.polls = Quota(quota)}}, child);
        const Outcome<void> end = co_await outcome(std::move(handle).join(scope.cx()));
        EXPECT_TRUE(end.is_cancelled());
        if (end.is_cancelled()) {
          EXPECT_EQ(end.reason().kind(), CancelKind::poll_quota);
          EXPECT_EQ(end.reason().cleanup().polls, Quota(300));
        }
      };
      (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
    });
    EXPECT_EQ(polls, quota);
  }
}

TEST(ProgramBudget, BUD_3_what_is_asked_for_never_widens_what_there_is) {
  run_clean([](Cx cx) -> Task<void> {
    const Budget tight{.deadline = at_ms(50'000), .polls = Quota(40), .cost = Quota(30), .priority = 20};
    const Budget wide{.deadline = at_ms(5'000'000), .polls = Quota(4000), .cost = Quota(3000), .priority = 2};
    const auto narrowed = cx.with_budget(tight);
    EXPECT_EQ(narrowed.with_budget(wide).budget(), tight);
    const auto body = [&](Scope& scope) -> Task<void> {
      EXPECT_TRUE(within(scope.cx().budget(), tight));
      const auto child = [tight](Cx inner) -> Task<void> {
        EXPECT_TRUE(within(inner.budget(), tight)) << to_string(inner.budget());
        EXPECT_EQ(inner.budget().priority, 20);
        co_return;
      };
      auto handle = co_await scope.spawn(TaskOptions{.budget = wide}, child);
      co_await std::move(handle).join(scope.cx());
    };
    co_await scope(Cx(narrowed), body, {.budget = wide});
  });
}

TEST(ProgramBudget, BUD_6_a_deadline_leaves_the_priority_of_children_alone) {
  run_clean([](Cx cx) -> Task<void> {
    const auto loud = cx.with_budget({.priority = 7});
    const auto late = loud.with_deadline(at_ms(10'000));
    const auto body = [](Scope& scope) -> Task<void> {
      const auto child = [](Cx inner) -> Task<void> {
        EXPECT_EQ(inner.budget().priority, 7);
        EXPECT_EQ(inner.budget().deadline, Deadline(at_ms(10'000)));
        co_return;
      };
      auto handle = co_await scope.spawn(child);
      co_await std::move(handle).join(scope.cx());
    };
    co_await scope(Cx(late), body);
  });
}

TEST(ProgramBudget, BUD_5_OUT_4_a_task_whose_own_deadline_ends_it_fails_its_scope_like_an_error) {
  run_clean([](Cx cx) -> Task<void> {
    const auto body = [](Scope& scope) -> Task<void> {
      auto slow = co_await scope.spawn(TaskOptions{.budget = {.deadline = at_ms(3)}}, forever);
      auto sibling = co_await scope.spawn(forever);
      co_await forever(scope.cx());
    };
    const Outcome<void> end = co_await outcome(scope(cx, body));
    EXPECT_TRUE(end.is_cancelled());
    if (end.is_cancelled()) {
      EXPECT_EQ(end.reason().kind(), CancelKind::deadline);
    }
    EXPECT_TRUE(comes_at(cx.now(), at_ms(3)));  // FailFast stopped the others
  });
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
