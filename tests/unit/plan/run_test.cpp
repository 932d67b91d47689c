// Plans that run: what comes of them, and that a rewritten one comes to the same in every schedule.
#include "calm/plan/run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "calm/cx/mask.hpp"
#include "calm/cx/obligation.hpp"
#include "calm/cx/wait_outcome.hpp"
#include "calm/lab/everywhere.hpp"
#include "calm/lab/explore.hpp"
#include "calm/lab/gtest.hpp"
#include "calm/lab/lab.hpp"
#include "calm/lab/shared.hpp"
#include "calm/plan/build.hpp"
#include "calm/plan/check.hpp"
#include "calm/plan/parse.hpp"
#include "calm/plan/print.hpp"
#include "calm/plan/rewrite.hpp"
#include "tests/both_worlds.hpp"
#include "tests/unit/plan/trees.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::plan {
namespace {

constexpr Duration plan_ms(std::int64_t count) { return Duration::milliseconds(count); }

/// What a leaf of these tests does. Those of one name tell the truth about themselves, see facts_of().
enum class Deed : std::uint8_t {
  reads,     ///< waits for its turn once, and nobody sees it
  marks,     ///< says how far it is, before its wait and after it
  refuses,   ///< fails after a wait, unseen
  protests,  ///< the same, and says how far it is
  promises,  ///< holds a promise while it waits, and keeps it
  naps,      ///< sleeps 1 ms, then 1 ms, and says how far it is
  dozes,     ///< sleeps 1 ms, unseen
  sleeps,    ///< sleeps 2 ms, unseen
  stays,     ///< sleeps until it is cancelled, unseen
  lingers,   ///< sleeps 3 ms; cancelled, it needs 5 ms more
};

Leaf facts_of(std::string name, Deed deed, std::string group) {
  Leaf leaf{.name = std::move(name), .effects_known = true, .group = std::move(group)};
  leaf.ends_at_once = deed != Deed::lingers;
  leaf.holds_promises = deed == Deed::promises;
  leaf.repeatable = true;
  leaf.can_fail = deed == Deed::refuses || deed == Deed::protests;
  if (deed == Deed::marks || deed == Deed::protests || deed == Deed::naps) leaf.writes = {leaf.name};
  return leaf;
}

/// A promise that is taken back unless it was kept.
struct Pledge {
  Obligation token;
  ~Pledge() {
    if (token.id()) (void)token.abort();
  }
};

Task<int> keep_a_promise(Cx cx) {
  Obligation token = co_await reserve(cx, ObligationKind::send_permit);
  Pledge pledge{std::move(token)};
  co_await yield(cx);
  (void)pledge.token.commit();
  co_return 7;
}

Task<int> linger(Cx cx) {
  const Outcome<void> slept = co_await outcome(sleep(cx, plan_ms(3)));
  if (slept.is_cancelled()) {
    const auto clean_up = [](Cx inner) -> Task<void> { co_await sleep(inner, plan_ms(5)); };
    co_await with_cancel_mask(cx, clean_up);
    co_await fail_with(cancelled(slept.reason()));
  }
  co_return 7;
}

Task<int> do_it(Cx cx, std::string name, Deed deed) {
  const bool says = deed == Deed::marks || deed == Deed::protests || deed == Deed::naps;
  if (says) cx.trace(name, 1);
  switch (deed) {
    case Deed::reads:
    case Deed::marks:
      co_await yield(cx);
      break;
    case Deed::refuses:
    case Deed::protests:
      co_await yield(cx);
      if (says) cx.trace(name, 2);
      co_return err(Errc::full);
    case Deed::promises: {
      const int kept = co_await keep_a_promise(cx);
      co_return kept;
    }
    case Deed::naps:
      co_await sleep(cx, plan_ms(1));
      cx.trace(name, 3);
      co_await sleep(cx, plan_ms(1));
      break;
    case Deed::dozes:
      co_await sleep(cx, plan_ms(1));
      break;
    case Deed::sleeps:
      co_await sleep(cx, plan_ms(2));
      break;
    case Deed::stays:
      co_await sleep(cx, plan_ms(1'000'000));
      break;
    case Deed::lingers: {
      const int end = co_await linger(cx);
      co_return end;
    }
  }
  if (says) cx.trace(name, 2);
  co_return 7;
}

/// The work of a leaf.
struct Doer {
  std::string name;
  Deed deed;
  CALM_CORO_WRAPPER Task<int> operator()(Cx cx) const { return do_it(cx, name, deed); }
};

using Deeds = std::map<std::string, Deed>;

Works<int> works_of(const Deeds& deeds) {
  Works<int> works;
  for (const auto& [name, deed] : deeds) works.add(name, Doer{name, deed});
  return works;
}

/// An end as who uses the plan sees it: leaves of a group are not told apart, errors by their code alone.
std::string seen(const Plan& plan, const Outcome<Answers<int>>& end) {
  if (end.is_err()) return std::string("Err ").append(to_string(end.error().code()));
  if (!end.is_ok()) return std::string(to_string(end.kind()));
  std::string text = "Ok";
  for (const Answer<int>& answer : end.value()) {
    const std::string& group = plan.find(answer.leaf)->group;
    text.append(" ").append(group.empty() ? answer.leaf : group).append("=").append(std::to_string(answer.value));
  }
  return text;
}

std::string name_of_mark(trace::ResourceId resource) {
  for (const char* const name : {"a", "b", "c", "d", "s", "seen"}) {
    if (cx::mark_resource(name) == resource) return name;
  }
  return "unknown mark";
}

/// What else can be seen of a run: marks by their name, and how promises ended (COM-3).
std::string seen_in(const lab::LabReport& report) {
  std::map<std::string, std::string> marks;
  std::vector<std::uint64_t> promises;
  for (const trace::Event& event : report.trace.events) {
    if (event.kind == trace::EventKind::mark) {
      marks[name_of_mark(event.resource)].append(" ").append(std::to_string(event.argument));
    } else if (event.kind == trace::EventKind::resolve) {
      promises.push_back(event.argument);
    }
  }
  std::sort(promises.begin(), promises.end());
  std::string text;
  for (const auto& [name, steps] : marks) text.append("; ").append(name).append(":").append(steps);
  for (const std::uint64_t promise : promises) text.append("; promise ").append(std::to_string(promise));
  return text;
}

using Observations = std::set<std::string>;

/// Everything that can be observed of a plan, over all schedules.
Observations observe(const Plan& plan, const Works<int>& works) {
  auto end = std::make_shared<std::string>();
  const auto program = [&plan, &works, end](Cx cx) -> Task<void> {
    const Outcome<Answers<int>> answers = co_await outcome(run(cx, plan, works));
    *end = seen(plan, answers);
  };
  Observations observations;
  lab::ExploreConfig config;
  config.check = [&](const lab::LabReport& report) {
    observations.insert(*end + seen_in(report));
    return std::string();
  };
  const lab::ExploreReport report = lab::explore(program, config);
  EXPECT_LAB_CLEAN(report);
  EXPECT_TRUE(report.exhausted());
  return observations;
}

std::string to_text(const Observations& observations) {
  std::string text;
  for (const std::string& one : observations) text.append("\n  ").append(one);
  return text;
}

/// A plan over this tree whose leaves tell the truth, and what they do.
struct Honest {
  Plan plan;
  Deeds deeds;
};
Honest honest(const std::string& tree, const std::vector<Deed>& deeds, const std::string& group) {
  Node root = parse_tree(tree).value();
  std::vector<Leaf> leaves;
  Deeds known;
  for (const std::string_view name : leaf_names(root)) {
    const auto [at, added] = known.try_emplace(std::string(name), deeds[std::min(known.size(), deeds.size() - 1)]);
    if (added) leaves.push_back(facts_of(at->first, at->second, group));
  }
  return {Plan::make(std::move(root), std::move(leaves)).value(), std::move(known)};
}

/// Rewrites every combination of deeds as far as the rule allows, and compares both sides. Gives: how many were allowed.
std::size_t compare_both_sides(Rule rule, const std::vector<std::string>& trees, const std::vector<Deed>& palette,
                               const std::string& group = {}) {
  std::size_t allowed = 0;
  for (const std::string& tree : trees) {
    const std::size_t leaves = honest(tree, palette, group).deeds.size();
    std::size_t combinations = 1;
    for (std::size_t i = 0; i < leaves; ++i) combinations *= palette.size();
    for (std::size_t number = 0; number < combinations; ++number) {
      std::vector<Deed> deeds;
      for (std::size_t rest = number; deeds.size() < leaves; rest /= palette.size()) {
        deeds.push_back(palette[rest % palette.size()]);
      }
      const Honest before = honest(tree, deeds, group);
      const auto made = apply(before.plan, rule, {});
      if (!made.is_ok()) continue;
      ++allowed;
      EXPECT_TRUE(verify(before.plan, made.value().certificate).is_ok());
      const Works<int> works = works_of(before.deeds);
      const Observations was = observe(before.plan, works);
      const Observations is = observe(made.value().plan, works);
      EXPECT_EQ(was, is) << to_string(before.plan) << "before:" << to_text(was) << "\nafter "
                         << to_string(made.value().plan.root()) << ":" << to_text(is);
      if (testing::Test::HasFailure()) return allowed;
    }
  }
  return allowed;
}

/// What the two sides of a rewrite show when the leaves that it was told of are others than those that run.
std::pair<Observations, Observations> both_sides_of_a_lie(Rule rule, const std::string& tree, const Works<int>& works,
                                                          const std::string& group = {}) {
  const Honest told = honest(tree, {Deed::reads}, group);
  const auto made = apply(told.plan, rule, {});
  EXPECT_TRUE(made.is_ok()) << to_string(made.error());
  return {observe(told.plan, works), observe(made.value().plan, works)};
}

TEST(PlanRun, COM_4_leaves_answer_by_name_in_the_order_of_the_plan) {
  const auto program = [](Cx cx) -> Task<void> {
    const Honest h = honest("Join[b, Timeout(9s, Race[c, Join[d, a]]), a]",
                            {Deed::sleeps, Deed::stays, Deed::dozes, Deed::dozes}, "");
    const Works<int> works = works_of(h.deeds);
    const Answers<int> answers = co_await run(cx, h.plan, works);
    const Answers<int> wanted = {{"b", 7}, {"d", 7}, {"a", 7}, {"a", 7}};
    EXPECT_EQ(answers, wanted);
    EXPECT_TRUE(comes_at(cx.now(), Time() + plan_ms(2)));
  };
  EXPECT_LAB_CLEAN(lab::run({}, program));
}

TEST(PlanRun, COM_4_a_timeout_of_the_plan_ends_its_work_with_the_error) {
  const Honest h = honest("Timeout(1ms, Join[a, b])", {Deed::reads, Deed::stays}, "");
  EXPECT_EQ(observe(h.plan, works_of(h.deeds)), (Observations{"Err timeout"}));
}

TEST(PlanRun, COM_4_a_leaf_without_work_is_told_before_anything_starts) {
  const auto program = [](Cx cx) -> Task<void> {
    const Plan plan = build(join(leaf("known"), leaf("unknown"))).value();
    Works<int> works;
    works.add("known", Doer{"known", Deed::marks});
    const Outcome<Answers<int>> end = co_await outcome(run(cx, plan, works));
    EXPECT_TRUE(end.is_err());
    EXPECT_EQ(end.error().code(), Errc::invalid_argument);
    EXPECT_EQ(end.error().message(), "nobody said what leaf unknown does (COM-4)");
  };
  const lab::LabReport report = lab::run({}, program);
  EXPECT_LAB_CLEAN(report);
  EXPECT_EQ(seen_in(report), "");
}

TEST(PlanRun, COM_4_a_cancel_anywhere_in_a_plan_leaves_nothing_behind) {
  const auto program = [](Cx cx) -> Task<void> {
    const Honest h = honest("Race[Timeout(5ms, Join[a, b]), Join[c, d]]",
                            {Deed::promises, Deed::naps, Deed::lingers, Deed::marks}, "");
    const Works<int> works = works_of(h.deeds);
    (void)co_await outcome(run(cx, h.plan, works));
  };
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    EXPECT_LAB_CLEAN(lab::cancel_everywhere({.seed = seed}, program));
    EXPECT_LAB_CLEAN(lab::cancel_scopes_everywhere({.seed = seed}, program));
  }
}

