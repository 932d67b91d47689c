// trees.hpp — every small tree, for the tests of plans.
// Laws:    none of its own
// Threads: one
// Cancel:  not applicable
#pragma once

#include <string>
#include <vector>

#include "calm/plan/plan.hpp"

namespace calm::planned {

/// Gives: the name of a leaf by its number from the left: a, b, c.
inline std::string name_of(int number) { return {static_cast<char>('a' + number)}; }

std::vector<plan::Node> all_trees(int first, int count, bool timeouts);

/// Adds every row of at least two trees over these leaves, after those in `row`.
inline void add_rows(int first, int count, bool timeouts, std::vector<plan::Node>& row,
                     std::vector<std::vector<plan::Node>>& rows) {
  if (count == 0) {
    rows.push_back(row);
    return;
  }
  for (int taken = 1; taken <= count - (row.empty() ? 1 : 0); ++taken) {
    for (const plan::Node& tree : all_trees(first, taken, timeouts)) {
      row.push_back(tree);
      add_rows(first + taken, count - taken, timeouts, row, rows);
      row.pop_back();
    }
  }
}

/// Gives: every tree of joins and races over leaves first, first + 1, ..., each join and race with two parts or more; with
///        timeouts also around each join and race.
inline std::vector<plan::Node> all_trees(int first, int count, bool timeouts) {
  if (count == 1) return {plan::Node::leaf(name_of(first))};
  std::vector<std::vector<plan::Node>> rows;
  std::vector<plan::Node> row;
  add_rows(first, count, timeouts, row, rows);
  std::vector<plan::Node> trees;
  for (const std::vector<plan::Node>& parts : rows) {
    for (const plan::Node& tree : {plan::Node::join(parts), plan::Node::race(parts)}) {
      trees.push_back(tree);
      if (timeouts) trees.push_back(plan::Node::timeout(Duration::milliseconds(count), tree));
    }
  }
  return trees;
}

}  // namespace calm::planned
