// Work from threads that are no workers, with a name, a priority or a deadline.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "calm/combinator/never.hpp"
#include "calm/cx/blocking.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/runtime/injector.hpp"
#include "calm/runtime/runtime.hpp"
#include "tests/unit/runtime/shared_by.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters,cppcoreguidelines-avoid-capturing-lambda-coroutines):
// what they refer to outlives the run

/// What ran, a letter each, in the order in which it began.
class BeginOrder {
 public:
  void note(char letter) {
    const std::lock_guard guard(mutex_);
    letters_ += letter;
  }
  [[nodiscard]] std::string letters() const {
    const std::lock_guard guard(mutex_);
    return letters_;
  }

 private:
  mutable std::mutex mutex_;
  std::string letters_;
};

struct NoteBegin {
  BeginOrder* order;
  Task<void> operator()(Cx /*cx*/, char letter) const {
    order->note(letter);
    co_return;
  }
};

TaskOptions ranked(std::uint8_t priority) {
  TaskOptions options;
  options.budget.priority = priority;
  return options;
}

/// All workers are busy while `hand_in(door)` hands work in on a thread outside, and then it is taken in.
template <class HandIn>
void run_while_busy(std::uint16_t workers, const HandIn& hand_in) {
  std::atomic<int> busy = 0;
  std::atomic<bool> over = false;
  std::promise<Injector> door;
  std::thread outside([&] {
    const Injector into = door.get_future().get();
    while (busy < workers) std::this_thread::yield();
    std::vector<OutsideHandle<void>> handles = hand_in(into);
    over = true;
    for (OutsideHandle<void>& handle : handles) EXPECT_TRUE(std::move(handle).wait().is_ok());
  });
  const auto keeps_busy = [&](Cx /*cx*/) -> Task<void> {
    ++busy;
    while (!over) std::this_thread::yield();
    co_return;
  };
  const auto body = [&](Scope& scope) -> Task<void> {
    // Each keeps its worker; those that wait for one that is busy are taken over by others (RunOptions::rescue_after).
    for (int i = 0; i < workers; ++i) (void)co_await scope.spawn(keeps_busy);
    door.set_value(Injector(scope));
    const auto join_outside = [&outside] { outside.join(); };
    co_await blocking(scope.cx(), join_outside);
  };
  const auto program = [&body](Cx cx) -> Task<void> { co_await scope(cx, body); };
  const Outcome<void> end = block_on(program, {.workers = workers, .worth_sharing = Duration()});
  EXPECT_TRUE(end.is_ok()) << to_string(end);
}

class InjectorOptions : public testing::TestWithParam<std::uint16_t> {};
INSTANTIATE_TEST_SUITE_P(Workers, InjectorOptions, some_workers(), name_of_workers);

TEST_P(InjectorOptions, SCH_1_SCH_2_of_what_comes_from_outside_the_more_urgent_goes_first) {
  constexpr int each = 16;
  BeginOrder order;
  run_while_busy(GetParam(), [&order](const Injector& into) {
    std::vector<OutsideHandle<void>> handles;
    for (int i = 0; i < each; ++i) handles.push_back(into.spawn(ranked(1), NoteBegin{&order}, 'r'));
    for (int i = 0; i < each; ++i) handles.push_back(into.spawn(ranked(9), NoteBegin{&order}, 'u'));
    return handles;
  });
  const std::string letters = order.letters();
  ASSERT_EQ(letters.size(), 2U * each);
  // Who takes the first routine one leaves no urgent one; each other worker may still be about to begin one.
  EXPECT_GE(letters.find('r'), static_cast<std::size_t>(each + 1 - GetParam())) << letters;
  if (GetParam() == 1) {
    EXPECT_EQ(letters, std::string(each, 'u') + std::string(each, 'r'));
  }
}

