// Plans as values: their form, their text, how long they take.
#include "calm/plan/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calm/plan/build.hpp"
#include "calm/plan/cost.hpp"
#include "calm/plan/graphviz.hpp"
#include "calm/plan/parse.hpp"
#include "calm/plan/print.hpp"
#include "tests/unit/plan/trees.hpp"

namespace calm::plan {
namespace {

using namespace std::chrono_literals;

std::string refusal_of(const Outcome<Plan>& made) {
  EXPECT_TRUE(made.is_err());
  if (!made.is_err()) return {};
  EXPECT_EQ(made.error().code(), Errc::invalid_argument);
  return std::string(made.error().message());
}

TEST(PlanForm, COM_4_a_plan_of_bad_form_is_refused_in_words) {
  const auto one = [] { return leaf("x"); };
  EXPECT_EQ(refusal_of(build(join())), "the join at / has no parts (COM-4)");
  EXPECT_EQ(refusal_of(build(join(one(), race()))), "the race at /1 has no parts: it would never end (COM-4)");
  EXPECT_EQ(refusal_of(build(join(one(), timeout(0ms, one())))),
            "the timeout at /1 is 0s; it must be above 0 and end some day (COM-4)");
  EXPECT_EQ(refusal_of(build(timeout(-5ms, one()))),
            "the timeout at / is -5ms; it must be above 0 and end some day (COM-4)");
  EXPECT_EQ(refusal_of(build(timeout(Duration::max(), one()))),
            "the timeout at / is for ever; it must be above 0 and end some day (COM-4)");
  EXPECT_EQ(refusal_of(build(race(one(), leaf("")))), "the leaf at /1 has no name that can be one (COM-4)");
  EXPECT_EQ(refusal_of(build(leaf("Join"))), "the leaf at / has no name that can be one (COM-4)");
  EXPECT_EQ(refusal_of(build(leaf("a b"))), "the leaf at / has no name that can be one (COM-4)");
  EXPECT_EQ(refusal_of(build(leaf(std::string(max_name + 1, 'n')))),
            "the leaf at / has no name that can be one (COM-4)");
  EXPECT_EQ(refusal_of(build(leaf("x").takes(-1ms))), "leaf x takes less than no time (COM-4)");
  EXPECT_EQ(refusal_of(build(leaf("x").reads("\n"))), "leaf x touches something without a name (COM-4)");
  EXPECT_EQ(refusal_of(build(leaf("x").like("]"))), "leaf x is like something without a name (COM-4)");
  EXPECT_EQ(refusal_of(build(join(leaf("x").takes(1ms), leaf("x").takes(2ms)))),
            "leaf x is said to be two different things (COM-4)");
  EXPECT_EQ(refusal_of(Plan::make(Node::join({Node::leaf("a"), Node::leaf("b")}), {Leaf{.name = "b"}})),
            "leaf a is unknown: it stands in the tree and nothing is said of it (COM-4)");
  EXPECT_EQ(refusal_of(Plan::make(Node::leaf("a"), {Leaf{.name = "a"}, Leaf{.name = "b"}})),
            "leaf b is not in the tree (COM-4)");
  EXPECT_EQ(refusal_of(Plan::make(Node::leaf("b"), {Leaf{.name = "a"}, Leaf{.name = "b"}})),
            "leaf a is not in the tree (COM-4)");
}

TEST(PlanForm, COM_4_depth_and_size_are_bounded_and_a_million_levels_do_no_harm) {
  const auto chain = [](std::uint32_t levels) {
    Draft part = leaf("x");
    for (std::uint32_t i = 0; i < levels; ++i) part = join(std::move(part));
    return part;
  };
  EXPECT_TRUE(build(chain(max_depth - 1)).is_ok());
  EXPECT_EQ(refusal_of(build(chain(max_depth))), "the plan is more than 64 nodes deep (COM-4)");
  EXPECT_EQ(refusal_of(build(chain(1'000'000))), "the plan is more than 64 nodes deep (COM-4)");
  const auto row = [](std::size_t nodes) { return std::vector<Draft>(nodes - 1, Draft(leaf("x"))); };
  EXPECT_TRUE(build(join(row(max_nodes))).is_ok());
  EXPECT_EQ(refusal_of(build(join(row(max_nodes + 1)))), "the plan has more than 1000 nodes (COM-4)");
}

TEST(PlanForm, COM_4_leaves_are_known_once_by_name_and_a_part_can_be_replaced) {
  const Plan plan = build(race(leaf("b").reads("y").reads("x").reads("y"), leaf("a"), leaf("a"))).value();
  ASSERT_EQ(plan.leaves().size(), 2U);
  EXPECT_EQ(plan.leaves()[0].name, "a");
  EXPECT_EQ(plan.find("b")->reads, (std::vector<std::string>{"x", "y"}));
  EXPECT_TRUE(plan.find("b")->effects_known);
  EXPECT_FALSE(plan.find("a")->effects_known);
  EXPECT_EQ(plan.find("c"), nullptr);
  EXPECT_EQ(plan.at({3}), nullptr);
  EXPECT_EQ(to_string(*plan.at({0})), "b");
  const Plan other = plan.with({0}, Node::leaf("a")).value();
  EXPECT_EQ(to_string(other.root()), "Race[a, a, a]");
  EXPECT_EQ(other.leaves().size(), 1U);
  EXPECT_EQ(refusal_of(plan.with({7, 1}, Node::leaf("a"))), "there is nothing at /7/1 (COM-4)");
  EXPECT_EQ(refusal_of(plan.with({0}, Node::leaf("new"))),
            "leaf new is unknown: it stands in the tree and nothing is said of it (COM-4)");
}

TEST(PlanText, COM_4_a_plan_reads_as_it_is_written) {
  const Plan plan =
      build(timeout(50ms, race(join(leaf("user").takes(2ms).touches_nothing().like("reader").never_fails(),
                                    leaf("orders").takes(5ms).reads("db").writes("log")),
                               leaf("mirror").takes(20ms).reads("db").ends_at_once().holds_no_promise().repeatable())))
          .value();
  EXPECT_EQ(to_string(plan),
            "Timeout(50ms, Race[Join[user, orders], mirror])\n"
            "where\n"
            "  mirror takes 20ms, reads db, ends at once, holds no promise, repeatable\n"
            "  orders takes 5ms, reads db, writes log\n"
            "  user takes 2ms, touches nothing, like reader, never fails\n");
  EXPECT_EQ(parse(to_string(plan)).value(), plan);
}

TEST(PlanText, COM_4_long_plans_are_broken_into_lines_and_read_back) {
  std::vector<Draft> parts;
  for (int i = 0; i < 12; ++i) parts.push_back(leaf("work-number-" + std::to_string(i)));
  const Plan plan = build(timeout(7s, race(join(parts), leaf("other")))).value();
  const std::string text = to_string(plan);
  EXPECT_TRUE(text.starts_with("Timeout(7s,\n  Race[\n    Join[\n      work-number-0,\n      work-number-1,\n"));
  std::size_t longest = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    longest = std::max(longest, end - at);
    at = end + 1;
  }
  EXPECT_LE(longest, 100U);
  EXPECT_EQ(parse(text).value(), plan);
}

TEST(PlanText, COM_4_every_small_plan_survives_being_written_and_read) {
  std::size_t count = 0;
  for (int leaves = 1; leaves <= 4; ++leaves) {
    for (const Node& tree : planned::all_trees(0, leaves, true)) {
      std::vector<Leaf> known;
      for (int i = 0; i < leaves; ++i) {
        const auto bit = [&](std::size_t of) { return (count >> (of + static_cast<std::size_t>(i)) & 1U) != 0; };
        known.push_back({.name = planned::name_of(i),
                         .cost = bit(0) ? Duration(5ms) : Duration::max(),
                         .effects_known = bit(1),
                         .group = bit(2) ? "g" : "",
                         .ends_at_once = bit(3),
                         .holds_promises = bit(4),
                         .repeatable = bit(5),
                         .can_fail = bit(6)});
        if (bit(7)) known.back().reads = {"r1", "r2"};
        if (bit(8)) known.back().writes = {"w"};
      }
      const Plan plan = Plan::make(tree, known).value();
      const Outcome<Plan> read = parse(to_string(plan));
      ASSERT_TRUE(read.is_ok()) << read.explain();
      ASSERT_EQ(read.value(), plan) << to_string(plan);
      ++count;
    }
  }
  EXPECT_GT(count, 400U);
}

TEST(PlanText, COM_4_a_text_with_any_letter_changed_is_refused_or_another_plan_that_reads_back) {
  const std::string text =
      "Timeout(50ms, Race[Join[a, b], c])\nwhere\n  a takes 2ms, reads x y\n  b like g, ends at once\n  c never fails\n";
  ASSERT_TRUE(parse(text).is_ok());
  std::size_t accepted = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const char letter : {'a', 'Z', '0', ',', '[', ']', '(', ')', ' ', '\n', '-', '\0', '\xff'}) {
      std::string changed = text;
      changed[i] = letter;
      const Outcome<Plan> read = parse(changed);
      if (read.is_ok()) {
        ASSERT_EQ(parse(to_string(read.value())).value(), read.value()) << changed;
        ++accepted;
      } else {
        ASSERT_FALSE(read.error().message().empty());
      }
    }
    const Outcome<Plan> cut = parse(text.substr(0, i));
    ASSERT_TRUE(cut.is_ok() || cut.error().code() == Errc::invalid_argument);
  }
  EXPECT_GT(accepted, 10U);
}