TEST(PlanLaw, COM_4_COM_3_JoinAssoc_changes_nothing_that_can_be_observed) {
  const std::vector<std::string> trees = {"Join[a, Join[b, c]]", "Join[Join[a, b], c]"};
  EXPECT_GE(compare_both_sides(Rule::join_assoc, trees,
                               {Deed::reads, Deed::marks, Deed::refuses, Deed::protests, Deed::promises}),
            60U);
  EXPECT_GE(compare_both_sides(Rule::join_assoc, trees, {Deed::naps, Deed::dozes, Deed::lingers, Deed::protests}), 20U);
}

TEST(PlanLaw, COM_4_COM_3_RaceAssoc_changes_nothing_that_can_be_observed) {
  const std::vector<std::string> trees = {"Race[a, Race[b, c]]", "Race[Race[a, b], c]"};
  EXPECT_EQ(compare_both_sides(Rule::race_assoc, trees,
                               {Deed::reads, Deed::marks, Deed::refuses, Deed::protests, Deed::promises}),
            250U);
  EXPECT_EQ(compare_both_sides(Rule::race_assoc, trees, {Deed::naps, Deed::sleeps, Deed::dozes, Deed::lingers}), 72U);
  EXPECT_EQ(compare_both_sides(Rule::race_assoc, {"Race[a, Race[Join[b, c], d]]"}, {Deed::sleeps, Deed::dozes}), 16U);
}

