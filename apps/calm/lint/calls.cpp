#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apps/calm/lint/loader.hpp"
#include "apps/calm/scenario/problem.hpp"

namespace calm::lint {
namespace {

using Index = std::map<std::string_view, const Function*>;

void check_block(const Index& index, const std::vector<Statement>& block) {
  for (const Statement& statement : block) {
    for (const auto& inner : statement.blocks) check_block(index, inner);
    if (statement.verb != Verb::call) continue;
    const auto found = index.find(statement.name);
    if (found == index.end()) {
      std::vector<std::string_view> names;
      for (const auto& [name, function] : index) names.push_back(name);
      throw Problem(statement.written, scenario::unknown_text("function", statement.name, names));
    }
    const std::size_t wanted = found->second->parameters.size();
    if (statement.arguments.size() != wanted) {
      throw Problem(statement.written, statement.name + " has " + std::to_string(wanted) +
                                           (wanted == 1 ? " parameter" : " parameters") + " and is passed " +
                                           std::to_string(statement.arguments.size()));
    }
  }
}

}  // namespace

void check_calls(const Program& program) {
  Index index;
  for (const Function& function : program.functions) {
    const auto [first, added] = index.emplace(function.name, &function);
    if (added) continue;
    const Place& other = first->second->written;
    throw Problem(function.written, "there is a function " + function.name + " already, at " + other.file + ":" +
                                        std::to_string(other.line));
  }
  for (const Function& function : program.functions) check_block(index, function.body);
}

}  // namespace calm::lint
