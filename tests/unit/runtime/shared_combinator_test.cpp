// Room combinator on several workers: values come, limits hold, and no branch is left behind.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "calm/combinator/bulkhead.hpp"
#include "calm/combinator/circuit_breaker.hpp"
#include "calm/combinator/hedge.hpp"
#include "calm/combinator/join.hpp"
#include "calm/combinator/map_reduce.hpp"
#include "calm/combinator/pipeline.hpp"
#include "calm/combinator/race.hpp"
#include "calm/combinator/rate_limiter.hpp"
#include "calm/combinator/retry.hpp"
#include "calm/cx/wait_outcome.hpp"
#include "tests/unit/runtime/shared_by.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)
// NOLINTBEGIN(cppcoreguidelines-avoid-const-or-ref-data-members)

class SharedCombinator : public SharedBy {};
INSTANTIATE_TEST_SUITE_P(Workers, SharedCombinator, some_workers(), name_of_workers);

Task<int> number_after(Cx cx, int value, int yields) {
  for (int i = 0; i < yields; ++i) co_await yield(cx);
  co_return value;
}
Task<int> doubled(Cx cx, int value) {
  co_await yield(cx);
  co_return 2 * value;
}
struct Combines {
  std::atomic<int>& wrong;
  Task<void> operator()(Cx cx, int number) const {
    for (int i = 0; i < 5; ++i) {
      auto both = co_await join(cx, number_after(cx, number, 3), number_after(cx, i, 1));
      if (std::get<0>(both) != number || std::get<1>(both) != i) ++wrong;
      const int first = co_await race(cx, number_after(cx, 1, 50), number_after(cx, 2, 1));
      if (first != 2 && first != 1) ++wrong;
      std::vector<int> inputs(6, 1);
      const Monoid sum{0, std::plus<>()};
      const int total = co_await map_reduce(cx, std::move(inputs), doubled, sum, {.parallel = 2});
      if (total != 12) ++wrong;
      co_await yield(cx);
    }
  }
};
Task<int> combined(Cx cx) {
  std::atomic<int> wrong{0};
  const Crowd crowd{8, Combines{wrong}};
  co_await scope(cx, crowd);
  co_return wrong.load();
}
TEST_P(SharedCombinator, COM_1_combinators_in_many_tasks_come_to_their_values) {
  const Outcome<int> wrong = run_program(combined);
  ASSERT_TRUE(wrong.is_ok()) << to_string(wrong);
  EXPECT_EQ(wrong.value(), 0);
}

// --- attempts ---

/// Fails twice, whoever asks; then it gives its number.
struct FailsTwice {
  int* attempts;
  Task<int> operator()(Cx cx, int number) const {
    co_await yield(cx);
    if (++*attempts <= 2) co_await fail(Errc::busy);
    co_return number;
  }
};
struct Retries {
  std::atomic<int>& wrong;
  Task<void> operator()(Cx cx, int number) const {
    const Retry patient{.backoff = Backoff::fixed(Duration::microseconds(50)), .attempts = 4};
    for (int i = 0; i < 10; ++i) {
      int attempts = 0;
      const FailsTwice flaky{&attempts};
      const int value = co_await retry(cx, patient, flaky, number);
      if (value != number || attempts != 3) ++wrong;
    }
  }
};
Task<int> retried(Cx cx) {
  std::atomic<int> wrong{0};
  const Crowd crowd{8, Retries{wrong}};
  co_await scope(cx, crowd);
  co_return wrong.load();
}
TEST_P(SharedCombinator, COM_1_a_retry_goes_on_until_it_has_its_value_wherever_its_task_is) {
  const Outcome<int> wrong = run_program(retried);
  ASSERT_TRUE(wrong.is_ok()) << to_string(wrong);
  EXPECT_EQ(wrong.value(), 0);
}