/// c leaves a word when it is cancelled, and a looks for it.
Works<int> works_that_share_a_word(Deed of_b) {
  const auto word = std::make_shared<bool>(false);
  Works<int> works;
  works.add("a", [word](Cx cx) -> Task<int> {
    lab::touch(cx, "word", trace::Access::write);
    *word = false;
    co_await yield(cx);
    lab::touch(cx, "word", trace::Access::read);
    if (*word) cx.trace("seen", 1);
    co_return 7;
  });
  works.add("b", Doer{"b", of_b});
  works.add("c", [word](Cx cx) -> Task<int> {
    const Outcome<void> slept = co_await outcome(sleep(cx, plan_ms(1)));
    if (slept.is_cancelled()) {
      lab::touch(cx, "word", trace::Access::write);
      *word = true;
      co_await fail_with(cancelled(slept.reason()));
    }
    co_return 7;
  });
  return works;
}

TEST(PlanLaw, COM_4_COM_3_RaceAssoc_changes_nothing_even_for_leaves_that_lie_to_its_conditions) {
  const std::vector<Deed> palette = {Deed::marks, Deed::promises, Deed::dozes, Deed::sleeps, Deed::lingers};
  for (const std::string tree : {"Race[a, Race[b, c]]", "Race[Race[a, b], c]"}) {
    for (const Deed a : palette) {
      for (const Deed b : palette) {
        for (const Deed c : palette) {
          const Works<int> works = works_of({{"a", a}, {"b", b}, {"c", c}});
          const auto [nested, flat] = both_sides_of_a_lie(Rule::race_assoc, tree, works);
          ASSERT_EQ(nested, flat) << tree << to_text(nested) << "\nflat:" << to_text(flat);
        }
      }
    }
    const auto [nested, flat] = both_sides_of_a_lie(Rule::race_assoc, tree, works_that_share_a_word(Deed::reads));
    EXPECT_EQ(nested, flat);
  }
}

