// Room cx on several workers: fibers, and callbacks from elsewhere.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>

#include "calm/cx/from_callback.hpp"
#include "tests/unit/runtime/shared_by.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)
// NOLINTBEGIN(cppcoreguidelines-avoid-const-or-ref-data-members)

class SharedCx : public SharedBy {};
INSTANTIATE_TEST_SUITE_P(Workers, SharedCx, some_workers(), name_of_workers);

Task<void> stays(Cx cx, std::thread::id home, std::atomic<int>* strayed) {
  for (int i = 0; i < 20; ++i) {
    if (std::this_thread::get_id() != home) ++*strayed;
    co_await yield(cx);
  }
}
Task<void> fibers_in(Scope& scope, std::atomic<int>* strayed) {
  const std::thread::id home = std::this_thread::get_id();
  for (int i = 0; i < 3; ++i) (void)co_await scope.fiber(stays, home, strayed);
  co_await stays(scope.cx(), home, strayed);
}
struct FiberBody {
  std::atomic<int>* strayed;
  CALM_CORO_WRAPPER Task<void> operator()(Scope& scope) const { return fibers_in(scope, strayed); }
};
struct HasFibers {
  std::atomic<int>& strayed;
  Task<void> operator()(Cx cx, int number) const {
    for (int i = 0; i < 5; ++i) {
      const FiberBody body{&strayed};
      co_await scope(cx, body);
      co_await give_way(cx, number);
    }
  }
};
Task<int> fibers_stay(Cx cx) {
  std::atomic<int> strayed{0};
  const Crowd crowd{8, HasFibers{strayed}};
  co_await scope(cx, crowd);
  co_return strayed.load();
}
TEST_P(SharedCx, TSK_4_fibers_and_their_owner_stay_on_one_worker) {
  const Outcome<int> strayed = run_program(fibers_stay);
  ASSERT_TRUE(strayed.is_ok()) << to_string(strayed);
  EXPECT_EQ(strayed.value(), 0);
}

struct CallsBack {
  Task<void> operator()(Cx cx, int number) const {
    const auto body = [number](Scope& scope) -> Task<void> {
      for (int i = 0; i < 20; ++i) {
        const auto start = [&scope, i](Completion<int> done) { (void)scope.spawn(&call, std::move(done), i); };
        const int got = co_await from_callback<int>(scope.cx(), start, waits_on, drops_late);
        if (got != i) co_await fail(Errc::conflict);
        co_await give_way(scope.cx(), i + number);
      }
    };
    co_await scope(cx, body);
  }
  static Task<void> call(Cx /*cx*/, Completion<int> done, int value) {
    done(value);
    co_return;
  }
};
Task<void> called_back(Cx cx) {
  const Crowd crowd{4, CallsBack{}};
  co_await scope(cx, crowd);
}
TEST_P(SharedCx, I4_a_callback_from_another_worker_ends_the_wait) {
  const Outcome<void> end = run_program(called_back);
  EXPECT_TRUE(end.is_ok()) << to_string(end);
}

// NOLINTEND(cppcoreguidelines-avoid-const-or-ref-data-members)
// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace
}  // namespace calm
