#include "calm/plan/graphviz.hpp"

#include <algorithm>

#include "calm/plan/cost.hpp"

namespace calm::plan {
namespace {

class Drawing {
 public:
  explicit Drawing(const Plan& plan) : timing_(timing(plan)) {}

  std::string text(const Node& root) {
    text_ = "digraph plan {\n  node [fontname=\"sans-serif\"];\n";
    Path place;
    draw(root, place);
    return text_ + "}\n";
  }

 private:
  /// Draws the node and what is below it. Gives: its number.
  std::size_t draw(const Node& node, Path& place) {
    const std::size_t number = count_++;
    text_.append("  n").append(std::to_string(number)).append(" [").append(look_of(node));
    if (is_on_critical_way(place)) text_.append(", style=bold");
    text_.append("];\n");
    for (std::uint32_t i = 0; i < node.parts().size(); ++i) {
      place.push_back(i);
      const std::size_t part = draw(node.parts()[i], place);
      text_.append("  n").append(std::to_string(number)).append(" -> n").append(std::to_string(part));
      text_.append(is_on_critical_way(place) ? " [style=bold];\n" : ";\n");
      place.pop_back();
    }
    return number;
  }

  /// Names have no sign that dot would read.
  std::string look_of(const Node& node) {
    switch (node.op()) {
      case Op::join:
        return "label=\"join\", shape=invhouse";
      case Op::race:
        return "label=\"race\", shape=diamond";
      case Op::timeout:
        return "label=\"timeout " + calm::to_string(node.limit()) + "\", shape=octagon";
      case Op::leaf:
        break;
    }
    const LeafTiming& leaf = timing_.leaves[leaf_++];
    std::string label = leaf.name;
    if (!leaf.cost.is_infinite()) label.append("\\n").append(calm::to_string(leaf.cost.length()));
    if (leaf.slack == Duration()) {
      label.append(", critical");
    } else if (leaf.slack != Duration::max()) {
      label.append(", slack ").append(calm::to_string(leaf.slack));
    }
    return "label=\"" + label + "\", shape=box";
  }

  [[nodiscard]] bool is_on_critical_way(const Path& place) const {
    return place.size() <= timing_.critical.size() && std::equal(place.begin(), place.end(), timing_.critical.begin());
  }

  Timing timing_;
  std::string text_;
  std::size_t count_ = 0;
  std::size_t leaf_ = 0;
};

}  // namespace

std::string to_graphviz(const Plan& plan) { return Drawing(plan).text(plan.root()); }

}  // namespace calm::plan
