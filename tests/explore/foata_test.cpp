// The canonical form, against every order of random programs: two orders have one form exactly when swaps of neighbours that
// commute lead from one to the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "calm/explore/canonical.hpp"
#include "calm/explore/strategies.hpp"
#include "calm/trace/few_switches.hpp"
#include "calm/trace/foata.hpp"
#include "tests/explore/straight_line.hpp"

namespace calm::explore {
namespace {

using trace::Place;
using trace::Step;

struct Order {
  std::vector<Step> steps;
  std::vector<Place> form;
  std::uint64_t fast = 0;       // Execution::fingerprint()
  std::uint64_t canonical = 0;  // XXH64 of the form
};

/// Keeps every order of a program.
class Orders final : public Listener {
 public:
  void ended(const Execution& execution, bool /*deadlock*/) override {
    Order order;
    order.steps = steps_of(execution);
    order.fast = execution.fingerprint();
    order.form = foata_of(order.steps);
    order.canonical = fingerprint(order.steps, order.form);
    for (const Place& place : order.form) {
      layers_agree = layers_agree && place.layer == execution[static_cast<std::uint32_t>(place.step)].layer;
    }
    all.push_back(std::move(order));
  }

  std::vector<Order> all;
  bool layers_agree = true;
};

/// Gives: every order of the program, or nothing when there are more than `most`.
std::vector<Order> orders_of(std::uint64_t seed, std::uint64_t most) {
  const StraightLine program = random_program(seed);
  StraightLineRun run(program);
  Orders orders;
  const Report report = explore_all(run, {.max_executions = most}, UINT32_MAX, &orders);
  EXPECT_TRUE(orders.layers_agree) << "seed " << seed;
  if (!report.exhausted) return {};
  return std::move(orders.all);
}

std::vector<Process> schedule(const Order& order) {
  std::vector<Process> processes;
  for (const Step& step : order.steps) processes.push_back(static_cast<Process>(step.process));
  return processes;
}

bool depend(const Step& a, const Step& b) {
  if (a.process == b.process) return true;
  for (const trace::StepTouch& x : a.touched) {
    for (const trace::StepTouch& y : b.touched) {
      if (x.resource == y.resource && (x.write || y.write)) return true;
    }
  }
  return false;
}

/// Numbers the classes of orders that swaps of neighbours lead through, by searching: knows nothing of layers.
std::vector<std::size_t> classes_of(const std::vector<Order>& orders) {
  std::map<std::vector<Process>, std::size_t> index;
  for (std::size_t i = 0; i < orders.size(); ++i) index.emplace(schedule(orders[i]), i);
  std::vector<std::size_t> known(orders.size(), SIZE_MAX);
  std::size_t classes = 0;
  for (std::size_t first = 0; first < orders.size(); ++first) {
    if (known[first] != SIZE_MAX) continue;
    std::vector<std::size_t> open{first};
    known[first] = classes;
    while (!open.empty()) {
      const Order& order = orders[open.back()];
      open.pop_back();
      for (std::size_t i = 0; i + 1 < order.steps.size(); ++i) {
        if (depend(order.steps[i], order.steps[i + 1])) continue;
        std::vector<Process> swapped = schedule(order);
        std::swap(swapped[i], swapped[i + 1]);
        const auto there = index.find(swapped);
        if (there == index.end() || known[there->second] != SIZE_MAX) continue;
        known[there->second] = classes;
        open.push_back(there->second);
      }
    }
    ++classes;
  }
  return known;
}

TEST(Foata, LAB_4_two_orders_have_one_form_exactly_when_swaps_of_steps_that_commute_lead_from_one_to_the_other) {
  std::uint64_t programs = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const std::vector<Order> orders = orders_of(seed, 2'000);
    if (orders.empty()) continue;
    ++programs;
    const std::vector<std::size_t> classes = classes_of(orders);
    std::map<std::size_t, std::size_t> first_of;
    std::set<std::uint64_t> canonical;
    std::set<std::uint64_t> fast;
    for (std::size_t i = 0; i < orders.size(); ++i) {
      const Order& order = orders[i];
      const Order& first = orders[first_of.try_emplace(classes[i], i).first->second];
      ASSERT_EQ(order.canonical, first.canonical) << "seed " << seed;
      ASSERT_EQ(order.fast, first.fast) << "seed " << seed;
      ASSERT_FALSE(first_difference(order.steps, order.form, first.steps, first.form)) << "seed " << seed;
      canonical.insert(order.canonical);
      fast.insert(order.fast);
    }
    ASSERT_EQ(canonical.size(), first_of.size()) << "seed " << seed;
    ASSERT_EQ(fast.size(), first_of.size()) << "seed " << seed;
    ASSERT_EQ(count_executions(random_program(seed)), first_of.size()) << "seed " << seed;
  }
  EXPECT_GT(programs, 100U);
}

TEST(Foata, LAB_4_the_swap_distance_is_the_length_of_the_shortest_way_and_zero_only_for_the_same_order) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const std::vector<Order> orders = orders_of(seed, 300);
    const std::vector<std::size_t> classes = classes_of(orders);
    for (std::size_t i = 0; i < orders.size(); ++i) {
      // One swap of neighbours that commute is distance one; the distance back is the same.
      for (std::size_t k = 0; k < orders.size(); ++k) {
        if (classes[i] != classes[k]) continue;
        const std::uint64_t distance = swap_distance(orders[i].form, orders[k].form);
        ASSERT_EQ(distance, swap_distance(orders[k].form, orders[i].form));
        ASSERT_EQ(distance == 0, i == k);
        std::size_t different = 0;
        for (std::size_t at = 0; at < orders[i].steps.size(); ++at) {
          different += schedule(orders[i])[at] != schedule(orders[k])[at] ? 1U : 0U;
        }
        ASSERT_LE(different, 2 * distance);
      }
    }
  }
}