TEST(PlanText, COM_4_what_cannot_be_read_is_told_with_line_and_column) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"", "line 1, column 1: expected Join[…], Race[…], Timeout(…) or the name of a leaf"},
      {"Join[a, ]", "line 1, column 9: expected Join[…], Race[…], Timeout(…) or the name of a leaf"},
      {"Join[a b]", "line 1, column 8: expected `]`"},
      {"Join(a)", "line 1, column 5: expected `[`"},
      {"Race[a,\n  Timeout(5 ms, b)]", "line 2, column 11: expected a length of time such as 50ms"},
      {"Timeout(5ms)", "line 1, column 12: expected `,`"},
      {"a b", "line 1, column 3: expected `where` or the end"},
      {"a where\n  a takes long", "line 2, column 11: expected a length of time such as 50ms"},
      {"a where\n  a ends at last", "line 2, column 13: expected `once`"},
      {"a where\n  a reads", "line 2, column 10: expected the name of something that it touches"},
      {"a where\n  a sings",
       "line 2, column 5: expected takes, reads, writes, touches nothing, like, ends at once, holds no promise, repeatable "
       "or never fails"},
      {"a where\n  a takes 5ms repeatable", "line 2, column 15: expected `,` or the end of the line"},
      {"Join[]", "the join at / has no parts (COM-4)"},
      {"a", "leaf a is unknown: it stands in the tree and nothing is said of it (COM-4)"},
  };
  for (const auto& [text, wanted] : rows) EXPECT_EQ(refusal_of(parse(text)), wanted) << text;
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "Join[";
  EXPECT_EQ(refusal_of(parse(deep)), "line 1, column 321: expected a tree of at most 64 nodes from root to leaf");
}

