// The line of waiters, by the simplest primitive there is: one thing that one task has at a time.
#include "calm/sync/line.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "calm/runtime/run.hpp"
#include "contest.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

class Baton {
 public:
  explicit Baton(CxOf<> cx) noexcept : line_(cx) {}

  auto take(CxOf<> cx) noexcept { return cx::WaitFor<Wait, const cx::Context*, Baton*>(&cx::context_of(cx), this); }
  void pass_on() noexcept {
    line_.writes();
    taken_ = false;
    grant_next();
  }
  [[nodiscard]] bool is_taken() const noexcept { return taken_; }
  [[nodiscard]] TaskId holder() const noexcept { return holder_; }

  // --- what a LineWait asks ---

  sync::Line& line() noexcept { return line_; }
  bool try_admit(const sync::Waiter& /*waiter*/, TaskId task) noexcept {
    if (taken_) return false;
    taken_ = true;
    holder_ = task;
    return true;
  }
  [[nodiscard]] bool refuses(const sync::Waiter& /*waiter*/, TaskId task, ChildEnd& end) const noexcept {
    if (holder_ == task) end = err(Errc::conflict);
    return holder_ == task;
  }
  static void left(const sync::Waiter& /*waiter*/) noexcept {}
  void take_back(const sync::Waiter& /*waiter*/) noexcept {
    ++returned_;
    taken_ = false;
    grant_next();
  }
  [[nodiscard]] int returned() const noexcept { return returned_; }

 private:
  class Wait : public sync::LineWait<Baton> {
   public:
    using LineWait::LineWait;
    void result() noexcept { use_grant(); }

   protected:
    ~Wait() = default;
  };

  void grant_next() noexcept {
    if (line_.empty()) return;
    taken_ = true;
    holder_ = line_.first()->task();
    line_.grant(*line_.first());
  }

  sync::Line line_;
  bool taken_ = false;
  TaskId holder_{};
  int returned_ = 0;
};

/// Takes the baton and passes it on, also when its task is cancelled in between.
class Runner {
 public:
  explicit Runner(Baton& baton) noexcept : baton_(baton) {}
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  ~Runner() { baton_.pass_on(); }

 private:
  Baton& baton_;
};

struct RunOnce {
  Baton& baton;
  lab::Shared<std::string>& story;

  Task<void> operator()(Cx cx, int number) const {
    const char name = static_cast<char>('a' + number);
    co_await baton.take(cx);
    const Runner runner(baton);
    story.changed(cx) += name;
    co_await yield(cx);
    story.changed(cx) += name;
  }
};

/// Nobody was with it at the same time: every letter is followed by itself, unless its task was cancelled in between.
bool is_one_at_a_time(const std::string& story) {
  for (std::size_t i = 0; i < story.size(); ++i) {
    if (story.find(story[i]) != i && story[i - 1] != story[i]) return false;
  }
  return true;
}

template <int runners>
Task<void> relay(Cx cx) {
  Baton baton(cx);
  lab::Shared<std::string> story(cx);
  const auto body = [&](Scope& scope) -> Task<void> {
    for (int i = 0; i < runners; ++i) (void)co_await scope.fiber(RunOnce{baton, story}, i);
  };
  co_await scope(cx, body);
  if (story.get(cx).size() != 2U * runners || !is_one_at_a_time(story.get(cx))) co_await fail(Errc::protocol);
  if (baton.is_taken()) co_await fail(Errc::busy);
}

TEST(Line, CHN_12_one_after_the_other_in_every_schedule) {
  // Who is first, and whether the other comes before it has passed on; for three who is next, and when each of both comes.
  EXPECT_TRUE(contest::are_all(contest::explore_all_of(relay<2>), 4));
  EXPECT_TRUE(contest::are_all(contest::explore_all_of(relay<3>), 30));
}

TEST(Line, LAB_4_its_footprints_tell_apart_what_differs_and_nothing_else) {
  EXPECT_TRUE(contest::are_all(contest::explore_both_ways(relay<2>), 4));
}

