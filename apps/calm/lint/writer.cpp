#include <cstddef>
#include <string>
#include <vector>

#include "apps/calm/lint/loader.hpp"
#include "apps/calm/lint/words.hpp"

namespace calm::lint {
namespace {

std::string at(const Place& place) { return " at " + place.file + ":" + std::to_string(place.line) + "\n"; }

void append(std::string& text, const std::vector<Statement>& block, const std::string& indent) {
  for (const Statement& statement : block) {
    text += indent;
    switch (statement.verb) {
      case Verb::reserve:
        text += "reserve " + statement.name + " ";
        text += kind_words.at(static_cast<std::size_t>(statement.kind));
        break;
      case Verb::commit:
        text += "commit " + statement.name;
        break;
      case Verb::abort:
        text += "abort " + statement.name;
        break;
      case Verb::call:
        text += "call " + statement.name;
        for (const std::string& argument : statement.arguments) text += " " + argument;
        break;
      case Verb::branch:
        text += "branch";
        break;
      case Verb::loop:
        text += "loop";
        break;
      case Verb::leave:
        text += "return";
        break;
    }
    text += at(statement.place);
    for (std::size_t i = 0; i < statement.blocks.size(); ++i) {
      if (i != 0) text += indent + "or\n";
      append(text, statement.blocks[i], indent + "  ");
    }
    if (!statement.blocks.empty()) text += indent + "end\n";
  }
}

}  // namespace

std::string to_text(const Program& program) {
  std::string text;
  for (const Function& function : program.functions) {
    text += "function " + function.name;
    for (const Parameter& parameter : function.parameters) {
      text.append(" ")
          .append(mode_words.at(static_cast<std::size_t>(parameter.mode)))
          .append(" ")
          .append(parameter.name);
    }
    text += at(function.place);
    append(text, function.body, "  ");
    text += "end" + at(function.end);
  }
  return text;
}

}  // namespace calm::lint
