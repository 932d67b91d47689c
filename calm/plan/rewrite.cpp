#include "calm/plan/rewrite.hpp"

#include <algorithm>
#include <utility>

#include "calm/plan/conditions.hpp"
#include "calm/plan/print.hpp"

namespace calm::plan {
namespace {

using Nodes = std::vector<const Node*>;

Node with_parts(Op op, std::vector<Node> parts) {
  return op == Op::join ? Node::join(std::move(parts)) : Node::race(std::move(parts));
}

/// Lets the parts of one part that is of the same kind stand beside the others: of the one before which `skipped` are.
std::optional<Proposal> propose_assoc(const Node& node, Rule rule, Op op, std::size_t skipped) {
  if (!node.is(op)) return std::nullopt;
  const Node* inner = nullptr;
  for (const Node& part : node.parts()) {
    if (part.is(op) && inner == nullptr && skipped-- == 0) inner = &part;
  }
  if (inner == nullptr) return std::nullopt;
  std::vector<Node> flat;
  Nodes others;
  for (const Node& part : node.parts()) {
    if (&part == inner) {
      flat.insert(flat.end(), inner->parts().begin(), inner->parts().end());
    } else {
      flat.push_back(part);
      others.push_back(&part);
    }
  }
  return Proposal{rule, &node, with_parts(op, std::move(flat)), {inner}, std::move(others)};
}

/// Sorts the parts by their text.
std::optional<Proposal> propose_commute(const Node& node, Rule rule, Op op) {
  if (!node.is(op)) return std::nullopt;
  std::vector<Node> sorted = node.parts();
  std::sort(sorted.begin(), sorted.end(), [](const Node& a, const Node& b) { return to_string(a) < to_string(b); });
  if (sorted == node.parts()) return std::nullopt;
  Nodes parts;
  for (const Node& part : node.parts()) parts.push_back(&part);
  return Proposal{rule, &node, with_parts(op, std::move(sorted)), {}, std::move(parts)};
}

/// Takes the first part that all joins of a race have out of it.
std::optional<Proposal> propose_dedup(const Node& node) {
  if (!node.is(Op::race) || node.parts().size() < 2) return std::nullopt;
  std::vector<Node> rests;
  for (const Node& part : node.parts()) {
    if (!part.is(Op::join) || part.parts().size() < 2) return std::nullopt;
    if (part.parts().front() != node.parts().front().parts().front()) return std::nullopt;
    std::vector<Node> rest(part.parts().begin() + 1, part.parts().end());
    rests.push_back(rest.size() == 1 ? std::move(rest.front()) : Node::join(std::move(rest)));
  }
  const Node& first = node.parts().front().parts().front();
  std::vector<Node> parts{first};
  parts.push_back(Node::race(std::move(rests)));
  Proposal proposal{Rule::dedup_race_join, &node, Node::join(std::move(parts)), {&first}, {}};
  // These stay where they are when the proposal is moved.
  for (const Node& rest : proposal.after.parts().back().parts()) proposal.others.push_back(&rest);
  return proposal;
}

std::optional<Proposal> propose_min(const Node& node) {
  if (!node.is(Op::timeout) || !node.parts().front().is(Op::timeout)) return std::nullopt;
  const Node& inner = node.parts().front();
  const Duration limit = std::min(node.limit(), inner.limit());
  return Proposal{Rule::timeout_min, &node, Node::timeout(limit, inner.parts().front()), {}, {}};
}

/// Gives: what the rule could make of the node; when `skipped` such ways were tried before, the next one.
std::optional<Proposal> propose(const Node& node, Rule rule, std::size_t skipped) {
  if (rule == Rule::join_assoc) return propose_assoc(node, rule, Op::join, skipped);
  if (rule == Rule::race_assoc) return propose_assoc(node, rule, Op::race, skipped);
  if (skipped > 0) return std::nullopt;  // the others have one way
  if (rule == Rule::join_commute) return propose_commute(node, rule, Op::join);
  if (rule == Rule::race_commute) return propose_commute(node, rule, Op::race);
  return rule == Rule::dedup_race_join ? propose_dedup(node) : propose_min(node);
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
  std::optional<Broken> first;
  for (std::size_t tried = 0; auto proposal = propose(*node, rule, tried); ++tried) {
    std::optional<Broken> broken = find_broken(plan, *proposal);
    if (!broken) return accept(plan, place, std::move(*proposal));
    if (!first) first = std::move(broken);
  }
  if (first) return err(Refusal{rule, place, Refusal::Kind::condition, first->condition, std::move(first->who)});
  return refuse(rule, place, Refusal::Kind::form,
                to_string(*node) + " has not the form " + std::string(describe(rule).from));
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
