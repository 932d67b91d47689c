// What governors suggest, and why.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "calm/sched/governor.hpp"

namespace calm::sched {
namespace {

constexpr std::uint64_t ms = 1'000'000;

Decision decision_of(const char* name, const Outlook& outlook) {
  const Governor* const governor = find_governor(name);
  if (governor == nullptr) {
    ADD_FAILURE() << "no governor " << name;
    return {};
  }
  return governor->decide(outlook);
}

std::uint64_t figure(const Decision& decision, Suggestion suggestion) {
  return decision.candidates[static_cast<std::uint8_t>(suggestion)];
}

TEST(Governor, SCH_3_there_are_five_and_each_is_found_by_its_name) {
  std::vector<std::string> names;
  for (const Governor* const governor : governors()) {
    names.emplace_back(governor->name());
    EXPECT_EQ(find_governor(governor->name()), governor);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"none", "meet-deadlines", "drain-obligations", "drain-regions", "lyapunov"}));
  EXPECT_EQ(find_governor("meet_deadlines"), nullptr);
}

TEST(Governor, SCH_3_the_plain_ones_suggest_one_thing_while_it_can_change_anything) {
  const Outlook all{.obligations = 1, .closing_regions = 1, .runnable_cancel = 1, .runnable_timed = 1};
  for (const char* const name : {"none", "meet-deadlines", "drain-obligations", "drain-regions"}) {
    const Decision decision = decision_of(name, all);
    EXPECT_EQ(to_string(decision.suggestion), name);
    EXPECT_EQ(decision.constraint, Constraint::by_name);
    EXPECT_FALSE(decision.compared);
  }
  Outlook less = all;
  less.runnable_timed = 0;
  EXPECT_EQ(decision_of("meet-deadlines", less).constraint, Constraint::not_applicable);
  less = all;
  less.obligations = 0;
  EXPECT_EQ(decision_of("drain-obligations", less).suggestion, Suggestion::none);
  EXPECT_EQ(decision_of("drain-regions", less).suggestion, Suggestion::drain_regions);
  less = all;
  less.runnable_cancel = 0;
  EXPECT_EQ(decision_of("drain-obligations", less).suggestion, Suggestion::none);
  EXPECT_EQ(decision_of("drain-regions", less).suggestion, Suggestion::none);
  less = all;
  less.closing_regions = 0;
  EXPECT_EQ(decision_of("drain-regions", less).suggestion, Suggestion::none);
}

TEST(Lyapunov, SCH_3_the_potential_has_a_term_for_tasks_obligations_by_age_finalizers_and_slack) {
  const Outlook outlook{.live_tasks = 40,
                        .obligations = 3,
                        .obligation_age_ms = 17,
                        .finalizers = 2,
                        .runnable_timed = 5,
                        .slack_ns = 2 * ms};
  EXPECT_EQ(potential_of(outlook), (Potential{40, 29, 16, 80}));
  EXPECT_EQ(potential_of(outlook).total(), 165U);
  const std::uint64_t urgencies[][2] = {{0, 64}, {ms - 1, 32}, {ms, 16}, {10 * ms, 4}, {100 * ms, 1}, {UINT64_MAX, 1}};
  for (const auto& [slack, urgency] : urgencies) {
    EXPECT_EQ(potential_of({.runnable_timed = 1, .slack_ns = slack}).deadlines, urgency) << slack;
  }
}

TEST(Lyapunov, SCH_3_urgent_deadlines_go_first_and_distant_ones_do_not) {
  Outlook outlook{.live_tasks = 100, .runnable_cancel = 20, .runnable_timed = 20, .slack_ns = 0};
  const Decision urgent = decision_of("lyapunov", outlook);
  EXPECT_EQ(urgent.suggestion, Suggestion::meet_deadlines);
  EXPECT_EQ(urgent.constraint, Constraint::potential);
  EXPECT_TRUE(urgent.compared);
  EXPECT_LT(figure(urgent, Suggestion::meet_deadlines), figure(urgent, Suggestion::none));
  outlook.slack_ns = UINT64_MAX;
  EXPECT_EQ(decision_of("lyapunov", outlook).suggestion, Suggestion::none);
}

TEST(Lyapunov, SCH_3_old_obligations_of_cancelled_work_are_drained_before_distant_deadlines) {
  Outlook outlook{.live_tasks = 100,
                  .obligations = 60,
                  .obligation_age_ms = 6000,
                  .runnable_cancel = 60,
                  .runnable_timed = 60,
                  .slack_ns = UINT64_MAX};
  const Decision decision = decision_of("lyapunov", outlook);
  EXPECT_EQ(decision.suggestion, Suggestion::drain_obligations);
  EXPECT_EQ(figure(decision, Suggestion::drain_obligations), figure(decision, Suggestion::drain_regions));
  outlook.obligations = outlook.obligation_age_ms = 0;
  outlook.finalizers = 400;
  EXPECT_EQ(decision_of("lyapunov", outlook).suggestion, Suggestion::drain_regions);
}

TEST(Lyapunov, SCH_3_near_a_tie_and_with_one_lane_nothing_changes) {
  const Decision alone = decision_of("lyapunov", {.live_tasks = 9, .runnable_cancel = 30});
  EXPECT_EQ(alone.constraint, Constraint::one_lane);
  EXPECT_EQ(alone.suggestion, Suggestion::none);
  EXPECT_EQ(decision_of("lyapunov", {.live_tasks = 9, .runnable_timed = 30}).constraint, Constraint::one_lane);
  const Decision little =
      decision_of("lyapunov", {.live_tasks = 1'000'000, .runnable_cancel = 30, .runnable_ready = 30});
  EXPECT_EQ(little.constraint, Constraint::too_little);
  EXPECT_EQ(little.suggestion, Suggestion::none);
  EXPECT_LT(figure(little, Suggestion::drain_regions), figure(little, Suggestion::none));
}

TEST(Lyapunov, SCH_3_numbers_that_are_too_large_stop_at_the_largest) {
  const Outlook outlook{.live_tasks = UINT64_MAX,
                        .obligations = UINT64_MAX,
                        .obligation_age_ms = UINT64_MAX,
                        .finalizers = UINT64_MAX,
                        .runnable_cancel = UINT64_MAX,
                        .runnable_timed = UINT64_MAX,
                        .runnable_ready = UINT64_MAX,
                        .slack_ns = 0};
  const Decision decision = decision_of("lyapunov", outlook);
  EXPECT_EQ(decision.potential.total(), UINT64_MAX);
  EXPECT_EQ(decision.constraint, Constraint::too_little);
}

TEST(Lyapunov, PRF_1_the_same_outlook_gives_the_same_decision_with_its_reasons_in_words) {
  const Outlook outlook{.live_tasks = 4, .runnable_cancel = 2, .runnable_timed = 1, .slack_ns = 0};
  const Decision decision = decision_of("lyapunov", outlook);
  EXPECT_EQ(decision, decision_of("lyapunov", outlook));
  EXPECT_EQ(to_string(decision),
            "meet-deadlines (least potential): tasks 4, obligations 0, finalizers 0, deadlines 64; none 257, "
            "meet-deadlines 131, drain-obligations 257, drain-regions 257");
  EXPECT_EQ(to_string(decision_of("none", outlook)),
            "none (by name): tasks 4, obligations 0, finalizers 0, deadlines 64");
}

}  // namespace
}  // namespace calm::sched