TEST(PlanLaw, COM_4_COM_3_JoinCommute_and_RaceCommute_change_nothing_for_parts_that_are_alike) {
  const std::vector<Deed> palette = {Deed::reads, Deed::marks, Deed::protests, Deed::promises, Deed::naps};
  EXPECT_GE(compare_both_sides(Rule::join_commute, {"Join[b, a]", "Join[c, a, b]"}, palette, "g"), 100U);
  EXPECT_GE(compare_both_sides(Rule::race_commute, {"Race[b, a]", "Race[c, a, b]"}, palette, "g"), 100U);
  EXPECT_GE(compare_both_sides(Rule::race_commute, {"Race[Join[c, d], Join[a, b]]"}, {Deed::reads, Deed::dozes}, "g"),
            8U);
}

TEST(PlanLaw, COM_4_COM_3_DedupRaceJoin_changes_nothing_that_can_be_observed) {
  const std::string tree = "Race[Join[s, a], Join[s, b]]";
  EXPECT_EQ(compare_both_sides(Rule::dedup_race_join, {tree}, {Deed::dozes, Deed::sleeps, Deed::refuses}, "g"), 12U);
  EXPECT_EQ(compare_both_sides(Rule::dedup_race_join, {tree}, {Deed::reads}, "g"), 1U);
}

