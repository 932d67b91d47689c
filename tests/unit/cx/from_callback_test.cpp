// Operations that end with a call: called once, never, twice, too late; nothing that they bring is lost.
#include "calm/cx/from_callback.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "calm/cx/scope.hpp"
#include "calm/lab/everywhere.hpp"
#include "calm/lab/explore.hpp"
#include "calm/lab/gtest.hpp"
#include "calm/lab/lab.hpp"
#include "calm/lab/shared.hpp"
#include "tests/unit/cx/in_lab.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

/// A library with callbacks: it keeps the one it was given.
template <class T>
struct Radio {
  std::optional<Completion<T>> done;
  int started = 0;
  int stopped = 0;
  int heard = 0;
  std::vector<int> late;

  bool switched_off = false;

  void start(Completion<T> token) {
    ++started;
    if (!switched_off) done.emplace(std::move(token));
  }
  void switch_off() {
    switched_off = true;
    done.reset();
  }
};
using IntRadio = Radio<int>;

enum class OnCancelOf : std::uint8_t { waits, stops, leaves };

/// Gives: what came.
Task<int> hear(Cx cx, IntRadio& radio, OnCancelOf how) {
  const auto start = [cx, &radio](Completion<int> done) {
    lab::touch(cx, "radio", trace::Access::write);
    radio.start(std::move(done));
  };
  const auto keep_late = late_to([&radio](int value) { radio.late.push_back(value); });
  int value = 0;
  if (how == OnCancelOf::waits) {
    value = co_await from_callback<int>(cx, start, waits_on, keep_late);
  } else if (how == OnCancelOf::stops) {
    const auto stop = stops_with([cx, &radio] {
      lab::touch(cx, "radio", trace::Access::write);
      ++radio.stopped;
      radio.done.reset();
    });
    value = co_await from_callback<int>(cx, start, stop, keep_late);
  } else {
    const auto leave = leaves_with([&radio] { ++radio.stopped; });
    value = co_await from_callback<int>(cx, start, leave, keep_late);
  }
  radio.heard = value;
  co_return value;
}

/// Runs hear() as a child; `meanwhile(handle)` after it has begun. Gives: how it ended.
template <class F>
Outcome<int> hear_while(IntRadio& radio, OnCancelOf how, F meanwhile) {
  Outcome<int> end = err(Errc::empty);
  run_well([&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      auto child = co_await scope.fiber(hear, std::ref(radio), how);
      co_await sleep(scope.cx(), ms(1));
      EXPECT_EQ(radio.started, 1);
      meanwhile(child);
      end = co_await outcome(std::move(child).join(scope.cx()));
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
    radio.done.reset();
  });
  return end;
}

TEST(FromCallback, gives_what_the_token_is_called_with_later) {
  IntRadio radio;
  const Outcome<int> end =
      hear_while(radio, OnCancelOf::waits, [&radio](Handle<int>&) { EXPECT_TRUE((*radio.done)(7)); });
  EXPECT_EQ(end.value(), 7);
  EXPECT_TRUE(radio.late.empty());
}

TEST(FromCallback, gives_what_the_token_is_called_with_at_once_move_only_or_nothing) {
  run_well([](Cx cx) -> Task<void> {
    const auto give = [](Completion<std::unique_ptr<int>> done) { EXPECT_TRUE(done(std::make_unique<int>(3))); };
    const std::unique_ptr<int> value = co_await from_callback<std::unique_ptr<int>>(cx, give, waits_on, drops_late);
    EXPECT_EQ(*value, 3);
    const auto ring = [](const Completion<void>& done) { EXPECT_TRUE(done()); };
    co_await from_callback<void>(cx, ring, waits_on, drops_late);
  });
}

TEST(FromCallback, I4_never_called_and_dropped_is_an_error_that_says_so) {
  IntRadio radio;
  const Outcome<int> end = hear_while(radio, OnCancelOf::waits, [&radio](Handle<int>&) { radio.done.reset(); });
  ASSERT_TRUE(end.is_err());
  EXPECT_EQ(end.error().code(), Errc::disconnected);
  EXPECT_NE(end.error().message().find("all its tokens are gone"), std::string_view::npos);
}

