#include "calm/plan/check.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calm/plan/parse.hpp"
#include "calm/plan/print.hpp"

namespace calm::plan {
namespace {

/// Two parts of a tree that stand otherwise to each other after a rewrite.
struct Sides {
  std::vector<Node> inner{};   ///< what goes up a level, or runs once instead of many times
  std::vector<Node> others{};  ///< those beside it; for dedup those that race
};

/// Every way in which a rule leads from one tree to the other; none: it does not.
using Ways = std::vector<Sides>;

Ways ways_of_assoc(const Node& before, const Node& after, Op op) {
  Ways ways;
  if (!before.is(op) || !after.is(op)) return ways;
  for (std::size_t i = 0; i < before.parts().size(); ++i) {
    const Node& inner = before.parts()[i];
    if (!inner.is(op) || after.parts().size() + 1 != before.parts().size() + inner.parts().size()) continue;
    bool same = true;
    for (std::size_t k = 0; same && k < after.parts().size(); ++k) {
      const std::size_t inside = k - i;  // beyond the parts of `inner` when k is below i
      const Node& was = k < i                           ? before.parts()[k]
                        : inside < inner.parts().size() ? inner.parts()[inside]
                                                        : before.parts()[k + 1 - inner.parts().size()];
      same = was == after.parts()[k];
    }
    if (!same) continue;
    Sides sides{.inner = {inner}};
    for (std::size_t k = 0; k < before.parts().size(); ++k) {
      if (k != i) sides.others.push_back(before.parts()[k]);
    }
    ways.push_back(std::move(sides));
  }
  return ways;
}

Ways ways_of_commute(const Node& before, const Node& after, Op op) {
  if (!before.is(op) || !after.is(op) || before == after) return {};
  const auto& was = before.parts();
  if (!std::is_permutation(was.begin(), was.end(), after.parts().begin(), after.parts().end())) return {};
  return {Sides{.others = was}};
}

/// True when a join of `first` and `rest` is that one; a rest that is a join may have stood there part by part.
bool is_join_of(const Node& join, const Node& first, const Node& rest) {
  if (!join.is(Op::join)) return false;
  if (join == Node::join({first, rest})) return true;
  if (!rest.is(Op::join)) return false;
  std::vector<Node> parts{first};
  parts.insert(parts.end(), rest.parts().begin(), rest.parts().end());
  return join == Node::join(std::move(parts));
}

Ways ways_of_dedup(const Node& before, const Node& after) {
  if (!before.is(Op::race) || !after.is(Op::join) || after.parts().size() != 2) return {};
  const Node& first = after.parts()[0];
  const Node& race = after.parts()[1];
  if (!race.is(Op::race) || race.parts().size() < 2 || race.parts().size() != before.parts().size()) return {};
  for (std::size_t i = 0; i < race.parts().size(); ++i) {
    if (!is_join_of(before.parts()[i], first, race.parts()[i])) return {};
  }
  return {Sides{.inner = {first}, .others = race.parts()}};
}

Ways ways_of_min(const Node& before, const Node& after) {
  if (!before.is(Op::timeout) || !after.is(Op::timeout) || !before.parts()[0].is(Op::timeout)) return {};
  const Node& inner = before.parts()[0];
  const bool smaller = after.limit() <= before.limit() && after.limit() <= inner.limit();
  const bool one_of_them = after.limit() == before.limit() || after.limit() == inner.limit();
  return smaller && one_of_them && after.parts() == inner.parts() ? Ways{Sides{}} : Ways{};
}

Ways ways_of(Rule rule, const Node& before, const Node& after) {
  switch (rule) {
    case Rule::join_assoc:
      return ways_of_assoc(before, after, Op::join);
    case Rule::race_assoc:
      return ways_of_assoc(before, after, Op::race);
    case Rule::join_commute:
      return ways_of_commute(before, after, Op::join);
    case Rule::race_commute:
      return ways_of_commute(before, after, Op::race);
    case Rule::dedup_race_join:
      return ways_of_dedup(before, after);
    case Rule::timeout_min:
      return ways_of_min(before, after);
  }
  return {};
}

bool touches(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What a rule needs, asked of leaves one by one and two by two.
class Facts {
 public:
  explicit Facts(const Plan& plan) noexcept : plan_(plan) {}

  template <class F>
  [[nodiscard]] bool all(const std::vector<Node>& nodes, F holds) const {
    return std::all_of(nodes.begin(), nodes.end(), [&](const Node& node) {
      return node.is(Op::leaf) ? holds(*plan_.find(node.name())) : all(node.parts(), holds);
    });
  }
  [[nodiscard]] bool apart(const std::vector<Node>& some, const std::vector<Node>& others) const {
    return all(some, [&](const Leaf& a) { return all(others, [&](const Leaf& b) { return commute(a, b); }); });
  }
  [[nodiscard]] bool quiet(const std::vector<Node>& nodes) const {
    return all(nodes, [](const Leaf& leaf) { return leaf.effects_known && leaf.writes.empty(); });
  }
  [[nodiscard]] bool free_of_promises(const std::vector<Node>& nodes) const {
    return all(nodes, [](const Leaf& leaf) { return !leaf.holds_promises; });
  }
  [[nodiscard]] bool prompt(const std::vector<Node>& nodes) const {
    return all(nodes, [](const Leaf& leaf) { return leaf.ends_at_once; });
  }
  [[nodiscard]] bool prompt_with_promises(const std::vector<Node>& nodes) const {
    return all(nodes, [](const Leaf& leaf) { return leaf.ends_at_once || !leaf.holds_promises; });
  }
  [[nodiscard]] bool sure(const std::vector<Node>& nodes) const {
    return all(nodes, [](const Leaf& leaf) { return !leaf.can_fail; });
  }
  [[nodiscard]] bool repeatable(const std::vector<Node>& nodes) const {
    return all(nodes, [](const Leaf& leaf) { return leaf.repeatable; });
  }
  [[nodiscard]] bool alike(const Node& a, const Node& b) const {
    if (a.op() != b.op() || a.limit() != b.limit() || a.parts().size() != b.parts().size()) return false;
    if (a.is(Op::leaf)) {
      const std::string& group = plan_.find(a.name())->group;
      return !group.empty() && group == plan_.find(b.name())->group;
    }
    for (std::size_t i = 0; i < a.parts().size(); ++i) {
      if (!alike(a.parts()[i], b.parts()[i])) return false;
    }
    return true;
  }
  [[nodiscard]] Duration length(const Node& node) const {
    if (node.is(Op::leaf)) return plan_.find(node.name())->cost;
    std::vector<Duration> lengths;
    for (const Node& part : node.parts()) lengths.push_back(length(part));
    if (node.is(Op::timeout)) lengths.push_back(node.limit());
    const auto [shortest, longest] = std::minmax_element(lengths.begin(), lengths.end());
    return node.is(Op::join) ? *longest : *shortest;
  }

 private:
  static bool commute(const Leaf& a, const Leaf& b) {
    const auto spares = [](const Leaf& writer, const Leaf& other) {
      return std::none_of(writer.writes.begin(), writer.writes.end(), [&other](const std::string& name) {
        return touches(other.reads, name) || touches(other.writes, name);
      });
    };
    return a.effects_known && b.effects_known && spares(a, b) && spares(b, a);
  }

  const Plan& plan_;
};

/// The most time that leaves of this name have under the timeouts in the tree; below 0 when there is none.
Duration most_time(const Node& node, std::string_view name, Duration limit) {
  if (node.is(Op::leaf)) return node.name() == name ? limit : Duration::min();
  if (node.is(Op::timeout)) limit = std::min(limit, node.limit());
  Duration most = Duration::min();
  for (const Node& part : node.parts()) most = std::max(most, most_time(part, name, limit));
  return most;
}

bool within_budget(const Facts& facts, const Node& before, const Node& after) {
  if (facts.length(after) > facts.length(before)) return false;
  const std::vector<std::string_view> names = leaf_names(after);
  return std::all_of(names.begin(), names.end(), [&](std::string_view name) {
    return most_time(after, name, Duration::max()) <= most_time(before, name, Duration::max());
  });
}

/// True when the leaves of one tree, each where it stands first, come in the same order as in the other.
bool same_order(const Node& before, const Node& after) {
  const std::vector<std::string_view> was = leaf_names(before);
  const std::vector<std::string_view> is = leaf_names(after);
  std::size_t at = 0;
  for (std::size_t i = 0; i < is.size(); ++i) {
    const auto here = is.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(is.begin(), here, is[i]) != here) continue;  // it stood before
    while (at < was.size() && was[at] != is[i]) {
      if (std::find(is.begin(), here, was[at]) == here) return false;  // a new one comes first there
      ++at;
    }
    if (at++ == was.size()) return false;
  }
  return std::all_of(was.begin(), was.end(),
                     [&is](std::string_view name) { return std::find(is.begin(), is.end(), name) != is.end(); });
}

bool is_sorted_by_text(const Node& node) {
  const auto& parts = node.parts();
  return std::is_sorted(parts.begin(), parts.end(),
                        [](const Node& a, const Node& b) { return to_string(a) < to_string(b); });
}

/// True when the parts may change places in every pair, and are alike.
bool may_change_places(const Facts& facts, const std::vector<Node>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t k = i + 1; k < parts.size(); ++k) {
      if (!facts.apart({parts[i]}, {parts[k]}) || !facts.alike(parts[i], parts[k])) return false;
    }
  }
  // One alone: there is nobody to change places with, and no permutation but itself.
  return facts.prompt_with_promises(parts);
}