TEST(Line, CHN_12_who_comes_first_is_served_first) {
  const auto report = lab::run({.seed = 3}, [](Cx cx) -> Task<void> {
    Baton baton(cx);
    std::string order;
    const auto body = [&](Scope& scope) -> Task<void> {
      co_await baton.take(scope.cx());
      for (char name = 'a'; name < 'f'; ++name) {
        const auto waits = [&, name](Cx inner) -> Task<void> {
          co_await sleep(inner, Duration::milliseconds(name - 'a' + 1));
          co_await baton.take(inner);
          order += name;
          baton.pass_on();
        };
        (void)co_await scope.fiber(waits);
      }
      co_await sleep(scope.cx(), Duration::milliseconds(20));
      EXPECT_TRUE(order.empty());
      baton.pass_on();
    };
    co_await scope(cx, body);
    EXPECT_EQ(order, "abcde");
  });
  EXPECT_LAB_CLEAN(report);
}

/// Three come, and one of them is cancelled by a sibling at any time.
Task<void> cancelled_relay(Cx cx) {
  Baton baton(cx);
  lab::Shared<std::string> story(cx);
  co_await contest::run_contest(cx, RunOnce{baton, story}, 3, 1);
  const std::string& told = story.get(cx);
  const bool others_ran = told.find("aa") != std::string::npos && told.find("cc") != std::string::npos;
  if (!others_ran || !is_one_at_a_time(told)) co_await fail(Errc::protocol);
  if (baton.is_taken()) co_await fail(Errc::busy);
}

TEST(Line, CHN_12_a_cancelled_waiter_leaves_and_passes_its_grant_on_in_every_schedule) {
  EXPECT_GT(contest::explore_all_of(cancelled_relay), 20U);
}

TEST(Line, CAN_13_a_cancel_at_any_await_point_wakes_who_waits) { contest::cancel_everywhere_in(relay<3>); }

TEST(Line, CHN_12_one_that_was_granted_and_is_cancelled_before_it_runs_passes_the_grant_on) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Baton baton(cx);
    bool second_ran = false;
    const auto body = [&](Scope& scope) -> Task<void> {
      co_await baton.take(scope.cx());
      const auto first = [&](Cx inner) -> Task<void> {
        co_await baton.take(inner);
        ADD_FAILURE() << "it was cancelled";
      };
      const auto second = [&](Cx inner) -> Task<void> {
        co_await baton.take(inner);
        second_ran = true;
        baton.pass_on();
      };
      auto victim = co_await scope.fiber(first);
      co_await sleep(scope.cx(), Duration::milliseconds(1));
      (void)co_await scope.fiber(second);
      co_await sleep(scope.cx(), Duration::milliseconds(1));
      baton.pass_on();
      EXPECT_EQ(baton.holder(), victim.id());
      victim.cancel();
      (void)co_await outcome(std::move(victim).join(scope.cx()));
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
    EXPECT_TRUE(second_ran);
    EXPECT_EQ(baton.returned(), 1);
    EXPECT_FALSE(baton.is_taken());
  });
  EXPECT_LAB_CLEAN(report);
}

TEST(Line, CHN_12_who_is_refused_has_not_joined) {
  const auto report = lab::run({}, [](Cx cx) -> Task<void> {
    Baton baton(cx);
    co_await baton.take(cx);
    const auto again = [&baton](Cx inner) -> Task<void> { co_await baton.take(inner); };
    const Outcome<void> end = co_await outcome(again(cx));
    EXPECT_TRUE(end.is_err());
    EXPECT_TRUE(baton.line().empty());
    baton.pass_on();
  });
  EXPECT_LAB_CLEAN(report);
}

TEST(Line, CHN_12_waits_on_the_host_of_one_thread_too) {
  const auto program = [](Cx cx) -> Task<int> {
    Baton baton(cx);
    int turns = 0;
    const auto body = [&](Scope& scope) -> Task<void> {
      for (int i = 0; i < 4; ++i) {
        const auto runs = [&](Cx inner) -> Task<void> {
          for (int turn = 0; turn < 100; ++turn) {
            co_await baton.take(inner);
            const Runner runner(baton);
            co_await yield(inner);
            ++turns;
          }
        };
        (void)co_await scope.fiber(runs);
      }
    };
    co_await scope(cx, body);
    co_return turns;
  };
  EXPECT_EQ(block_on(program).value(), 400);
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