TEST(Foata, LAB_4_the_order_for_display_is_of_the_same_form_and_no_order_of_it_has_fewer_switches) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const std::vector<Order> orders = orders_of(seed, 1'000);
    std::map<std::uint64_t, std::uint64_t> fewest;
    for (const Order& order : orders) {
      const std::uint64_t switches = switches_in(order.steps);
      auto& least = fewest.try_emplace(order.canonical, switches).first->second;
      least = std::min(least, switches);
    }
    for (const Order& order : orders) {
      for (const std::size_t effort : {std::size_t{20'000}, std::size_t{0}}) {
        const trace::DisplayOrder display = few_switches(order.steps, effort);
        std::vector<Step> steps;
        for (const std::size_t step : display.steps) steps.push_back(order.steps[step]);
        ASSERT_EQ(steps.size(), order.steps.size());
        ASSERT_EQ(fingerprint(steps, foata_of(steps)), order.canonical);
        ASSERT_EQ(switches_in(steps), display.switches);
        ASSERT_EQ(display.fewest, effort != 0);
        if (display.fewest) {
          ASSERT_EQ(display.switches, fewest[order.canonical]) << "seed " << seed;
        } else {
          ASSERT_GE(display.switches, fewest[order.canonical]) << "seed " << seed;
        }
      }
    }
  }
}

TEST(Foata, LAB_12_the_fingerprint_is_XXH64_over_the_layers_and_has_a_number_that_stays) {
  // p1 writes 7, p2 reads 7, p3 writes 8: two layers.
  const std::vector<Step> steps = {{.process = 2, .touched = {{7, false}}, .says = {14}},
                                   {.process = 1, .touched = {{7, true}}, .says = {15}},
                                   {.process = 3, .touched = {{8, true}}, .says = {17}}};
  const std::vector<Place> form = foata_of(steps);
  ASSERT_EQ(form.size(), 3U);
  EXPECT_EQ(form[0].process, 2U);
  EXPECT_EQ(form[1].process, 3U);
  EXPECT_EQ(form[2].process, 1U);
  EXPECT_EQ(form[2].layer, 2U);
  EXPECT_EQ(fingerprint(steps, form), 4764756382059381586U);
}

}  // namespace
}  // namespace calm::explore