bool holds(const Facts& facts, Rule rule, const Sides& sides) {
  const auto& [inner, others] = sides;
  switch (rule) {
    case Rule::join_assoc: {
      const bool unseen =
          facts.quiet(inner) && facts.quiet(others) && facts.free_of_promises(inner) && facts.free_of_promises(others);
      return facts.apart(inner, others) && facts.prompt(inner) && facts.prompt_with_promises(others) &&
             (facts.sure(inner) || facts.sure(others) || unseen);
    }
    case Rule::race_assoc:
      return facts.apart(inner, others) && facts.prompt(inner) && facts.prompt_with_promises(others);
    case Rule::join_commute:
    case Rule::race_commute:
      return may_change_places(facts, others);
    case Rule::dedup_race_join:
      return facts.quiet(inner) && facts.quiet(others) && facts.free_of_promises(inner) &&
             facts.free_of_promises(others) && facts.prompt(inner) && facts.prompt(others) && facts.repeatable(inner) &&
             facts.sure(others) && may_change_places(facts, others);
    case Rule::timeout_min:
      return true;
  }
  return false;
}

/// What is wrong with the certificate, given both trees; empty when nothing is.
std::string_view objection(const Facts& facts, const Certificate& certificate, const Node& before, const Node& after) {
  const Rule rule = certificate.rule;
  if (certificate.claimed != describe(rule).needs) return "it does not claim the conditions of its rule";
  const Ways ways = ways_of(rule, before, after);
  if (ways.empty()) return "the rule does not lead from before to after";
  const bool sorts = rule == Rule::join_commute || rule == Rule::race_commute;
  if (sorts ? !is_sorted_by_text(after) : !same_order(before, after)) return "the order of the leaves is another";
  if (!within_budget(facts, before, after)) return "something has more time than before";
  if (std::none_of(ways.begin(), ways.end(), [&](const Sides& sides) { return holds(facts, rule, sides); })) {
    return "a condition that it claims does not hold";
  }
  return {};
}

