// Foreign awaitables: what a cancel does to them is said where they are awaited.
#include "calm/cx/adapt.hpp"

#include <gtest/gtest.h>

#include <coroutine>
#include <functional>
#include <stdexcept>
#include <utility>

#include "calm/cx/scope.hpp"
#include "calm/lab/lab.hpp"
#include "tests/unit/cx/in_lab.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

/// An operation of some other library: it resumes whoever waits, when somebody ends it.
class Operation {
 public:
  struct Awaiter {
    Operation& operation;
    [[nodiscard]] bool await_ready() const noexcept { return operation.ended_; }
    void await_suspend(std::coroutine_handle<> waiting) const noexcept { operation.waiting_ = waiting; }
    int await_resume() const {
      if (operation.aborted_) throw std::runtime_error("operation aborted");
      return operation.value_;
    }
  };
  struct Wait {
    Operation* operation;
    Awaiter operator co_await() const noexcept { return {*operation}; }
  };

  Wait wait() { return {this}; }
  void end(int value) {
    value_ = value;
    ended_ = true;
    if (waiting_) std::exchange(waiting_, {}).resume();
  }
  void abort() {
    aborted_ = true;
    end(0);
  }
  [[nodiscard]] bool has_waiter() const noexcept { return bool(waiting_); }

 private:
  std::coroutine_handle<> waiting_;
  int value_ = 0;
  bool ended_ = false;
  bool aborted_ = false;
};

Task<int> waits_for(Cx cx, Operation& operation) {
  const int value = co_await adapt(cx, operation.wait(), waits_on);
  co_return value;
}
Task<int> stops(Cx cx, Operation& operation) {
  const int value = co_await adapt(cx, operation.wait(), stops_with([&operation] { operation.abort(); }));
  co_return value;
}

TEST(Adapt, gives_the_value_of_an_operation_that_has_ended_or_ends_later) {
  Operation early;
  Operation late;
  early.end(1);
  run_well([&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      auto first = co_await scope.fiber(waits_for, std::ref(early));
      auto second = co_await scope.fiber(waits_for, std::ref(late));
      co_await sleep(scope.cx(), ms(3));
      EXPECT_TRUE(late.has_waiter());
      late.end(2);
      const int one = co_await std::move(first).join(scope.cx());
      const int two = co_await std::move(second).join(scope.cx());
      EXPECT_EQ(one + two, 3);
    };
    co_await scope(cx, body);
  });
}

TEST(Adapt, CAN_13_a_cancel_stops_an_operation_that_can_be_stopped) {
  Operation operation;
  run_well([&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      auto child = co_await scope.fiber(stops, std::ref(operation));
      co_await sleep(scope.cx(), ms(1));
      child.cancel();
      const Outcome<int> end = co_await outcome(std::move(child).join(scope.cx()));
      EXPECT_TRUE(end.is_cancelled());
      EXPECT_FALSE(operation.has_waiter());
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
  });
}

TEST(Adapt, CAN_7_one_that_is_waited_for_gives_its_value_and_the_next_checkpoint_sees_the_cancel) {
  Operation operation;
  int seen = 0;
  bool went_on = false;
  run_well([&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto work = [&](Cx inner) -> Task<int> {
        seen = co_await adapt(inner, operation.wait(), waits_on);
        co_await checkpoint(inner);
        went_on = true;
        co_return 0;
      };
      auto child = co_await scope.fiber(work);
      co_await sleep(scope.cx(), ms(1));
      child.cancel();
      co_await sleep(scope.cx(), ms(1));
      EXPECT_TRUE(operation.has_waiter());
      operation.end(7);
      const Outcome<int> end = co_await outcome(std::move(child).join(scope.cx()));
      EXPECT_TRUE(end.is_cancelled());
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
  });
  EXPECT_EQ(seen, 7);
  EXPECT_FALSE(went_on);
}

TEST(Adapt, CAN_8_a_forced_end_leaves_the_operation_behind_and_touches_nothing_of_the_task) {
  Operation operation;
  run_well([&](Cx cx) -> Task<void> {
    const auto body = [&](Scope& scope) -> Task<void> {
      auto child = co_await scope.fiber(waits_for, std::ref(operation));
      co_await sleep(scope.cx(), ms(1));
      child.cancel();
      const Outcome<int> end = co_await outcome(std::move(child).join(scope.cx()));
      EXPECT_TRUE(end.is_cancelled());
    };
    const ScopeOptions options{.policy = FoldPolicy::collect, .cleanup_time = cleanup_time_here()};
    (void)co_await outcome(scope(cx, body, options));
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(1) + cleanup_time_here()));
    EXPECT_TRUE(operation.has_waiter());
    operation.end(1);  // wakes nobody, and its coroutine ends itself
  });
}

TEST(Adapt, throws_what_the_operation_throws) {
  Operation operation;
  operation.abort();
  run_well([&](Cx cx) -> Task<void> {
    const Outcome<int> end = co_await outcome(waits_for(cx, operation));
    EXPECT_TRUE(end.is_panicked());
  });
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
