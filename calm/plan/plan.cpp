#include "calm/plan/plan.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace calm::plan {
namespace {

Error wrong(std::string text) { return {Errc::invalid_argument, text.append(" (COM-4)")}; }

std::string named(std::string_view name) { return std::string("leaf ").append(name); }

/// What is wrong with a node itself; nothing when it is well.
std::optional<Error> fault_of(const Node& node, const Path& place) {
  switch (node.op()) {
    case Op::leaf:
      if (!is_name(node.name())) return wrong("the leaf at " + to_string(place) + " has no name that can be one");
      break;
    case Op::join:
      if (node.parts().empty()) return wrong("the join at " + to_string(place) + " has no parts");
      break;
    case Op::race:
      if (node.parts().empty()) return wrong("the race at " + to_string(place) + " has no parts: it would never end");
      break;
    case Op::timeout:
      if (node.limit() <= Duration() || node.limit() == Duration::max()) {
        return wrong("the timeout at " + to_string(place) + " is " + to_string(node.limit()) +
                     "; it must be above 0 and end some day");
      }
      break;
  }
  return std::nullopt;
}

std::optional<Error> fault_below(const Node& node, Path& place) {
  if (auto fault = fault_of(node, place)) return fault;
  for (std::uint32_t i = 0; i < node.parts().size(); ++i) {
    place.push_back(i);
    if (auto fault = fault_below(node.parts()[i], place)) return fault;
    place.pop_back();
  }
  return std::nullopt;
}

std::optional<Error> fault_of(const Leaf& leaf) {
  if (!is_name(leaf.name)) return wrong("a leaf is known that has no name that can be one");
  if (leaf.cost < Duration()) return wrong(named(leaf.name) + " takes less than no time");
  if (!leaf.group.empty() && !is_name(leaf.group)) return wrong(named(leaf.name) + " is like something without a name");
  for (const auto* names : {&leaf.reads, &leaf.writes}) {
    for (const std::string& name : *names) {
      if (!is_name(name)) return wrong(named(leaf.name) + " touches something without a name");
    }
  }
  return std::nullopt;
}

void sort_names(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

/// Sorted and without repetitions, so that two that say the same are equal.
Leaf in_order(Leaf leaf) {
  sort_names(leaf.reads);
  sort_names(leaf.writes);
  if (!leaf.reads.empty() || !leaf.writes.empty()) leaf.effects_known = true;
  return leaf;
}

bool by_name(const Leaf& a, const Leaf& b) noexcept { return a.name < b.name; }

/// Sorts them, each once. Gives: what is wrong with them.
std::optional<Error> settle(std::vector<Leaf>& leaves) {
  for (Leaf& leaf : leaves) {
    if (auto fault = fault_of(leaf)) return fault;
    leaf = in_order(std::move(leaf));
  }
  std::sort(leaves.begin(), leaves.end(), by_name);
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
  const auto twice =
      std::adjacent_find(leaves.begin(), leaves.end(), [](const Leaf& a, const Leaf& b) { return a.name == b.name; });
  if (twice != leaves.end()) return wrong(named(twice->name) + " is said to be two different things");
  return std::nullopt;
}

/// What is wrong between the tree and what is known of leaves.
std::optional<Error> fault_between(const Node& root, const std::vector<Leaf>& leaves) {
  std::vector<std::string_view> used = leaf_names(root);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::size_t known = 0;
  for (const std::string_view name : used) {
    if (known == leaves.size() || leaves[known].name > name) {
      return wrong(named(name) + " is unknown: it stands in the tree and nothing is said of it");
    }
    if (leaves[known].name < name) break;
    ++known;
  }
  if (known < leaves.size()) return wrong(named(leaves[known].name) + " is not in the tree");
  return std::nullopt;
}

Node replaced(const Node& node, const Path& place, std::size_t depth, Node with) {
  if (depth == place.size()) return with;
  std::vector<Node> parts = node.parts();
  Node& part = parts[place[depth]];
  part = replaced(part, place, depth + 1, std::move(with));
  if (node.is(Op::timeout)) return Node::timeout(node.limit(), std::move(parts.front()));
  return node.is(Op::join) ? Node::join(std::move(parts)) : Node::race(std::move(parts));
}

void add_names(const Node& node, std::vector<std::string_view>& names) {
  if (node.is(Op::leaf)) names.push_back(node.name());
  for (const Node& part : node.parts()) add_names(part, names);
}

}  // namespace

Node::Node(Op op, std::vector<Node> parts) : op_(op), parts_(std::move(parts)) {
  for (const Node& part : parts_) {
    depth_ = std::max(depth_, part.depth_ + 1);
    size_ += part.size_;
  }
  if (is_too_deep()) {
    depth_ = max_depth + 1;
    parts_.clear();
  }
}
Node Node::leaf(std::string name) {
  Node node(Op::leaf, {});
  node.name_ = std::move(name);
  return node;
}
Node Node::join(std::vector<Node> parts) { return {Op::join, std::move(parts)}; }
Node Node::race(std::vector<Node> parts) { return {Op::race, std::move(parts)}; }
Node Node::timeout(Duration limit, Node part) {
  std::vector<Node> parts;
  parts.push_back(std::move(part));
  Node node(Op::timeout, std::move(parts));
  node.limit_ = limit;
  return node;
}

std::string to_string(const Path& path) {
  if (path.empty()) return "/";
  std::string text;
  for (const std::uint32_t step : path) text.append("/").append(std::to_string(step));
  return text;
}

Plan::Plan(Node root, std::vector<Leaf> leaves) noexcept : root_(std::move(root)), leaves_(std::move(leaves)) {}

Outcome<Plan> Plan::make(Node root, std::vector<Leaf> leaves) {
  if (root.is_too_deep()) return err(wrong("the plan is more than " + std::to_string(max_depth) + " nodes deep"));
  if (root.size() > max_nodes) return err(wrong("the plan has more than " + std::to_string(max_nodes) + " nodes"));
  Path place;
  if (auto fault = fault_below(root, place)) return err(std::move(*fault));
  if (auto fault = settle(leaves)) return err(std::move(*fault));
  if (auto fault = fault_between(root, leaves)) return err(std::move(*fault));
  return ok(Plan(std::move(root), std::move(leaves)));
}

const Leaf* Plan::find(std::string_view name) const noexcept {
  const auto found = std::lower_bound(leaves_.begin(), leaves_.end(), name,
                                      [](const Leaf& leaf, std::string_view wanted) { return leaf.name < wanted; });
  return found != leaves_.end() && found->name == name ? &*found : nullptr;
}

const Node* Plan::at(const Path& place) const noexcept {
  const Node* node = &root_;
  for (const std::uint32_t step : place) {
    if (step >= node->parts().size()) return nullptr;
    node = &node->parts()[step];
  }
  return node;
}

Outcome<Plan> Plan::with(const Path& place, Node node) const {
  if (at(place) == nullptr) return err(wrong("there is nothing at " + to_string(place)));
  Node root = replaced(root_, place, 0, std::move(node));
  std::vector<Leaf> kept;
  std::vector<std::string_view> names = leaf_names(root);
  std::sort(names.begin(), names.end());
  for (const Leaf& leaf : leaves_) {
    if (std::binary_search(names.begin(), names.end(), std::string_view(leaf.name))) kept.push_back(leaf);
  }
  return make(std::move(root), std::move(kept));
}

std::vector<std::string_view> leaf_names(const Node& node) {
  std::vector<std::string_view> names;
  add_names(node, names);
  return names;
}

bool is_name(std::string_view text) noexcept {
  if (text.empty() || text.size() > max_name) return false;
  for (const std::string_view word : {"Join", "Race", "Timeout", "where"}) {
    if (text == word) return false;
  }
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

}  // namespace calm::plan