TEST(PlanLaw, COM_4_COM_3_TimeoutMin_changes_nothing_that_can_be_observed) {
  const std::vector<Deed> palette = {Deed::marks,   Deed::naps,     Deed::sleeps,
                                     Deed::lingers, Deed::promises, Deed::protests};
  EXPECT_EQ(compare_both_sides(Rule::timeout_min,
                               {"Timeout(1ms, Timeout(2ms, a))", "Timeout(2ms, Timeout(1ms, a))",
                                "Timeout(2ms, Timeout(1ms, Join[a, b]))", "Timeout(1ms, Timeout(4ms, Race[a, b]))"},
                               palette),
            84U);
}

TEST(PlanLaw, COM_4_conditions_matter_JoinAssoc_of_leaves_that_share_something_shows_what_was_not_there) {
  // Inside, c is cancelled before a is.
  const Works<int> works = works_that_share_a_word(Deed::refuses);
  const auto [nested, flat] = both_sides_of_a_lie(Rule::join_assoc, "Join[a, Join[b, c]]", works);
  EXPECT_EQ(nested, (Observations{"Err full", "Err full; seen: 1"}));
  EXPECT_EQ(flat, (Observations{"Err full"}));
}

TEST(PlanLaw, COM_4_conditions_matter_JoinAssoc_of_two_sides_that_fail_before_all_eyes_differs) {
  Works<int> works = works_of({{"a", Deed::protests}, {"b", Deed::protests}, {"c", Deed::reads}});
  const auto [nested, flat] = both_sides_of_a_lie(Rule::join_assoc, "Join[a, Join[b, c]]", works);
  EXPECT_TRUE(nested.contains("Err full; a: 1 2; b: 1 2")) << to_text(nested);
  EXPECT_FALSE(flat.contains("Err full; a: 1 2; b: 1 2")) << to_text(flat);
}

TEST(PlanLaw, COM_4_conditions_matter_JoinCommute_of_parts_that_are_told_apart_changes_the_answer) {
  const Plan before = honest("Join[b, a]", {Deed::reads}, "").plan;
  const Plan after = apply(honest("Join[b, a]", {Deed::reads}, "g").plan, Rule::join_commute, {}).value().plan;
  const Plan told_apart = Plan::make(after.root(), {before.leaves().begin(), before.leaves().end()}).value();
  const Works<int> works = works_of({{"a", Deed::reads}, {"b", Deed::reads}});
  EXPECT_EQ(observe(before, works), (Observations{"Ok b=7 a=7"}));
  EXPECT_EQ(observe(told_apart, works), (Observations{"Ok a=7 b=7"}));
}

TEST(PlanLaw, COM_4_conditions_matter_DedupRaceJoin_of_what_is_not_repeatable_or_fails_differs) {
  const std::string tree = "Race[Join[s, a], Join[s, b]]";
  const Works<int> promising = works_of({{"s", Deed::promises}, {"a", Deed::reads}, {"b", Deed::reads}});
  const auto [twice, once] = both_sides_of_a_lie(Rule::dedup_race_join, tree, promising, "g");
  EXPECT_NE(twice, once);  // two promises, or one
  // s is slow, a is quick and b fails in between: the failure is seen only where b still runs then.
  Works<int> failing = works_of({{"a", Deed::dozes}});
  failing.add("s", [](Cx cx) -> Task<int> {
    co_await sleep(cx, plan_ms(3));
    co_return 7;
  });
  failing.add("b", [](Cx cx) -> Task<int> {
    co_await sleep(cx, plan_ms(2));
    co_return err(Errc::full);
  });
  const auto [with_failure, without] = both_sides_of_a_lie(Rule::dedup_race_join, tree, failing, "g");
  EXPECT_EQ(with_failure, (Observations{"Err full"}));
  EXPECT_EQ(without, (Observations{"Ok g=7 g=7"}));
}

}  // namespace
}  // namespace calm::plan
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