TEST(PlanCost, COM_4_a_join_is_as_long_as_its_longest_part_a_race_as_its_shortest_a_timeout_at_most_its_limit) {
  const Plan plan =
      build(join(leaf("a").takes(3ms), race(leaf("b").takes(9ms), leaf("c").takes(7ms)), timeout(4ms, leaf("d"))))
          .value();
  const Timing found = timing(plan);
  EXPECT_EQ(found.length, TimeSpan(7ms));
  EXPECT_EQ(found.critical, (Path{1, 1}));
  EXPECT_EQ(to_string(found),
            "takes 7ms, decided at /1/1\n"
            "  /0 a takes 3ms: slack 4ms\n"
            "  /1/0 b takes 9ms: may take as long as it likes\n"
            "  /1/1 c takes 7ms: critical\n"
            "  /2/0 d takes nobody knows how long: may take as long as it likes");
}

/// The plan with this leaf as long as that; leaves are numbered by name.
Plan with_cost(const Plan& plan, std::size_t number, Duration cost) {
  std::vector<Leaf> leaves(plan.leaves().begin(), plan.leaves().end());
  leaves[number].cost = cost;
  return Plan::make(plan.root(), leaves).value();
}

TEST(PlanCost, COM_4_BUD_7_slack_is_exactly_what_a_leaf_may_take_longer_before_the_plan_does) {
  constexpr Duration costs[] = {1ms, 2ms, 3ms, 2ms, 1ms};
  std::size_t critical = 0;
  for (std::size_t turn = 0; turn < 3; ++turn) {
    for (const Node& tree : planned::all_trees(0, 4, true)) {
      std::vector<Leaf> leaves;
      for (std::size_t i = 0; i < 4; ++i) {
        leaves.push_back({.name = planned::name_of(static_cast<int>(i)), .cost = costs[(i * (turn + 1) + turn) % 5]});
      }
      const Plan plan = Plan::make(tree, leaves).value();
      const Timing found = timing(plan);
      for (std::size_t i = 0; i < 4; ++i) {
        const LeafTiming& one = found.leaves[i];
        if (one.slack == Duration::max()) {
          ASSERT_EQ(timing(with_cost(plan, i, Duration::max())).length, found.length) << to_string(plan);
          continue;
        }
        if (one.is_critical()) ++critical;
        const Duration most = one.cost.length() + one.slack;
        ASSERT_EQ(timing(with_cost(plan, i, most)).length, found.length) << to_string(plan);
        ASSERT_GT(timing(with_cost(plan, i, most + Duration(1ns))).length, found.length) << to_string(plan);
      }
      // What is said to decide takes exactly as long, and is a leaf or a timeout that cuts its work short.
      const Node& decides = *plan.at(found.critical);
      ASSERT_EQ(length_of(plan, decides), found.length) << to_string(plan);
      ASSERT_TRUE(decides.is(Op::leaf) || decides.is(Op::timeout)) << to_string(plan);
    }
  }
  EXPECT_GT(critical, 100U);
}

