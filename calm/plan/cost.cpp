#include "calm/plan/cost.hpp"

#include <algorithm>
#include <utility>

namespace calm::plan {
namespace {

/// The way to the first part that is as long as the node itself.
void find_critical(const Plan& plan, const Node& node, Path& place) {
  const TimeSpan length = length_of(plan, node);
  if (node.is(Op::timeout) && TimeSpan(node.limit()) <= length_of(plan, node.parts().front())) return;
  for (std::uint32_t i = 0; i < node.parts().size(); ++i) {
    if (length_of(plan, node.parts()[i]) != length) continue;
    place.push_back(i);
    return find_critical(plan, node.parts()[i], place);
  }
}

/// What the parts of a node may take, when the node itself may take `allowed`.
TimeSpan allowed_below(const Plan& plan, const Node& node, std::size_t part, TimeSpan allowed) {
  switch (node.op()) {
    case Op::leaf:
    case Op::join:
      break;
    case Op::race:  // another one is done in time
      for (std::size_t i = 0; i < node.parts().size(); ++i) {
        if (i != part && length_of(plan, node.parts()[i]) <= allowed) return TimeSpan::infinite();
      }
      break;
    case Op::timeout:
      if (TimeSpan(node.limit()) <= allowed) return TimeSpan::infinite();
      break;
  }
  return allowed;
}

void add_leaves(const Plan& plan, const Node& node, TimeSpan allowed, Path& place, std::vector<LeafTiming>& leaves) {
  if (node.is(Op::leaf)) {
    const TimeSpan cost = length_of(plan, node);
    const Duration slack = allowed.is_infinite() ? Duration::max() : allowed.length() - cost.length();
    leaves.push_back({place, node.name(), cost, slack});
    return;
  }
  for (std::uint32_t i = 0; i < node.parts().size(); ++i) {
    place.push_back(i);
    add_leaves(plan, node.parts()[i], allowed_below(plan, node, i, allowed), place, leaves);
    place.pop_back();
  }
}

std::string text_of_span(TimeSpan span) {
  return span.is_infinite() ? "nobody knows how long" : calm::to_string(span.length());
}

}  // namespace

TimeSpan length_of(const Plan& plan, const Node& node) {
  switch (node.op()) {
    case Op::leaf:
      return TimeSpan(plan.find(node.name())->cost);
    case Op::join: {
      TimeSpan longest;
      for (const Node& part : node.parts()) longest = beside(longest, length_of(plan, part));
      return longest;
    }
    case Op::race: {
      TimeSpan shortest = TimeSpan::infinite();
      for (const Node& part : node.parts()) shortest = meet(shortest, length_of(plan, part));
      return shortest;
    }
    case Op::timeout:
      break;
  }
  return meet(TimeSpan(node.limit()), length_of(plan, node.parts().front()));
}

Timing timing(const Plan& plan, TimeSpan due) {
  Timing found{.length = length_of(plan, plan.root())};
  find_critical(plan, plan.root(), found.critical);
  Path place;
  add_leaves(plan, plan.root(), due, place, found.leaves);
  return found;
}

Timing timing(const Plan& plan) { return timing(plan, length_of(plan, plan.root())); }

std::string to_string(const Timing& timing) {
  std::string text = "takes " + text_of_span(timing.length) + ", decided at " + to_string(timing.critical);
  for (const LeafTiming& leaf : timing.leaves) {
    text.append("\n  ").append(to_string(leaf.place)).append(" ").append(leaf.name);
    text.append(" takes ").append(text_of_span(leaf.cost)).append(": ");
    if (leaf.slack == Duration::max()) {
      text.append("may take as long as it likes");
    } else if (leaf.cost.is_infinite()) {
      text.append("may be too late");
    } else if (leaf.slack < Duration()) {
      text.append("too late by ").append(calm::to_string(Duration() - leaf.slack));
    } else if (leaf.slack == Duration()) {
      text.append("critical");
    } else {
      text.append("slack ").append(calm::to_string(leaf.slack));
    }
  }
  return text;
}

}  // namespace calm::plan
