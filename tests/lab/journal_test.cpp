// What stands beside the oracles must be able to find something: planted violations, and a program that shrinks.
#include "journal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "program_run.hpp"
#include "program_shrink.hpp"

namespace calm::programs {
namespace {

class JournalTest : public testing::Test {
 protected:
  /// Gives: whether a problem names this law.
  [[nodiscard]] bool says(const std::string& law) const {
    const auto names = [&law](const std::string& problem) {
      return problem.find("[" + law + "]") != std::string::npos;
    };
    return std::any_of(journal_.problems().begin(), journal_.problems().end(), names);
  }

  Journal journal_;
  ScopeNote& scope_ = journal_.new_scope(nullptr);
  TaskNote& task_ = journal_.new_task(scope_, false);
};

TEST_F(JournalTest, finds_a_frame_that_ends_before_the_one_inside) {
  std::optional<FrameMark> outer(std::in_place, journal_, task_);
  std::optional<FrameMark> inner(std::in_place, journal_, task_);
  outer.reset();
  EXPECT_TRUE(says("OUT-5"));
}

TEST_F(JournalTest, finds_a_frame_that_never_ends) {
  task_.frames.push_back(journal_.next_number());
  journal_.finish(false);
  EXPECT_TRUE(says("TSK-5"));
}

TEST_F(JournalTest, finds_a_callable_that_ends_before_its_frames) {
  std::optional<Captured> callable(std::in_place, journal_, task_);
  const FrameMark frame(journal_, task_);
  callable.reset();
  EXPECT_TRUE(says("TSK-5"));
}

TEST_F(JournalTest, finds_a_task_that_runs_after_its_scope_has_returned) {
  {
    const ScopeMark mark(journal_, scope_);
  }
  journal_.step(task_, Time(), Do::mark);
  EXPECT_TRUE(says("I2"));
}

TEST_F(JournalTest, finds_a_scope_that_returns_before_its_task) {
  const Captured callable(journal_, task_);
  {
    const ScopeMark mark(journal_, scope_);
  }
  EXPECT_TRUE(says("I2"));
}

TEST_F(JournalTest, finds_a_finalizer_that_never_ran_and_a_resource_that_was_kept) {
  scope_.deferred.push_back(7);
  scope_.resources = 1;
  {
    const ScopeMark mark(journal_, scope_);
  }
  EXPECT_TRUE(says("CTX-4"));
  EXPECT_EQ(journal_.problems().size(), 2U);
}

TEST_F(JournalTest, finds_a_promise_that_was_not_resolved) {
  journal_.reserved();
  journal_.finish(false);
  EXPECT_TRUE(says("OBL-3"));
}

TEST_F(JournalTest, finds_a_panic_that_a_scope_swallowed) {
  note_end(scope_, OutcomeKind::panicked);
  check_end(journal_, scope_, true, OutcomeKind::ok);
  EXPECT_TRUE(says("OUT-2"));
}

bool has_a_child_that_sleeps(const Block& block, bool in_child) {
  return std::any_of(block.begin(), block.end(), [in_child](const Statement& statement) {
    return (in_child && statement.what == Do::sleep) ||
           has_a_child_that_sleeps(statement.body, in_child || statement.what == Do::spawn);
  });
}

TEST(ProgramShrink, leaves_only_what_the_failure_needs) {
  const auto fails = [](const Program& program) { return has_a_child_that_sleeps(program.body, false); };
  std::uint64_t seed = 1;
  while (!fails(make_program(seed)) || size_of(make_program(seed).body) < 40) ++seed;
  const Program small = shrink(make_program(seed), fails);
  EXPECT_EQ(to_string(small), "program " + std::to_string(seed) +
                                  " {\n"
                                  "  spawn {deadline none, polls infinite, cost infinite, priority 0} {\n"
                                  "    sleep 0s\n"
                                  "  }\n"
                                  "}\n");
}

TEST(ProgramRun, OBL_4_a_token_that_the_program_drops_is_reported_and_expected) {
  const Program careless{.seed = 1, .body = {{.what = Do::reserve}, {.what = Do::drop_token}}};
  const Ran ran = run_twice(careless);
  EXPECT_TRUE(ran.problems.empty()) << ran.problems.front();
  EXPECT_EQ(ran.coverage.statements[static_cast<std::size_t>(Do::drop_token)], 1U);
}

}  // namespace
}  // namespace calm::programs
