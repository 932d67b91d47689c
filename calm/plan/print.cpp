#include "calm/plan/print.hpp"

#include <string_view>
#include <vector>

namespace calm::plan {
namespace {

constexpr std::size_t line_max = 100;

void put(const Node& node, std::string& text) {
  switch (node.op()) {
    case Op::leaf:
      text += node.name();
      return;
    case Op::join:
    case Op::race:
      text += node.is(Op::join) ? "Join[" : "Race[";
      for (std::size_t i = 0; i < node.parts().size(); ++i) {
        if (i > 0) text += ", ";
        put(node.parts()[i], text);
      }
      text += "]";
      return;
    case Op::timeout:
      text.append("Timeout(").append(calm::to_string(node.limit())).append(", ");
      put(node.parts().front(), text);
      text += ")";
      return;
  }
}

/// The same over lines, each at most line_max long where that can be; `after` characters follow on the last one.
void put_lines(const Node& node, std::size_t indent, std::size_t after, std::string& text) {
  const std::string line = to_string(node);
  if (node.is(Op::leaf) || indent + line.size() + after <= line_max) {
    text += line;
    return;
  }
  if (node.is(Op::timeout)) {
    text.append("Timeout(").append(calm::to_string(node.limit())).append(",\n").append(indent + 2, ' ');
    put_lines(node.parts().front(), indent + 2, after + 1, text);
    text += ")";
    return;
  }
  text += node.is(Op::join) ? "Join[" : "Race[";
  for (std::size_t i = 0; i < node.parts().size(); ++i) {
    text.append(i > 0 ? ",\n" : "\n").append(indent + 2, ' ');
    put_lines(node.parts()[i], indent + 2, 1, text);
  }
  text += "]";
}

std::string listed(std::string_view word, const std::vector<std::string>& names) {
  std::string text(word);
  for (const std::string& name : names) text.append(" ").append(name);
  return text;
}

}  // namespace

std::string to_string(const Node& node) {
  std::string text;
  put(node, text);
  return text;
}

std::string to_string(const Leaf& leaf) {
  std::string text;
  const auto say = [&text](std::string_view phrase) { text.append(text.empty() ? " " : ", ").append(phrase); };
  if (leaf.cost != Duration::max()) say("takes " + calm::to_string(leaf.cost));
  if (!leaf.reads.empty()) say(listed("reads", leaf.reads));
  if (!leaf.writes.empty()) say(listed("writes", leaf.writes));
  if (leaf.effects_known && leaf.reads.empty() && leaf.writes.empty()) say("touches nothing");
  if (!leaf.group.empty()) say("like " + leaf.group);
  if (leaf.ends_at_once) say("ends at once");
  if (!leaf.holds_promises) say("holds no promise");
  if (leaf.repeatable) say("repeatable");
  if (!leaf.can_fail) say("never fails");
  return leaf.name + text;
}

std::string to_string(const Plan& plan) {
  std::string text;
  put_lines(plan.root(), 0, 0, text);
  text += "\nwhere\n";
  for (const Leaf& leaf : plan.leaves()) text.append("  ").append(to_string(leaf)).append("\n");
  return text;
}

}  // namespace calm::plan
