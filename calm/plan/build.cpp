#include "calm/plan/build.hpp"

namespace calm::plan {
namespace {

std::vector<Node> nodes_of(std::vector<Draft>& parts, std::vector<Leaf>& leaves) {
  std::vector<Node> nodes;
  nodes.reserve(parts.size());
  for (Draft& part : parts) {
    nodes.push_back(std::move(part.node));
    for (Leaf& leaf : part.leaves) leaves.push_back(std::move(leaf));
  }
  return nodes;
}

}  // namespace

Draft join(std::vector<Draft> parts) {
  std::vector<Leaf> leaves;
  std::vector<Node> nodes = nodes_of(parts, leaves);
  return {Node::join(std::move(nodes)), std::move(leaves)};
}

Draft race(std::vector<Draft> parts) {
  std::vector<Leaf> leaves;
  std::vector<Node> nodes = nodes_of(parts, leaves);
  return {Node::race(std::move(nodes)), std::move(leaves)};
}

Draft timeout(Duration limit, Draft part) {
  return {Node::timeout(limit, std::move(part.node)), std::move(part.leaves)};
}

}  // namespace calm::plan