TEST(FromCallback, CAN_13_never_called_and_kept_waits_until_a_cancel_that_leaves) {
  IntRadio radio;
  const Outcome<int> end = hear_while(radio, OnCancelOf::leaves, [](Handle<int>& child) { child.cancel(); });
  EXPECT_TRUE(end.is_cancelled());
  EXPECT_EQ(radio.stopped, 1);
}

TEST(FromCallback, I4_a_second_call_says_false_and_its_result_goes_to_the_hook) {
  IntRadio radio;
  const Outcome<int> end = hear_while(radio, OnCancelOf::waits, [&radio](Handle<int>&) {
    const Completion<int> copy = *radio.done;
    EXPECT_TRUE((*radio.done)(1));
    EXPECT_FALSE(copy(2));
  });
  EXPECT_EQ(end.value(), 1);
  EXPECT_EQ(radio.late, std::vector{2});
}

TEST(FromCallback, I4_a_call_after_the_waiter_was_cancelled_goes_to_the_hook) {
  IntRadio radio;
  run_well([&radio](Cx cx) -> Task<void> {
    const auto body = [&radio](Scope& scope) -> Task<void> {
      auto child = co_await scope.fiber(hear, std::ref(radio), OnCancelOf::leaves);
      co_await sleep(scope.cx(), ms(1));
      child.cancel();
      const Outcome<int> end = co_await outcome(std::move(child).join(scope.cx()));
      EXPECT_TRUE(end.is_cancelled());
      EXPECT_FALSE((*radio.done)(9));
      radio.done.reset();
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
  });
  EXPECT_EQ(radio.late, std::vector{9});
}

TEST(FromCallback, CAN_7_a_cancel_before_the_start_starts_nothing) {
  IntRadio radio;
  run_well([&radio](Cx cx) -> Task<void> {
    const auto body = [&radio](Scope& scope) -> Task<void> {
      auto child = co_await scope.fiber(hear, std::ref(radio), OnCancelOf::waits);
      child.cancel();
      const Outcome<int> end = co_await outcome(std::move(child).join(scope.cx()));
      EXPECT_TRUE(end.is_cancelled());
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
  });
  EXPECT_EQ(radio.started, 0);
}

TEST(FromCallback, CAN_13_an_operation_that_stops_by_dropping_its_token_ends_as_cancelled) {
  IntRadio radio;
  const Outcome<int> end = hear_while(radio, OnCancelOf::stops, [](Handle<int>& child) { child.cancel(); });
  EXPECT_TRUE(end.is_cancelled());
  EXPECT_EQ(radio.stopped, 1);
}

TEST(FromCallback, CAN_7_a_result_that_came_before_or_because_of_the_cancel_is_given) {
  for (const OnCancelOf how : {OnCancelOf::waits, OnCancelOf::stops, OnCancelOf::leaves}) {
    IntRadio radio;
    (void)hear_while(radio, how, [&radio](Handle<int>& child) {
      EXPECT_TRUE((*radio.done)(4));
      child.cancel();
    });
    EXPECT_TRUE(radio.late.empty());
    EXPECT_EQ(radio.stopped, 0);
    EXPECT_EQ(radio.heard, 4);
  }
  int heard = 0;
  run_well([&heard](Cx cx) -> Task<void> {
    const auto body = [&heard](Scope& scope) -> Task<void> {
      const auto work = [&heard](Cx inner) -> Task<void> {
        std::optional<Completion<int>> kept;
        const auto start = [&kept](Completion<int> done) { kept.emplace(std::move(done)); };
        const auto stop = stops_with([&kept] { EXPECT_TRUE((*kept)(5)); });
        heard = co_await from_callback<int>(inner, start, stop, drops_late);
      };
      auto child = co_await scope.fiber(work);
      co_await sleep(scope.cx(), ms(1));
      child.cancel();
      (void)co_await outcome(std::move(child).join(scope.cx()));
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
  });
  EXPECT_EQ(heard, 5);
}

TEST(FromCallback, CAN_8_a_forced_end_hands_what_comes_later_to_the_hook) {
  IntRadio radio;
  run_well([&radio](Cx cx) -> Task<void> {
    const auto body = [&radio](Scope& scope) -> Task<void> {
      auto child = co_await scope.fiber(hear, std::ref(radio), OnCancelOf::waits);
      co_await sleep(scope.cx(), ms(1));
      child.cancel();
      const Outcome<int> end = co_await outcome(std::move(child).join(scope.cx()));
      EXPECT_TRUE(end.is_cancelled());
    };
    const ScopeOptions options{.policy = FoldPolicy::collect, .cleanup_time = cleanup_time_here()};
    (void)co_await outcome(scope(cx, body, options));
    EXPECT_FALSE((*radio.done)(6));
    radio.done.reset();
  });
  EXPECT_EQ(radio.late, std::vector{6});
}

TEST(FromCallback, a_start_that_throws_ends_the_wait_with_it_and_what_it_had_called_is_late) {
  std::vector<int> late;
  run_well([&late](Cx cx) -> Task<void> {
    const auto work = [&late](Cx inner) -> Task<int> {
      const auto start = [](const Completion<int>& done) {
        EXPECT_TRUE(done(8));
        throw std::runtime_error("no antenna");
      };
      const auto keep_late = late_to([&late](int value) { late.push_back(value); });
      const int value = co_await from_callback<int>(inner, start, waits_on, keep_late);
      co_return value;
    };
    const Outcome<int> end = co_await outcome(work(cx));
    EXPECT_TRUE(end.is_panicked());
  });
  EXPECT_EQ(late, std::vector{8});
}

// --- every schedule ---

/// One waits, one calls, one cancels: what was sent was heard or is late, and whoever calls knows which.
struct ExploredCall {
  OnCancelOf how;
  bool cancel;
  bool twice;

  Task<void> operator()(Cx cx) const {
    IntRadio radio;
    int heard = 0;
    int taken = 0;
    int sent = 0;
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto listens = [&](Cx inner) -> Task<void> { heard = co_await hear(inner, radio, how); };
      const auto calls = [&](Cx inner) -> Task<void> {
        for (int i = 0; i < (twice ? 2 : 1); ++i) {
          co_await yield(inner);
          lab::touch(inner, "radio", trace::Access::read);
          if (!radio.done) continue;  // not begun, or stopped already
          const Completion<int> done = *radio.done;
          ++sent;
          if (done(sent)) taken = sent;
        }
      };
      auto listener = co_await scope.fiber(listens);
      auto caller = co_await scope.fiber(calls);
      if (cancel) {
        const auto cancels = [&listener](Cx /*inner*/) -> Task<void> {
          listener.cancel();
          co_return;
        };
        auto canceller = co_await scope.fiber(cancels);
        co_await std::move(canceller).join(scope.cx());
      }
      (void)co_await outcome(std::move(caller).join(scope.cx()));
      lab::touch(scope.cx(), "radio", trace::Access::write);
      radio.switch_off();  // who waits still, or begins after this, hears nothing
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
    if (heard != taken) throw std::logic_error("a result that was taken was not heard");
    if (sent != (heard == 0 ? 0 : 1) + static_cast<int>(radio.late.size())) throw std::logic_error("a result is lost");
  }
};

TEST(FromCallbackExplored, I4_every_result_is_heard_or_late_in_every_schedule) {
  for (const OnCancelOf how : {OnCancelOf::waits, OnCancelOf::stops, OnCancelOf::leaves}) {
    for (const bool cancel : {false, true}) {
      for (const bool twice : {false, true}) {
        const ExploredCall program{how, cancel, twice};
        const lab::ExploreReport report = lab::explore(program);
        EXPECT_TRUE(report.exhausted()) << report;
        EXPECT_TRUE(report.ok()) << report;
      }
    }
  }
}

TEST(FromCallbackExplored, CAN_13_I4_every_result_is_heard_or_late_with_a_cancel_at_any_await_point) {
  for (const OnCancelOf how : {OnCancelOf::waits, OnCancelOf::stops, OnCancelOf::leaves}) {
    for (const bool cancel : {false, true}) {
      for (const bool twice : {false, true}) {
        const ExploredCall program{how, cancel, twice};
        EXPECT_LAB_CLEAN(lab::cancel_everywhere({}, program));
      }
    }
  }
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
