#include "apps/calm/lint/graph.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace calm::lint {
namespace {

class Builder {
 public:
  explicit Builder(std::vector<Step>& steps) : steps_(steps) {}

  std::size_t add(const Statement* statement, const Place* exit = nullptr) {
    steps_.push_back({statement, exit, {}});
    return steps_.size() - 1;
  }

  // Adds a block behind `from`. Gives: the step behind which the text goes on.
  std::size_t add_block(const std::vector<Statement>& block, std::size_t from) {
    for (const Statement& statement : block) from = add_statement(statement, from);
    return from;
  }

 private:
  void link(std::size_t from, std::size_t to) { steps_[from].next.push_back(to); }

  std::size_t add_statement(const Statement& statement, std::size_t from) {
    switch (statement.verb) {
      case Verb::branch:
        return add_branch(statement, from);
      case Verb::loop: {
        const std::size_t head = add(nullptr);
        link(from, head);
        link(add_block(statement.blocks.front(), head), head);
        return head;
      }
      case Verb::leave:
        link(from, add(nullptr, &statement.place));
        return add(nullptr);  // no way leads to what follows
      case Verb::reserve:
      case Verb::commit:
      case Verb::abort:
      case Verb::call:
        break;
    }
    const std::size_t step = add(&statement);
    link(from, step);
    return step;
  }

  std::size_t add_branch(const Statement& statement, std::size_t from) {
    std::vector<std::size_t> ends;
    ends.reserve(statement.blocks.size());
    for (const auto& block : statement.blocks) ends.push_back(add_block(block, from));
    const std::size_t meet = add(nullptr);
    for (const std::size_t end : ends) link(end, meet);
    return meet;
  }

  std::vector<Step>& steps_;
};

void collect(const std::vector<Statement>& block, std::set<std::string_view>& names) {
  for (const Statement& statement : block) {
    if (statement.verb == Verb::reserve || statement.verb == Verb::commit || statement.verb == Verb::abort) {
      names.insert(statement.name);
    }
    names.insert(statement.arguments.begin(), statement.arguments.end());
    for (const auto& inner : statement.blocks) collect(inner, names);
  }
}

}  // namespace

Graph::Graph(const Function& function) {
  Builder builder(steps);
  const std::size_t last = builder.add_block(function.body, builder.add(nullptr));
  const std::size_t end = builder.add(nullptr, &function.end);
  steps[last].next.push_back(end);
  std::set<std::string_view> names;
  collect(function.body, names);
  for (const Parameter& parameter : function.parameters) {
    variables.push_back(parameter.name);
    names.erase(parameter.name);
  }
  variables.insert(variables.end(), names.begin(), names.end());
}

}  // namespace calm::lint
