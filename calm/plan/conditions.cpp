#include "calm/plan/conditions.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "calm/model/tropical.hpp"
#include "calm/plan/cost.hpp"
#include "calm/plan/print.hpp"

namespace calm::plan {
namespace {

using Nodes = std::vector<const Node*>;
using Why = std::optional<std::string>;

std::vector<const Leaf*> leaves_of(const Plan& plan, const Nodes& nodes) {
  std::vector<const Leaf*> leaves;
  for (const Node* const node : nodes) {
    for (const std::string_view name : leaf_names(*node)) leaves.push_back(plan.find(name));
  }
  return leaves;
}

/// Sorted names that two lists share; empty when there is none.
std::string shared(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  for (const std::string& name : a) {
    if (std::binary_search(b.begin(), b.end(), name)) return name;
  }
  return {};
}

Why why_dependent(const Leaf& a, const Leaf& b) {
  for (const Leaf* const leaf : {&a, &b}) {
    if (!leaf->effects_known) return "leaf " + leaf->name + " does not say what it touches";
  }
  for (const auto& [writer, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    std::string name = shared(writer->writes, other->writes);
    if (name.empty()) name = shared(writer->writes, other->reads);
    if (!name.empty()) return "leaf " + writer->name + " writes " + name + ", which leaf " + other->name + " touches";
  }
  return std::nullopt;
}

Why dependent(const Plan& plan, const Nodes& some, const Nodes& others) {
  const std::vector<const Leaf*> right = leaves_of(plan, others);
  for (const Leaf* const a : leaves_of(plan, some)) {
    for (const Leaf* const b : right) {
      if (auto why = why_dependent(*a, *b)) return why;
    }
  }
  return std::nullopt;
}

Why dependent_among(const Plan& plan, const Nodes& nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Nodes rest(nodes.begin() + static_cast<std::ptrdiff_t>(i) + 1, nodes.end());
    if (auto why = dependent(plan, {nodes[i]}, rest)) return why;
  }
  return std::nullopt;
}

/// Copies and losers must leave no trace: how often they run, and how far, changes.
Why writing(const Plan& plan, const Nodes& nodes) {
  for (const Leaf* const leaf : leaves_of(plan, nodes)) {
    if (!leaf->effects_known) return "leaf " + leaf->name + " does not say what it touches";
    if (!leaf->writes.empty()) return "leaf " + leaf->name + " writes " + leaf->writes.front();
  }
  return std::nullopt;
}

/// Gives: the tree with the groups in place of names; empty when a leaf is like none.
std::string shape_of(const Plan& plan, const Node& node) {
  if (node.is(Op::leaf)) return plan.find(node.name())->group;
  std::string text = node.is(Op::join) ? "Join" : node.is(Op::race) ? "Race" : calm::to_string(node.limit());
  for (const Node& part : node.parts()) {
    const std::string shape = shape_of(plan, part);
    if (shape.empty()) return {};
    text.append("[").append(shape).append("]");
  }
  return text;
}

Why unlike(const Plan& plan, const Nodes& nodes) {
  const std::string first = shape_of(plan, *nodes.front());
  for (const Node* const node : nodes) {
    const std::string shape = shape_of(plan, *node);
    if (shape.empty()) return to_string(*node) + " is like no other";
    if (shape != first) return to_string(*node) + " is not like " + to_string(*nodes.front());
  }
  return std::nullopt;
}

/// The first leaf that `is_bad`, with what to say of it.
template <class F>
Why first_leaf(const Plan& plan, const Nodes& nodes, F is_bad, std::string_view verb) {
  for (const Leaf* const leaf : leaves_of(plan, nodes)) {
    if (is_bad(*leaf)) return std::string("leaf ").append(leaf->name).append(" ").append(verb);
  }
  return std::nullopt;
}
Why draining(const Plan& plan, const Nodes& nodes) {
  return first_leaf(plan, nodes, [](const Leaf& leaf) { return !leaf.ends_at_once; }, "may take time to clean up");
}
Why holding(const Plan& plan, const Nodes& nodes) {
  return first_leaf(plan, nodes, [](const Leaf& leaf) { return leaf.holds_promises; }, "may hold a promise");
}
Why holding_while_draining(const Plan& plan, const Nodes& nodes) {
  const auto is_bad = [](const Leaf& leaf) { return leaf.holds_promises && !leaf.ends_at_once; };
  return first_leaf(plan, nodes, is_bad, "may hold a promise while it cleans up");
}

/// A failure inside is told to the others at once now, and was not before: both could fail.
Why failing_on_both_sides(const Plan& plan, const Nodes& inner, const Nodes& others) {
  const auto may_fail = [](const Leaf& leaf) { return leaf.can_fail; };
  if (!first_leaf(plan, others, may_fail, "")) return std::nullopt;
  Why failing = first_leaf(plan, inner, may_fail, "may fail");
  if (!failing) return std::nullopt;
  for (const Nodes* const side : {&inner, &others}) {
    Why seen = writing(plan, *side);
    if (!seen) seen = holding(plan, *side);
    if (seen) return failing->append(", and so may one beside it, while ").append(*seen);
  }
  return std::nullopt;
}

Nodes both(const Proposal& proposal) {
  Nodes all = proposal.inner;
  all.insert(all.end(), proposal.others.begin(), proposal.others.end());
  return all;
}

/// The longest time that a leaf of each name has, by the timeouts around it.
void add_limits(const Node& node, Duration limit, std::map<std::string_view, Duration>& limits) {
  if (node.is(Op::leaf)) {
    const auto found = limits.try_emplace(node.name(), limit).first;
    found->second = std::max(found->second, limit);
  }
  if (node.is(Op::timeout)) limit = std::min(limit, node.limit());
  for (const Node& part : node.parts()) add_limits(part, limit, limits);
}

Why costlier(const Plan& plan, const Proposal& proposal) {
  if (length_of(plan, proposal.after) > length_of(plan, *proposal.before)) return "it would take longer than before";
  std::map<std::string_view, Duration> before;
  std::map<std::string_view, Duration> after;
  add_limits(*proposal.before, Duration::max(), before);
  add_limits(proposal.after, Duration::max(), after);
  for (const auto& [name, limit] : after) {
    const auto found = before.find(name);
    if (found == before.end() || limit > found->second) return "leaf " + std::string(name) + " would have more time";
  }
  return std::nullopt;
}

std::vector<std::string_view> first_occurrences(const Node& node) {
  std::vector<std::string_view> names;
  for (const std::string_view name : leaf_names(node)) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

Why out_of_order(const Proposal& proposal) {
  if (proposal.rule == Rule::join_commute || proposal.rule == Rule::race_commute) {
    const std::vector<Node>& parts = proposal.after.parts();
    for (std::size_t i = 1; i < parts.size(); ++i) {
      if (to_string(parts[i - 1]) > to_string(parts[i])) return to_string(parts[i]) + " would stand too late";
    }
    return std::nullopt;
  }
  if (first_occurrences(*proposal.before) == first_occurrences(proposal.after)) return std::nullopt;
  return "the leaves would stand in another order";
}

Why not_independent(const Plan& plan, const Proposal& proposal) {
  switch (proposal.rule) {
    case Rule::join_commute:
    case Rule::race_commute:
      return dependent_among(plan, proposal.others);
    case Rule::dedup_race_join:
      return writing(plan, both(proposal));
    case Rule::join_assoc:
    case Rule::race_assoc:
    case Rule::timeout_min:
      break;
  }
  return dependent(plan, proposal.inner, proposal.others);
}

Why not_free_of_promises(const Plan& plan, const Proposal& proposal) {
  if (proposal.rule == Rule::dedup_race_join) return holding(plan, both(proposal));
  return holding_while_draining(plan, both(proposal));
}

Why why_not(const Plan& plan, const Proposal& proposal, Condition condition) {
  const bool dedup = proposal.rule == Rule::dedup_race_join;
  switch (condition) {
    case Condition::independence:
      return not_independent(plan, proposal);
    case Condition::symmetry:
      return unlike(plan, proposal.others);
    case Condition::repetition:
      return first_leaf(plan, proposal.inner, [](const Leaf& leaf) { return !leaf.repeatable; }, "is not repeatable");
    case Condition::no_failure:
      if (!dedup) return failing_on_both_sides(plan, proposal.inner, proposal.others);
      return first_leaf(plan, proposal.others, [](const Leaf& leaf) { return leaf.can_fail; }, "may fail");
    case Condition::obligations:
      return not_free_of_promises(plan, proposal);
    case Condition::cancel:
      return draining(plan, dedup ? both(proposal) : proposal.inner);
    case Condition::budget:
      return costlier(plan, proposal);
    case Condition::order:
      break;
  }
  return out_of_order(proposal);
}

}  // namespace

std::optional<Broken> find_broken(const Plan& plan, const Proposal& proposal) {
  for (std::uint8_t i = 0; i < condition_count; ++i) {
    const auto condition = static_cast<Condition>(i);
    if (!describe(proposal.rule).needs.has(condition)) continue;
    if (auto why = why_not(plan, proposal, condition)) return Broken{condition, std::move(*why)};
  }
  return std::nullopt;
}

}  // namespace calm::plan