/// Counts who is in it, so that it can be told when somebody was left behind.
class Inside {
 public:
  explicit Inside(std::atomic<int>& count) noexcept : count_(count) { ++count_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { --count_; }

 private:
  std::atomic<int>& count_;
};
/// The first attempt waits for ever, the others give a value.
struct AnswersLater {
  std::atomic<int>* inside;
  std::atomic<int>* asked;
  Task<int> operator()(Cx cx, int number) const {
    const Inside here(*inside);
    if (asked->fetch_add(1) == 0) co_await sleep(cx, Duration::seconds(1000));
    co_await yield(cx);
    co_return number;
  }
};
struct Hedges {
  std::atomic<int>& wrong;
  Task<void> operator()(Cx cx, int number) const {
    for (int i = 0; i < 5; ++i) {
      std::atomic<int> inside{0};
      std::atomic<int> asked{0};
      const AnswersLater slow_first{&inside, &asked};
      const Hedge three{.delay = Duration::microseconds(100), .attempts = 3};
      const int value = co_await hedge(cx, three, slow_first, number);
      if (value != number || inside != 0 || asked < 2) ++wrong;
    }
  }
};
Task<int> hedged(Cx cx) {
  std::atomic<int> wrong{0};
  const Crowd crowd{8, Hedges{wrong}};
  co_await scope(cx, crowd);
  co_return wrong.load();
}
TEST_P(SharedCombinator, I5_a_hedge_gives_a_value_and_leaves_no_attempt_behind) {
  const Outcome<int> wrong = run_program(hedged);
  ASSERT_TRUE(wrong.is_ok()) << to_string(wrong);
  EXPECT_EQ(wrong.value(), 0);
}

// --- flow ---

Task<int> squares(Cx cx, int number) {
  co_await give_way(cx, number);
  co_return number* number;
}
struct AddsUp {
  std::atomic<int>* sum;
  Task<void> operator()(Cx cx, int number) const {
    *sum += number;
    co_await give_way(cx, number);
  }
};
struct Flows {
  std::atomic<int>& wrong;
  Task<void> operator()(Cx cx, int number) const {
    const PipelineOptions options{.capacity = 2};
    const StageOptions wide{.parallel = 3};
    for (int i = 0; i < 5; ++i) {
      std::atomic<int> sum{0};
      std::vector<int> numbers{1, 2, 3, 4, 5, 6, 7, 8, number};
      co_await pipeline(cx, options, from(std::move(numbers)), each(squares, wide), each(AddsUp{&sum}));
      if (sum != 204 + number * number) ++wrong;
    }
  }
};
Task<int> flowed(Cx cx) {
  std::atomic<int> wrong{0};
  const Crowd crowd{6, Flows{wrong}};
  co_await scope(cx, crowd);
  co_return wrong.load();
}
TEST_P(SharedCombinator, COM_1_what_goes_into_a_pipeline_comes_out_of_it_once) {
  const Outcome<int> wrong = run_program(flowed);
  ASSERT_TRUE(wrong.is_ok()) << to_string(wrong);
  EXPECT_EQ(wrong.value(), 0);
}

// --- guards ---

struct Counts {
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::atomic<int> done{0};
  std::atomic<int> refused{0};
  std::atomic<int> wrong{0};
};
struct WorksInside {
  Counts* counts;
  Task<int> operator()(Cx cx, int number) const {
    const Inside here(counts->inside);
    int most = counts->most;
    while (most < counts->inside && !counts->most.compare_exchange_weak(most, counts->inside)) {
    }
    co_await give_way(cx, number);
    co_return number;
  }
};
struct CallsBulkhead {
  Bulkhead& bulkhead;
  Counts& counts;
  Task<void> operator()(Cx cx, int number) const {
    const WorksInside work{&counts};
    for (int i = 0; i < 50; ++i) {
      const Outcome<int> end = co_await outcome(bulkhead.call(cx, work, number + i));
      if (end.is_ok()) {
        ++(end.value() == number + i ? counts.done : counts.wrong);
      } else {
        ++(end.is_err() && end.error().code() == Errc::full ? counts.refused : counts.wrong);
        co_await yield(cx);
      }
    }
  }
};
Task<int> guarded_by_bulkhead(Cx cx) {
  Counts counts;
  Bulkhead bulkhead(cx, {.limit = 2, .waiting = 3});
  const Crowd crowd{8, CallsBulkhead{bulkhead, counts}};
  co_await scope(cx, crowd);
  const bool quiet = bulkhead.inside() == 0 && bulkhead.waiting() == 0 && counts.inside == 0;
  if (!quiet || counts.most > 2 || counts.wrong != 0 || counts.done == 0) co_return -1;
  co_return counts.done + counts.refused;
}
TEST_P(SharedCombinator, CHN_12_no_more_calls_are_in_a_bulkhead_than_it_lets_in) {
  const Outcome<int> calls = run_program(guarded_by_bulkhead);
  ASSERT_TRUE(calls.is_ok()) << to_string(calls);
  EXPECT_EQ(calls.value(), 400);
}

struct TakesTokens {
  RateLimiter& limiter;
  std::atomic<int>& taken;
  Task<void> operator()(Cx cx, int number) const {
    for (int i = 0; i < 10; ++i) {
      const std::uint32_t tokens = 1 + static_cast<std::uint32_t>(i + number) % 2;
      co_await limiter.acquire(cx, tokens);
      taken += static_cast<int>(tokens);
    }
  }
};
/// Gives: the tokens that were taken; none when they came faster than the limiter may give them.
Task<int> limited(Cx cx) {
  std::atomic<int> taken{0};
  RateLimiter limiter(cx, {.tokens = 1, .per = Duration::microseconds(20), .burst = 20});
  const Time start = cx.now();
  const Crowd crowd{8, TakesTokens{limiter, taken}};
  co_await scope(cx, crowd);
  const Duration least = Duration::microseconds(std::int64_t{20} * (taken - 20));
  co_return cx.now() - start >= least ? taken.load() : 0;
}
TEST_P(SharedCombinator, CHN_12_a_rate_limiter_gives_everybody_tokens_and_never_too_many) {
  const Outcome<int> taken = run_program(limited);
  ASSERT_TRUE(taken.is_ok()) << to_string(taken);
  EXPECT_EQ(taken.value(), 120);
}

/// Fails while `broken`.
struct AsksService {
  std::atomic<bool>* broken;
  std::atomic<int>* asked;
  Task<int> operator()(Cx cx) const {
    ++*asked;
    co_await yield(cx);
    if (*broken) co_await fail(Errc::io);
    co_return 1;
  }
};
struct CallsBreaker {
  CircuitBreaker& breaker;
  std::atomic<bool>& broken;
  Counts& counts;
  Task<void> operator()(Cx cx, int /*number*/) const {
    const AsksService service{&broken, &counts.inside};
    for (int i = 0; i < 20; ++i) {
      const Outcome<int> end = co_await outcome(breaker.call(cx, service));
      if (end.is_ok()) {
        ++counts.done;
      } else if (end.is_err() && end.error().code() == Errc::open_circuit) {
        ++counts.refused;
      } else if (end.is_err() && end.error().code() == Errc::io) {
        ++counts.most;
      } else {
        ++counts.wrong;
      }
    }
  }
};
/// A service that fails, and then works again: the circuit opens, later it is closed. Each call was made or refused.
Task<int> broken_and_mended(Cx cx) {
  Counts counts;
  std::atomic<bool> broken{true};
  CircuitBreaker breaker(cx, {.failures = 3, .open_for = Duration::milliseconds(2)});
  const Crowd crowd{8, CallsBreaker{breaker, broken, counts}};
  co_await scope(cx, crowd);
  const bool opened = counts.refused > 0 && counts.done == 0;
  broken = false;
  const AsksService service{&broken, &counts.inside};
  int calls = counts.most + counts.refused;
  bool closed = false;
  while (!closed) {
    co_await sleep(cx, Duration::milliseconds(3));
    const Outcome<int> end = co_await outcome(breaker.call(cx, service));
    ++calls;
    ++(end.is_ok() ? counts.done : counts.refused);
    closed = breaker.state() == CircuitState::closed;
  }
  const bool each_once = counts.inside + counts.refused == calls && counts.wrong == 0;
  co_return opened&& each_once ? calls - counts.done : -1;
}
TEST_P(SharedCombinator, COM_1_a_circuit_opens_for_all_workers_and_closes_again) {
  const Outcome<int> failed = run_program(broken_and_mended);
  ASSERT_TRUE(failed.is_ok()) << to_string(failed);
  EXPECT_GE(failed.value(), 160);
}

// NOLINTEND(cppcoreguidelines-avoid-const-or-ref-data-members)
// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters, cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace
}  // namespace calm
