// graph.hpp — a function as steps and the ways between them.
// Laws:    OBL-8
// Threads: values
// Cancel:  not applicable
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/calm/lint/ir.hpp"

namespace calm::lint {

/// One statement, or a place where ways part and meet.
struct Step {
  const Statement* statement = nullptr;
  const Place* exit = nullptr;  ///< the function ends here
  std::vector<std::size_t> next{};
};

/// The first step is the entry; the order is that of the text, so only loops lead back.
struct Graph {
  std::vector<Step> steps{};
  std::vector<std::string> variables{};  ///< parameters first, then the others by name

  /// Needs: the function outlives the graph.
  explicit Graph(const Function& function);
};

}  // namespace calm::lint
