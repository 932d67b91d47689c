// beside_model.hpp — random operations on a channel, and beside it a model of plain lists: after every step both look alike.
// Laws:    none of its own; those of the channel that is driven
// Threads: one
// Cancel:  one of the operations: what still waits is cancelled
//
// An operation that may wait is a task; what it came to stands in its result. A model has no tasks and no grants: whoever can
// go on does so at once. Between two steps everybody gets as far as they can.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "calm/cx/scope.hpp"
#include "calm/lab/lab.hpp"
#include "calm/model/split_mix.hpp"
#include "tests/unit/channel/channel_bench.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::channel {

/// What the operations came to, by their numbers; "pending" while they wait.
using Results = std::map<int, std::string>;

/// What a value, or the lack of one, is called.
template <class T>
std::string text_of(const Outcome<T>& value) {
  if (value.is_ok()) return std::to_string(value.value());
  if (value.is_err()) return std::string(to_string(value.error().code()));
  return value.is_cancelled() ? "cancelled" : "panicked";
}
template <class T, class E>
std::string text_of(const Outcome<T, E>& sent) {
  return sent ? "sent" : std::string(to_string(sent.error().code));
}

/// Drives a channel and its model. Who derives from it says what a step is.
class BesideModel {
 public:
  BesideModel(std::uint64_t seed, Scope& scope) : numbers_(seed), scope_(scope) {}
  BesideModel(const BesideModel&) = delete;
  BesideModel& operator=(const BesideModel&) = delete;

  Task<void> run(int steps) {
    for (int i = 0; i < steps && problem_.empty(); ++i) {
      step();
      co_await sleep(scope_.cx(), ms(2));
      settle_model();
      compare();
    }
    for (auto& [operation, handle] : handles_) handle.cancel();
  }
  /// Gives: the operations up to the first difference, and the difference; nothing when there is none.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 protected:
  ~BesideModel() = default;

  /// One operation on both.
  virtual void step() = 0;
  /// Everybody in the model goes on as far as they can.
  virtual void settle_model() = 0;
  virtual void cancel_in_model(int operation) = 0;
  /// What both look like between steps, and whether the channel keeps to its capacity: expect() and require().
  virtual void compare_state() = 0;

  [[nodiscard]] std::uint64_t pick(std::uint64_t bound) { return numbers_.next() % bound; }
  template <class List>
  [[nodiscard]] auto& pick_of(List& list) {
    return *std::next(list.begin(), static_cast<std::ptrdiff_t>(pick(list.size())));
  }
  [[nodiscard]] Scope& scope() const noexcept { return scope_; }
  [[nodiscard]] int new_value() { return ++values_; }

  void note(const std::string& what) { story_ += what + "; "; }
  void expect(const std::string& what, std::string_view model, std::string_view real) {
    note(what);
    if (problem_.empty() && model != real) {
      problem_ = story_ + "the model says " + std::string(model) + ", the channel " + std::string(real);
    }
  }
  void require(bool holds, const std::string& what) {
    if (problem_.empty() && !holds) problem_ = story_ + what;
  }

  /// Starts an operation that may wait: `task(result)` makes what is run. Gives: its number.
  template <class F>
  int start(const std::string& what, F task) {
    note(what + " " + std::to_string(++operations_));
    in_model_[operations_] = in_channel_[operations_] = "pending";
    handles_.emplace(operations_, std::move(scope_.fiber(task(&in_channel_[operations_]))).value());
    return operations_;
  }
  void cancel_one() {
    if (operations_ == 0) return;
    const int operation = 1 + static_cast<int>(pick(static_cast<std::uint64_t>(operations_)));
    if (in_model_[operation] != "pending") return;
    note("cancel " + std::to_string(operation));
    handles_.at(operation).cancel();
    cancel_in_model(operation);
    in_model_[operation] = "cancelled";
  }

  Results in_model_;  ///< what the model says of each operation

 private:
  void compare() {
    if (!problem_.empty()) return;
    for (const auto& [operation, result] : in_model_) {
      if (result != in_channel_[operation])
        expect("operation " + std::to_string(operation), result, in_channel_[operation]);
    }
    compare_state();
    story_ += "| ";
  }

  SplitMix numbers_;
  Scope& scope_;
  Results in_channel_;
  std::map<int, Handle<void>> handles_;
  std::string story_;
  std::string problem_;
  int operations_ = 0;
  int values_ = 0;
};

inline std::uint64_t number_in(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): of one thread
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Drives a channel of the kind that `Both` drives. Gives: what went wrong, or nothing.
template <class Both>
std::string compare_with_model(std::uint64_t seed, int steps) {
  std::string problem;
  const lab::LabReport report = lab::run({.seed = seed}, [&problem, seed, steps](Cx cx) -> Task<void> {
    const auto body = [&problem, seed, steps](Scope& scope) -> Task<void> {
      Both both(seed, scope);
      co_await both.run(steps);
      co_await sleep(scope.cx(), ms(2));
      problem = both.problem();
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
  });
  if (problem.empty() && !report.is_clean()) problem = to_string(report);
  return problem;
}

/// Many sequences, each with a seed of its own; the first that differs is told with what repeats it. A twentieth of what the
/// kernel beside its model is asked for: ./dev soak looks further than every day.
template <class Both>
void expect_like_model() {
  const std::uint64_t first = number_in("CALM_REFERENCE_SEED", 1);
  const std::uint64_t count = (number_in("CALM_REFERENCE_SEQUENCES", 10'000) + 19) / 20;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::string problem = compare_with_model<Both>(seed, 25);
    ASSERT_EQ(problem, "") << "next: CALM_REFERENCE_SEED=" << seed << " CALM_REFERENCE_SEQUENCES=1 calm_channel_tests "
                           << "--gtest_filter="
                           << testing::UnitTest::GetInstance()->current_test_info()->test_suite_name() << ".*";
  }
}

}  // namespace calm::channel
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