TEST(PlanCost, COM_4_with_a_time_to_be_done_slack_counts_from_there_and_says_who_is_late) {
  const Plan plan = build(join(leaf("a").takes(3ms), leaf("b").takes(9ms), leaf("c"))).value();
  EXPECT_EQ(to_string(timing(plan, TimeSpan(5ms))),
            "takes nobody knows how long, decided at /2\n"
            "  /0 a takes 3ms: slack 2ms\n"
            "  /1 b takes 9ms: too late by 4ms\n"
            "  /2 c takes nobody knows how long: may be too late");
}

TEST(PlanPicture, COM_4_graphviz_draws_the_critical_way_bold) {
  const Plan plan = build(timeout(50ms, race(leaf("near").takes(5ms), leaf("far")))).value();
  EXPECT_EQ(to_graphviz(plan),
            "digraph plan {\n"
            "  node [fontname=\"sans-serif\"];\n"
            "  n0 [label=\"timeout 50ms\", shape=octagon, style=bold];\n"
            "  n1 [label=\"race\", shape=diamond, style=bold];\n"
            "  n2 [label=\"near\\n5ms, critical\", shape=box, style=bold];\n"
            "  n1 -> n2 [style=bold];\n"
            "  n3 [label=\"far\", shape=box];\n"
            "  n1 -> n3;\n"
            "  n0 -> n1 [style=bold];\n"
            "}\n");
}

}  // namespace
}  // namespace calm::plan
