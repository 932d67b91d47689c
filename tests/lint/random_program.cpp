#include "random_program.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "calm/model/split_mix.hpp"

namespace calm::lint {
namespace {

class Maker {
 public:
  Maker(std::uint64_t seed, Shape shape) : random_(seed), shape_(shape) {}

  Program make() {
    Program program;
    const std::size_t count = 1 + below(4);
    for (std::size_t i = 0; i < count; ++i) {
      Function function;
      function.name = "f" + std::to_string(i);
      function.place = place();
      for (std::size_t p = below(3); p > 0; --p) {
        function.parameters.push_back({static_cast<Mode>(below(3)), "p" + std::to_string(p)});
      }
      program.functions.push_back(std::move(function));
    }
    for (std::size_t i = 0; i < count; ++i) {
      statements_left_ = 2 + below(7);
      names_ = {"a", "b"};
      for (const Parameter& parameter : program.functions[i].parameters) names_.push_back(parameter.name);
      program.functions[i].body = block(program, i, 0);
      program.functions[i].end = place();
    }
    return program;
  }

 private:
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_.below(limit)); }
  Place place() { return {below(2) == 0 ? "one.cpp" : "two.cpp", ++line_}; }

  std::vector<Statement> block(const Program& program, std::size_t function, std::size_t depth) {
    std::vector<Statement> block;
    for (std::size_t i = below(depth == 0 ? 7 : 3); i > 0 && statements_left_ > 0; --i) {
      --statements_left_;
      block.push_back(statement(program, function, depth));
    }
    return block;
  }

  Statement statement(const Program& program, std::size_t function, std::size_t depth) {
    Statement made;
    made.place = place();
    made.name = names_[below(names_.size())];
    made.kind = static_cast<ObligationKind>(below(obligation_kind_count));
    const std::size_t choice = below(12);
    if (choice < 3) {
      made.verb = Verb::reserve;
    } else if (choice < 6) {
      made.verb = below(2) == 0 ? Verb::commit : Verb::abort;
    } else if (choice < 8) {
      make_call(made, program, function);
    } else if (choice < 11 && depth < 3) {
      made.verb = shape_ == Shape::any && below(3) == 0 ? Verb::loop : Verb::branch;
      made.name.clear();
      const std::size_t ways = made.verb == Verb::loop ? 1 : 2 + below(2);
      for (std::size_t i = 0; i < ways; ++i) made.blocks.push_back(block(program, function, depth + 1));
    } else {
      made.verb = Verb::leave;
      made.name.clear();
    }
    if (made.verb != Verb::reserve) made.kind = ObligationKind::custom;
    return made;
  }

  void make_call(Statement& made, const Program& program, std::size_t function) {
    const std::size_t first = shape_ == Shape::any ? 0 : function + 1;
    if (first == program.functions.size()) {
      made.verb = Verb::commit;
      return;
    }
    const Function& callee = program.functions[first + below(program.functions.size() - first)];
    made.verb = Verb::call;
    made.name = callee.name;
    std::vector<std::string> names = names_;
    for (std::size_t i = 0; i < callee.parameters.size(); ++i) {
      std::swap(names[i], names[i + below(names.size() - i)]);
      made.arguments.push_back(names[i]);
    }
  }

  SplitMix random_;
  Shape shape_;
  std::uint32_t line_ = 0;
  std::size_t statements_left_ = 0;
  std::vector<std::string> names_{};
};

}  // namespace

Program random_program(std::uint64_t seed, Shape shape) { return Maker(seed, shape).make(); }

}  // namespace calm::lint