Outcome<Plan> refuse(const Certificate& certificate, std::string_view why) {
  const bool known = static_cast<std::uint8_t>(certificate.rule) < rule_count;
  std::string text = known ? std::string(to_string(certificate.rule)) : "an unknown rule";
  text.append(" at ").append(to_string(certificate.place)).append(": ").append(why).append(" (COM-4)");
  return err(Error(Errc::invalid_argument, text));
}

}  // namespace

Outcome<Plan> verify(const Plan& before, const Certificate& certificate) {
  if (static_cast<std::uint8_t>(certificate.rule) >= rule_count) return refuse(certificate, "there is none such");
  const Node* const node = before.at(certificate.place);
  if (node == nullptr) return refuse(certificate, "there is no such place");
  if (to_string(*node) != certificate.before) return refuse(certificate, "something else stood there");
  const Outcome<Node> after = parse_tree(certificate.after);
  if (!after.is_ok()) return refuse(certificate, "what stands there now cannot be read: " + to_string(after.error()));
  Outcome<Plan> made = before.with(certificate.place, after.value());
  if (!made.is_ok()) return refuse(certificate, "what stands there now is no plan: " + to_string(made.error()));
  const std::string_view why = objection(Facts(before), certificate, *node, after.value());
  if (!why.empty()) return refuse(certificate, why);
  return made;
}

Outcome<void> verify_all(const Plan& before, std::span<const Certificate> certificates, const Plan& after) {
  Plan now = before;
  for (std::size_t i = 0; i < certificates.size(); ++i) {
    Outcome<Plan> next = verify(now, certificates[i]);
    if (!next.is_ok()) {
      return err(Error(Errc::invalid_argument, "certificate " + std::to_string(i + 1)).because(next.error()));
    }
    now = std::move(next).value();
  }
  if (now == after) return ok();
  return err(Errc::invalid_argument, "the certificates lead to another plan (COM-4)");
}

}  // namespace calm::plan
