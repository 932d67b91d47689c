// Rewrites: what they make, why they are refused, what their certificates prove.
#include "calm/plan/rewrite.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "calm/plan/build.hpp"
#include "calm/plan/check.hpp"
#include "calm/plan/parse.hpp"
#include "calm/plan/print.hpp"
#include "tests/unit/plan/trees.hpp"

namespace calm::plan {
namespace {

using namespace std::chrono_literals;

/// A leaf that every rule may do everything with.
LeafDraft tame(std::string name) {
  return leaf(std::move(name))
      .takes(1ms)
      .touches_nothing()
      .like("g")
      .ends_at_once()
      .holds_no_promise()
      .repeatable()
      .never_fails();
}

/// The tree over leaves of that kind.
Plan tame_plan(std::string_view tree) {
  Node root = parse_tree(tree).value();
  std::vector<Leaf> leaves;
  for (const std::string_view name : leaf_names(root)) leaves.push_back(tame(std::string(name)).said());
  return Plan::make(std::move(root), std::move(leaves)).value();
}

/// The same, and one leaf says otherwise.
Plan plan_with(std::string_view tree, std::string_view name, const std::function<void(Leaf&)>& change) {
  const Plan plan = tame_plan(tree);
  std::vector<Leaf> leaves(plan.leaves().begin(), plan.leaves().end());
  for (Leaf& one : leaves) {
    if (one.name == name) change(one);
  }
  return Plan::make(plan.root(), std::move(leaves)).value();
}

struct Row {
  Rule rule;
  std::string_view before;
  std::string_view after;
};
constexpr Row rewrites[] = {
    {Rule::join_assoc, "Join[a, Join[b, c]]", "Join[a, b, c]"},
    {Rule::join_assoc, "Join[Join[a, b], Join[c, d]]", "Join[a, b, Join[c, d]]"},
    {Rule::race_assoc, "Race[Race[a, Join[b, c]], d]", "Race[a, Join[b, c], d]"},
    {Rule::join_commute, "Join[c, a, b]", "Join[a, b, c]"},
    {Rule::race_commute, "Race[Join[c, d], Join[a, b]]", "Race[Join[a, b], Join[c, d]]"},
    {Rule::dedup_race_join, "Race[Join[s, a], Join[s, b]]", "Join[s, Race[a, b]]"},
    {Rule::dedup_race_join, "Race[Join[s, a, b], Join[s, c, d]]", "Join[s, Race[Join[a, b], Join[c, d]]]"},
    {Rule::timeout_min, "Timeout(5ms, Timeout(3ms, a))", "Timeout(3ms, a)"},
    {Rule::timeout_min, "Timeout(3ms, Timeout(5ms, a))", "Timeout(3ms, a)"},
};

TEST(PlanRewrite, COM_4_every_rule_does_what_its_row_says_and_its_certificate_is_verified) {
  for (const Row& row : rewrites) {
    const Plan plan = tame_plan(row.before);
    const auto made = apply(plan, row.rule, {});
    ASSERT_TRUE(made.is_ok()) << row.before << '\n' << to_string(made.error());
    const Rewritten& rewritten = made.value();
    EXPECT_EQ(to_string(rewritten.plan.root()), row.after);
    EXPECT_EQ(rewritten.certificate.rule, row.rule);
    EXPECT_EQ(rewritten.certificate.before, row.before);
    EXPECT_EQ(rewritten.certificate.after, row.after);
    EXPECT_EQ(rewritten.certificate.claimed, describe(row.rule).needs);
    const Outcome<Plan> verified = verify(plan, rewritten.certificate);
    ASSERT_TRUE(verified.is_ok()) << verified.explain();
    EXPECT_EQ(verified.value(), rewritten.plan);
  }
}

TEST(PlanRewrite, COM_4_a_rule_works_at_its_place_and_leaves_the_rest) {
  const Plan plan = tame_plan("Timeout(9ms, Race[Join[a, Join[b, c]], d])");
  const auto made = apply(plan, Rule::join_assoc, {0, 0});
  ASSERT_TRUE(made.is_ok()) << to_string(made.error());
  EXPECT_EQ(to_string(made.value().plan.root()), "Timeout(9ms, Race[Join[a, b, c], d])");
  EXPECT_EQ(to_string(made.value().certificate),
            "JoinAssoc at /0/0\n"
            "  before: Join[a, Join[b, c]]\n"
            "  after:  Join[a, b, c]\n"
            "  holds:  independence, no failure, obligations, cancel safety, budget, deterministic order");
}

TEST(PlanRewrite, COM_4_each_rule_has_a_switch) {
  for (const Row& row : rewrites) {
    Policy policy = Policy::all();
    policy.forbid(row.rule);
    const auto made = apply(tame_plan(row.before), row.rule, {}, policy);
    ASSERT_TRUE(made.is_err());
    EXPECT_EQ(made.error().kind, Refusal::Kind::policy);
    EXPECT_TRUE(simplify(tame_plan(row.before), Policy()).certificates.empty());
    EXPECT_TRUE(apply(tame_plan(row.before), row.rule, {}, Policy{row.rule}).is_ok());
  }
}

TEST(PlanRewrite, COM_4_a_rule_without_its_form_says_so) {
  const Plan plan = tame_plan("Join[Race[b, c], a]");
  for (const RuleRow& row : rule_table) {
    const auto made = apply(plan, row.rule, {});
    ASSERT_TRUE(made.is_err()) << row.name;
    EXPECT_EQ(made.error().kind, Refusal::Kind::form);
  }
  EXPECT_EQ(to_string(apply(plan, Rule::timeout_min, {}).error()),
            "calm: TimeoutMin is refused at /\n"
            "  who:  Join[Race[b, c], a] has not the form Timeout(c, Timeout(d, x))\n"
            "  law:  COM-4 Timeout(c, Timeout(d, x)) becomes Timeout(min(c, d), x)\n"
            "  next: look for another place");
  EXPECT_EQ(apply(plan, Rule::join_assoc, {0, 0, 0}).error().who, "there is no such place");
}

struct Broken {
  Rule rule;
  std::string_view before;
  std::string_view leaf;
  Condition condition;
  std::string_view who;
  std::function<void(Leaf&)> change;
};

/// Every condition that one leaf can break, for every rule that asks it.
const std::vector<Broken>& broken_rows() {
  const auto writes = [](Leaf& leaf) { leaf.writes = {"w"}; };
  const auto secret = [](Leaf& leaf) { leaf.effects_known = false; };
  const auto alone = [](Leaf& leaf) { leaf.group.clear(); };
  const auto other = [](Leaf& leaf) { leaf.group = "h"; };
  const auto once = [](Leaf& leaf) { leaf.repeatable = false; };
  const auto fails = [](Leaf& leaf) { leaf.can_fail = true; };
  const auto holds = [](Leaf& leaf) { leaf.holds_promises = true; };
  const auto drains = [](Leaf& leaf) { leaf.ends_at_once = false; };
  const auto both = [](Leaf& leaf) { leaf.holds_promises = true, leaf.ends_at_once = false; };
  constexpr std::string_view joins = "Join[a, Join[b, c]]";
  constexpr std::string_view races = "Race[a, Race[b, c]]";
  constexpr std::string_view twins = "Race[Join[s, a], Join[s, b]]";
  static const std::vector<Broken> rows = {
      {Rule::join_assoc, joins, "a", Condition::independence, "leaf a does not say what it touches", secret},
      {Rule::join_assoc, joins, "c", Condition::cancel, "leaf c may take time to clean up", drains},
      {Rule::join_assoc, joins, "a", Condition::obligations, "leaf a may hold a promise while it cleans up", both},
      {Rule::race_assoc, races, "b", Condition::independence, "leaf b does not say what it touches", secret},
      {Rule::race_assoc, races, "b", Condition::obligations, "leaf b may hold a promise while it cleans up", both},
      {Rule::race_assoc, races, "c", Condition::cancel, "leaf c may take time to clean up", drains},
      {Rule::join_commute, "Join[b, a]", "a", Condition::independence, "leaf a does not say what it touches", secret},
      {Rule::join_commute, "Join[b, a]", "a", Condition::symmetry, "a is like no other", alone},
      {Rule::join_commute, "Join[b, a]", "b", Condition::obligations, "leaf b may hold a promise while it cleans up",
       both},
      {Rule::race_commute, "Race[b, a]", "a", Condition::symmetry, "a is not like b", other},
      {Rule::race_commute, "Race[b, a]", "b", Condition::independence, "leaf b does not say what it touches", secret},
      {Rule::race_commute, "Race[b, a]", "b", Condition::obligations, "leaf b may hold a promise while it cleans up",
       both},
      {Rule::dedup_race_join, twins, "s", Condition::independence, "leaf s writes w", writes},
      {Rule::dedup_race_join, twins, "a", Condition::independence, "leaf a writes w", writes},
      {Rule::dedup_race_join, twins, "b", Condition::symmetry, "b is not like a", other},
      {Rule::dedup_race_join, twins, "s", Condition::repetition, "leaf s is not repeatable", once},
      {Rule::dedup_race_join, twins, "b", Condition::no_failure, "leaf b may fail", fails},
      {Rule::dedup_race_join, twins, "s", Condition::obligations, "leaf s may hold a promise", holds},
      {Rule::dedup_race_join, twins, "a", Condition::cancel, "leaf a may take time to clean up", drains},
  };
  return rows;
}

TEST(PlanRewrite, COM_4_a_condition_that_does_not_hold_is_named_with_the_leaf_that_breaks_it) {
  for (const Broken& row : broken_rows()) {
    const Plan plan = plan_with(row.before, row.leaf, row.change);
    const auto made = apply(plan, row.rule, {});
    ASSERT_TRUE(made.is_err()) << row.before << ' ' << row.who;
    EXPECT_EQ(made.error().kind, Refusal::Kind::condition);
    EXPECT_EQ(made.error().condition, row.condition);
    EXPECT_EQ(made.error().who, row.who);
    const Simplified left = simplify(plan, Policy{row.rule});
    EXPECT_EQ(left.plan, plan);
    ASSERT_EQ(left.refusals.size(), 1U);
    EXPECT_EQ(left.refusals.front().condition, row.condition);
  }
  const Plan drained = plan_with("Race[a, Race[b, c]]", "c", [](Leaf& leaf) { leaf.ends_at_once = false; });
  EXPECT_EQ(to_string(apply(drained, Rule::race_assoc, {}).error()),
            "calm: RaceAssoc is refused at /\n"
            "  who:  leaf c may take time to clean up\n"
            "  law:  COM-4 cancel safety\n"
            "  next: if that is not so, let the leaf say it; else the plan stays as it is");
}

TEST(PlanRewrite, COM_4_what_two_leaves_share_keeps_them_apart_and_two_that_read_are_free) {
  const auto shared = [](auto a, auto b) {
    return apply(build(join(tame("a").reads(a), join(tame("b").writes(b), tame("c")))).value(), Rule::join_assoc, {});
  };
  EXPECT_EQ(shared("x", "x").error().who, "leaf b writes x, which leaf a touches");
  EXPECT_TRUE(shared("x", "y").is_ok());
  const Plan readers = build(join(tame("a").reads("x"), join(tame("b").reads("x"), tame("c")))).value();
  EXPECT_TRUE(apply(readers, Rule::join_assoc, {}).is_ok());
  const Plan writers = build(join(tame("b").writes("x"), tame("a").writes("x"))).value();
  EXPECT_EQ(apply(writers, Rule::join_commute, {}).error().who, "leaf b writes x, which leaf a touches");
}

TEST(PlanRewrite, COM_4_of_two_sides_of_a_join_that_both_fail_nobody_may_see_how_far_they_came) {
  const auto fails = [](LeafDraft draft) {
    Leaf said = draft.said();
    said.can_fail = true;
    return said;
  };
  const Node root = parse_tree("Join[a, Join[b, c]]").value();
  const auto refused = [&](const LeafDraft& a, const LeafDraft& b) {
    return apply(Plan::make(root, {fails(a), fails(b), tame("c").said()}).value(), Rule::join_assoc, {});
  };
  EXPECT_TRUE(refused(tame("a"), tame("b")).is_ok());
  EXPECT_EQ(refused(tame("a").writes("x"), tame("b")).error().condition, Condition::no_failure);
  EXPECT_EQ(refused(tame("a"), tame("b").writes("y")).error().who,
            "leaf b may fail, and so may one beside it, while leaf b writes y");
  const Plan one = Plan::make(root, {fails(tame("a").writes("x")), tame("b").said(), tame("c").said()}).value();
  EXPECT_TRUE(apply(one, Rule::join_assoc, {}).is_ok());
}

TEST(PlanRewrite, COM_4_a_second_part_is_tried_when_the_first_may_not_go_up) {
  const Plan plan = plan_with("Join[Join[a, b], Join[c, d]]", "a", [](Leaf& leaf) { leaf.ends_at_once = false; });
  const auto made = apply(plan, Rule::join_assoc, {});
  ASSERT_TRUE(made.is_ok()) << to_string(made.error());
  EXPECT_EQ(to_string(made.value().plan.root()), "Join[Join[a, b], c, d]");
  EXPECT_TRUE(verify(plan, made.value().certificate).is_ok());
}

TEST(PlanRewrite, COM_4_simplifying_ends_in_a_plan_that_no_rule_changes_and_a_chain_of_certificates_proves_it) {
  std::size_t steps = 0;
  for (int leaves = 1; leaves <= 4; ++leaves) {
    for (const Node& tree : planned::all_trees(0, leaves, true)) {
      const Plan plan = tame_plan("Timeout(2ms, Timeout(1ms, " + to_string(tree) + "))");
      const Simplified made = simplify(plan, Policy::all());
      steps += made.certificates.size();
      const Outcome<void> verified = verify_all(plan, made.certificates, made.plan);
      ASSERT_TRUE(verified.is_ok()) << verified.explain() << to_string(plan);
      const Simplified again = simplify(made.plan, Policy::all());
      ASSERT_TRUE(again.certificates.empty()) << to_string(made.plan);
      ASSERT_EQ(again.plan, made.plan);
    }
  }
  EXPECT_GT(steps, 800U);
  EXPECT_EQ(to_string(simplify(tame_plan("Race[Join[s, Join[d, c]], Join[b, a, s]]"), Policy::all()).plan.root()),
            "Race[Join[a, b, s], Join[c, d, s]]");
  EXPECT_EQ(
      to_string(
          simplify(tame_plan("Timeout(9s, Race[Join[a, Join[d, c]], Join[b, a, e]])"), Policy::all()).plan.root()),
      "Timeout(9s, Join[a, Race[Join[b, e], Join[c, d]]])");
}

TEST(PlanRewrite, COM_4_a_wide_plan_is_simplified_and_proven_too) {
  std::string tree = "Join[";
  for (int i = 0; i < 40; ++i) {
    const std::string number = std::to_string(100 + i);
    tree.append(i > 0 ? ", " : "")
        .append("Join[b" + number + ", a" + number + ", Race[d" + number + ", c" + number + "]]");
  }
  const Plan plan = tame_plan(tree + "]");
  const Simplified made = simplify(plan, {Rule::join_assoc, Rule::race_commute});
  EXPECT_EQ(made.certificates.size(), 2 * 40U);
  EXPECT_EQ(made.plan.root().parts().size(), 3 * 40U);
  EXPECT_TRUE(verify_all(plan, made.certificates, made.plan).is_ok());
}

TEST(PlanCertificate, COM_4_a_certificate_that_was_tampered_with_is_refused) {
  std::size_t refused = 0;
  for (const Row& row : rewrites) {
    const Plan plan = tame_plan(row.before);
    const Certificate honest = apply(plan, row.rule, {}).value().certificate;
    const auto must_refuse = [&](const std::function<void(Certificate&)>& tamper, const char* what) {
      Certificate changed = honest;
      tamper(changed);
      if (changed == honest) return;
      EXPECT_TRUE(verify(plan, changed).is_err()) << what << '\n' << to_string(changed);
      ++refused;
    };
    for (std::uint8_t rule = 0; rule <= rule_count; ++rule) {
      must_refuse([rule](Certificate& c) { c.rule = static_cast<Rule>(rule); }, "another rule");
      // also one that claims what that other rule needs
      must_refuse(
          [rule](Certificate& c) {
            c.rule = static_cast<Rule>(rule % rule_count);
            c.claimed = describe(c.rule).needs;
          },
          "another rule with its conditions");
    }
    for (std::uint8_t i = 0; i < condition_count; ++i) {
      must_refuse([i](Certificate& c) { c.claimed = c.claimed.without(static_cast<Condition>(i)); }, "fewer claims");
    }
    must_refuse([](Certificate& c) { c.place = {0}; }, "another place");
    must_refuse([](Certificate& c) { c.place = {9, 9}; }, "no place");
    must_refuse([](Certificate& c) { c.before = "Join[a, b]"; }, "another before");
    must_refuse([](Certificate& c) { c.before += " "; }, "before with a blank");
    must_refuse([](Certificate& c) { c.after = c.before; }, "nothing done");
    for (std::size_t i = 0; i < honest.after.size(); ++i) {
      // every leaf in turn becomes another, every digit another number, every bracket goes
      for (const char letter : {'a', 'b', 'c', 'd', 's', '1', '9', ']', ' '}) {
        must_refuse(
            [&](Certificate& c) {
              if (parse_tree(std::string(c.after).replace(i, 1, 1, letter)).value_or(Node::leaf("x")) !=
                  parse_tree(c.after).value()) {
                c.after[i] = letter;
              }
            },
            "another after");
      }
    }
  }
  EXPECT_GT(refused, 500U);
}

TEST(PlanCertificate, COM_4_no_tree_but_the_right_one_is_accepted_as_the_result) {
  for (const Row& row : rewrites) {
    const Plan plan = tame_plan(row.before);
    const Certificate honest = apply(plan, row.rule, {}).value().certificate;
    const Node right = parse_tree(row.after).value();
    for (int leaves = 1; leaves <= 4; ++leaves) {
      for (const Node& tree : planned::all_trees(0, leaves, true)) {
        if (tree == right) continue;
        Certificate changed = honest;
        changed.after = to_string(tree);
        const bool other_inner_join =
            row.before == "Join[Join[a, b], Join[c, d]]" && changed.after == "Join[Join[a, b], c, d]";
        EXPECT_EQ(verify(plan, changed).is_ok(), other_inner_join) << to_string(changed);
      }
    }
  }
}

TEST(PlanCertificate, COM_4_the_checker_finds_every_broken_condition_by_itself) {
  for (const Broken& row : broken_rows()) {
    // The certificate of a plan whose leaves said better things.
    const Certificate honest = apply(tame_plan(row.before), row.rule, {}).value().certificate;
    const Outcome<Plan> verified = verify(plan_with(row.before, row.leaf, row.change), honest);
    ASSERT_TRUE(verified.is_err()) << row.before << ' ' << row.who;
    EXPECT_NE(verified.error().message().find("a condition that it claims does not hold"), std::string_view::npos);
  }
}

TEST(PlanCertificate, COM_4_rewriter_and_checker_agree_on_every_small_plan_and_every_leaf_that_breaks_something) {
  const std::vector<std::function<void(Leaf&)>> changes = {
      [](Leaf&) {},
      [](Leaf& leaf) { leaf.effects_known = false; },
      [](Leaf& leaf) { leaf.writes = {leaf.name}; },
      [](Leaf& leaf) { leaf.reads = {"a", "b", "c"}; },
      [](Leaf& leaf) { leaf.group = "h"; },
      [](Leaf& leaf) { leaf.ends_at_once = false; },
      [](Leaf& leaf) { leaf.holds_promises = true; },
      [](Leaf& leaf) { leaf.repeatable = false; },
      [](Leaf& leaf) { leaf.can_fail = true; },
      [](Leaf& leaf) { leaf.can_fail = true, leaf.writes = {leaf.name}; },
  };
  std::size_t accepted = 0;
  std::size_t refused = 0;
  const auto compare = [&](const Plan& tame, const Plan& plan) {
    for (const RuleRow& row : rule_table) {
      const auto possible = apply(tame, row.rule, {});
      if (!possible.is_ok()) continue;
      const bool allowed = apply(plan, row.rule, {}).is_ok();
      ASSERT_EQ(allowed, verify(plan, possible.value().certificate).is_ok()) << row.name << '\n' << to_string(plan);
      ++(allowed ? accepted : refused);
    }
  };
  std::vector<std::string> trees = {"Race[Join[c, a], Join[c, b]]", "Timeout(2s, Timeout(1s, Join[a, b]))",
                                    "Join[c, Race[b, a]]", "Race[Join[c, a], Join[b, c]]"};
  for (const Node& tree : planned::all_trees(0, 3, false)) trees.push_back(to_string(tree));
  trees.insert(trees.end(), {"Join[b, a]", "Race[b, a]", "Join[c, b, a]", "Race[c, a, b]"});
  for (const std::string& tree : trees) {
    const Plan tame = tame_plan(tree);
    std::size_t combinations = 1;
    for (std::size_t i = 0; i < tame.leaves().size(); ++i) combinations *= changes.size();
    for (std::size_t number = 0; number < combinations; ++number) {
      std::vector<Leaf> leaves(tame.leaves().begin(), tame.leaves().end());
      std::size_t rest = number;
      for (Leaf& one : leaves) {
        changes[rest % changes.size()](one);
        rest /= changes.size();
      }
      compare(tame, Plan::make(tame.root(), leaves).value());
    }
  }
  EXPECT_GT(accepted, 500U);
  EXPECT_GT(refused, 1'000U);
}

TEST(PlanCertificate, COM_4_a_chain_must_lead_to_the_plan_it_is_said_to_prove) {
  const Plan plan = tame_plan("Join[c, Join[b, a]]");
  Simplified made = simplify(plan, Policy::all());
  ASSERT_EQ(made.certificates.size(), 2U);
  EXPECT_TRUE(verify_all(plan, made.certificates, made.plan).is_ok());
  EXPECT_TRUE(verify_all(plan, {}, plan).is_ok());
  EXPECT_EQ(verify_all(plan, made.certificates, plan).error().message(),
            "the certificates lead to another plan (COM-4)");
  std::swap(made.certificates[0], made.certificates[1]);
  const Outcome<void> swapped = verify_all(plan, made.certificates, made.plan);
  ASSERT_TRUE(swapped.is_err());
  EXPECT_EQ(swapped.error().message(), "certificate 1");
  EXPECT_EQ(swapped.error().cause()->message(), "JoinCommute at /: something else stood there (COM-4)");
}

}  // namespace
}  // namespace calm::plan
