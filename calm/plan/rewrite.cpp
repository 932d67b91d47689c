#include "calm/plan/rewrite.hpp"

#include <algorithm>
#include <utility>

#include "calm/plan/conditions.hpp"
#include "calm/plan/print.hpp"

namespace calm::plan {
namespace {

using Nodes = std::vector<const Node*>;
using Proposals = std::vector<Proposal>;

Node with_parts(Op op, std::vector<Node> parts) {
  return op == Op::join ? Node::join(std::move(parts)) : Node::race(std::move(parts));
}

/// Lets the parts of one part that is of the same kind stand beside the others: any that is.
Proposals propose_assoc(const Node& node, Rule rule, Op op) {
  Proposals proposals;
  if (!node.is(op)) return proposals;
  for (const Node& inner : node.parts()) {
    if (!inner.is(op)) continue;
    std::vector<Node> flat;
    Nodes others;
    for (const Node& part : node.parts()) {
      if (&part == &inner) {
        flat.insert(flat.end(), inner.parts().begin(), inner.parts().end());
      } else {
        flat.push_back(part);
        others.push_back(&part);
      }
    }
    proposals.push_back({rule, &node, with_parts(op, std::move(flat)), {&inner}, std::move(others)});
  }
  return proposals;
}

/// Sorts the parts by their text.
Proposals propose_commute(const Node& node, Rule rule, Op op) {
  if (!node.is(op)) return {};
  std::vector<Node> sorted = node.parts();
  std::sort(sorted.begin(), sorted.end(), [](const Node& a, const Node& b) { return to_string(a) < to_string(b); });
  if (sorted == node.parts()) return {};
  Nodes parts;
  for (const Node& part : node.parts()) parts.push_back(&part);
  return {{rule, &node, with_parts(op, std::move(sorted)), {}, std::move(parts)}};
}

/// Takes the first part that all joins of a race have out of it.
Proposals propose_dedup(const Node& node) {
  if (!node.is(Op::race) || node.parts().size() < 2) return {};
  std::vector<Node> rests;
  for (const Node& part : node.parts()) {
    if (!part.is(Op::join) || part.parts().size() < 2) return {};
    if (part.parts().front() != node.parts().front().parts().front()) return {};
    std::vector<Node> rest(part.parts().begin() + 1, part.parts().end());
    rests.push_back(rest.size() == 1 ? std::move(rest.front()) : Node::join(std::move(rest)));
  }
  const Node& first = node.parts().front().parts().front();
  std::vector<Node> parts{first};
  parts.push_back(Node::race(std::move(rests)));
  Proposal proposal{Rule::dedup_race_join, &node, Node::join(std::move(parts)), {&first}, {}};
  // These stay where they are when the proposal is moved.
  for (const Node& rest : proposal.after.parts().back().parts()) proposal.others.push_back(&rest);
  Proposals proposals;
  proposals.push_back(std::move(proposal));
  return proposals;
}

Proposals propose_min(const Node& node) {
  if (!node.is(Op::timeout) || !node.parts().front().is(Op::timeout)) return {};
  const Node& inner = node.parts().front();
  const Duration limit = std::min(node.limit(), inner.limit());
  return {{Rule::timeout_min, &node, Node::timeout(limit, inner.parts().front()), {}, {}}};
}

/// Gives: what the rule could make of the node, best first.
Proposals propose(const Node& node, Rule rule) {
  switch (rule) {
    case Rule::join_assoc:
      return propose_assoc(node, rule, Op::join);
    case Rule::race_assoc:
      return propose_assoc(node, rule, Op::race);
    case Rule::join_commute:
      return propose_commute(node, rule, Op::join);
    case Rule::race_commute:
      return propose_commute(node, rule, Op::race);
    case Rule::dedup_race_join:
      return propose_dedup(node);
    case Rule::timeout_min:
      break;
  }
  return propose_min(node);
}

Outcome<Rewritten, Refusal> refuse(Rule rule, const Path& place, Refusal::Kind kind, std::string who) {
  return err(Refusal{rule, place, kind, std::nullopt, std::move(who)});
}

Outcome<Rewritten, Refusal> accept(const Plan& plan, const Path& place, Proposal proposal) {
  const Rule rule = proposal.rule;
  Certificate certificate{rule, place, to_string(*proposal.before), to_string(proposal.after), describe(rule).needs};
  Outcome<Plan> made = plan.with(place, std::move(proposal.after));
  if (!made.is_ok()) return refuse(rule, place, Refusal::Kind::form, std::string(made.error().message()));
  return ok(Rewritten{std::move(made).value(), std::move(certificate)});
}

void add_places(const Node& node, Path& place, std::vector<Path>& places) {
  places.push_back(place);
  for (std::uint32_t i = 0; i < node.parts().size(); ++i) {
    place.push_back(i);
    add_places(node.parts()[i], place, places);
    place.pop_back();
  }
}

std::vector<Path> places_of(const Plan& plan) {
  std::vector<Path> places;
  Path place;
  add_places(plan.root(), place, places);
  return places;
}

/// Gives: the first rewrite that can be done, and until then why others cannot.
std::optional<Rewritten> first_rewrite(const Plan& plan, Policy policy, std::vector<Refusal>& refusals) {
  for (const Path& place : places_of(plan)) {
    for (const RuleRow& row : rule_table) {
      if (!policy.allows(row.rule)) continue;
      auto rewritten = apply(plan, row.rule, place, policy);
      if (rewritten.is_ok()) return std::move(rewritten).value();
      if (rewritten.error().kind == Refusal::Kind::condition) refusals.push_back(std::move(rewritten).error());
    }
  }
  return std::nullopt;
}

}  // namespace

Outcome<Rewritten, Refusal> apply(const Plan& plan, Rule rule, const Path& place, Policy policy) {
  if (!policy.allows(rule)) return refuse(rule, place, Refusal::Kind::policy, "its switch is off");
  const Node* const node = plan.at(place);
  if (node == nullptr) return refuse(rule, place, Refusal::Kind::form, "there is no such place");
  Proposals proposals = propose(*node, rule);
  if (proposals.empty()) {
    return refuse(rule, place, Refusal::Kind::form,
                  to_string(*node) + " has not the form " + std::string(describe(rule).from));
  }
  std::vector<Broken> all_broken;
  for (Proposal& proposal : proposals) {
    std::optional<Broken> broken = find_broken(plan, proposal);
    if (!broken) return accept(plan, place, std::move(proposal));
    all_broken.push_back(std::move(*broken));
  }
  Broken& first = all_broken.front();
  return err(Refusal{rule, place, Refusal::Kind::condition, first.condition, std::move(first.who)});
}

Simplified simplify(const Plan& plan, Policy policy) {
  Simplified result{.plan = plan};
  while (auto rewritten = first_rewrite(result.plan, policy, result.refusals)) {
    result.plan = std::move(rewritten->plan);
    result.certificates.push_back(std::move(rewritten->certificate));
    result.refusals.clear();
  }
  return result;
}

std::string to_string(const Refusal& refusal) {
  std::string text = "calm: ";
  text.append(to_string(refusal.rule)).append(" is refused at ").append(to_string(refusal.place));
  text.append("\n  who:  ").append(refusal.who);
  text.append("\n  law:  COM-4");
  switch (refusal.kind) {
    case Refusal::Kind::policy:
      text.append(" each rewrite has a switch\n  next: allow it in the Policy");
      break;
    case Refusal::Kind::form:
      text.append(" ").append(describe(refusal.rule).from).append(" becomes ").append(describe(refusal.rule).to);
      text.append("\n  next: look for another place");
      break;
    case Refusal::Kind::condition:
      if (refusal.condition) text.append(" ").append(to_string(*refusal.condition));
      text.append("\n  next: if that is not so, let the leaf say it; else the plan stays as it is");
      break;
  }
  return text;
}

}  // namespace calm::plan