TEST(InjectorOptionsOnOne, SCH_1_what_asks_for_nothing_goes_last) {
  BeginOrder order;
  run_while_busy(1, [&order](const Injector& into) {
    std::vector<OutsideHandle<void>> handles;
    handles.push_back(into.spawn(NoteBegin{&order}, 'p'));
    handles.push_back(into.spawn(TaskOptions{}, NoteBegin{&order}, 'q'));
    handles.push_back(into.spawn(ranked(3), NoteBegin{&order}, 'r'));
    handles.push_back(into.spawn(ranked(9), NoteBegin{&order}, 'u'));
    return handles;
  });
  EXPECT_EQ(order.letters(), "urpq");
}

/// A scope of this priority that is open to a thread, which does `ask(door, runtime)`.
template <class Ask>
void run_with_door(std::uint16_t workers, std::uint8_t priority, const Ask& ask) {
  Runtime runtime({.workers = workers, .worth_sharing = Duration()});
  std::promise<Injector> door;
  std::thread outside([&] {
    ask(door.get_future().get(), runtime);
    EXPECT_TRUE(runtime.shut_down());
  });
  const auto body = [&door](Scope& scope) -> Task<void> {
    door.set_value(Injector(scope));
    co_await never<>(scope.cx());
  };
  const auto program = [&body, priority](Cx cx) -> Task<void> {
    ScopeOptions options{.policy = FoldPolicy::collect};
    options.budget.priority = priority;
    co_await scope(cx, body, options);
  };
  EXPECT_TRUE(runtime.block_on(program).is_cancelled());
  outside.join();
}

Task<int> own_priority(Cx cx) { co_return cx.budget().priority; }

TEST_P(InjectorOptions, BUD_3_what_it_asks_for_is_met_with_what_the_scope_has) {
  run_with_door(GetParam(), 5, [](const Injector& into, Runtime& /*runtime*/) {
    EXPECT_EQ(into.spawn(own_priority).wait().value(), 5);
    EXPECT_EQ(into.spawn(ranked(2), own_priority).wait().value(), 5);
    EXPECT_EQ(into.spawn(ranked(9), own_priority).wait().value(), 9);
  });
}

Task<int> sleeps_until_ended(Cx cx) {
  co_await sleep(cx, Duration::seconds(1000));
  co_return 1;
}

TEST_P(InjectorOptions, BUD_5_its_deadline_ends_it_and_who_waits_is_told) {
  run_with_door(GetParam(), 0, [](const Injector& into, Runtime& /*runtime*/) {
    TaskOptions timed;
    timed.budget.deadline = Deadline(Time() + Duration::milliseconds(5));  // since the runtime began
    OutsideHandle<int> handle = into.spawn(timed, sleeps_until_ended);
    ASSERT_TRUE(handle.wait_for(Duration::seconds(60)));
    const Outcome<int> end = std::move(handle).wait();
    ASSERT_TRUE(end.is_cancelled()) << to_string(end);
    EXPECT_EQ(end.reason().kind(), CancelKind::deadline);
  });
}

TEST_P(InjectorOptions, TSK_8_BUD_5_who_waits_is_told_why_it_never_began) {
  run_with_door(GetParam(), 0, [](const Injector& into, Runtime& /*runtime*/) {
    TaskOptions late;
    late.budget.deadline = Deadline(Time());  // BUD-1: an instant, and it is over
    const Outcome<int> end = into.spawn(late, sleeps_until_ended).wait();
    ASSERT_TRUE(end.is_cancelled()) << to_string(end);
    EXPECT_EQ(end.reason().kind(), CancelKind::deadline);
  });
}

TEST_P(InjectorOptions, OBS_1_an_inspection_shows_its_name) {
  run_with_door(GetParam(), 0, [](const Injector& into, Runtime& runtime) {
    const auto asked = into.spawn(TaskOptions{.name = "asked"}, sleeps_until_ended);
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    std::string text;
    while (text.find("\"asked\"") == std::string::npos && std::chrono::steady_clock::now() < limit) {
      text = runtime.inspect();
    }
    EXPECT_NE(text.find("\"asked\""), std::string::npos) << text;
    EXPECT_FALSE(asked.has_ended());
  });
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters,cppcoreguidelines-avoid-capturing-lambda-coroutines)

}  // namespace
}  // namespace calm
