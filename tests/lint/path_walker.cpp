#include "path_walker.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace calm::lint {
namespace {

constexpr std::size_t turns_max = 2;

/// What a variable is, on one way.
struct Fate {
  enum class Now { untouched, resolved, held } now = Now::untouched;
  std::string promise{};  // of a held one: its kind, or `parameter`
  Place made{};
};
using Variables = std::map<std::string, Fate>;

/// A way that is not walked to its end.
struct CutShort {};

/// One way through a function: the choices that were made before, and 0 for every new one.
class Way {
 public:
  Way(const Program& program, std::size_t depth_max, std::vector<std::pair<std::size_t, std::size_t>>& choices,
      Walked& walked)
      : program_(program), depth_max_(depth_max), choices_(choices), walked_(walked) {}

  // Runs a function whose parameters are as it says. Gives: its variables at the end.
  Variables run(const Function& function, std::size_t depth) {
    Variables variables;
    for (const Parameter& parameter : function.parameters) {
      if (parameter.mode != Mode::gives) {
        variables[parameter.name] = {Fate::Now::held, "parameter", function.place};
      }
    }
    const Place* const left_at = run_block(function, function.body, variables, depth);
    const Place& end = left_at != nullptr ? *left_at : function.end;
    for (const auto& [name, fate] : variables) {
      if (fate.now == Fate::Now::held && !belongs_to_caller(function, name)) {
        walked_.seen.insert({fate.made, WarningKind::leak, name, function.name, fate.promise, end});
      }
    }
    return variables;
  }

 private:
  static bool belongs_to_caller(const Function& function, const std::string& name) {
    for (const Parameter& parameter : function.parameters) {
      if (parameter.name == name) return parameter.mode != Mode::takes;
    }
    return false;
  }

  std::size_t choose(std::size_t count) {
    if (next_ == choices_.size()) choices_.emplace_back(0, count);
    return choices_[next_++].first;
  }

  // Gives: where the function was left, if it was.
  const Place* run_block(const Function& function, const std::vector<Statement>& block, Variables& variables,
                         std::size_t depth) {
    for (const Statement& statement : block) {
      if (statement.verb == Verb::leave) return &statement.place;
      if (statement.verb == Verb::branch) {
        const std::size_t chosen = choose(statement.blocks.size());
        if (const Place* left = run_block(function, statement.blocks[chosen], variables, depth)) return left;
      } else if (statement.verb == Verb::loop) {
        walked_.complete = false;
        for (std::size_t turn = 0; turn < turns_max && choose(2) == 1; ++turn) {
          if (const Place* left = run_block(function, statement.blocks.front(), variables, depth)) return left;
        }
      } else if (statement.verb == Verb::call) {
        call(function, statement, variables, depth);
      } else if (statement.verb == Verb::reserve) {
        wants_free(function, statement, statement.name, variables);
        variables[statement.name] = {Fate::Now::held, std::string(to_string(statement.kind)), statement.place};
      } else {
        wants_held(function, statement, statement.name, variables);
        variables[statement.name] = {Fate::Now::resolved, {}, {}};
      }
    }
    return nullptr;
  }

  void call(const Function& caller, const Statement& statement, Variables& variables, std::size_t depth) {
    const Function* callee = nullptr;
    for (const Function& function : program_.functions) {
      if (function.name == statement.name) callee = &function;
    }
    for (std::size_t i = 0; i < statement.arguments.size(); ++i) {
      if (callee->parameters[i].mode == Mode::gives) {
        wants_free(caller, statement, statement.arguments[i], variables);
      } else {
        wants_held(caller, statement, statement.arguments[i], variables);
      }
    }
    if (depth == depth_max_) throw CutShort();
    Variables inside = run(*callee, depth + 1);
    for (std::size_t i = 0; i < statement.arguments.size(); ++i) {
      const Fate& fate = inside[callee->parameters[i].name];
      if (callee->parameters[i].mode == Mode::takes) {
        variables[statement.arguments[i]] = {Fate::Now::resolved, {}, {}};
      } else if (fate.now != Fate::Now::held || fate.promise != "parameter") {
        variables[statement.arguments[i]] = fate;
      }
    }
  }

  void wants_free(const Function& function, const Statement& statement, const std::string& name, Variables& variables) {
    const Fate& fate = variables[name];
    if (fate.now != Fate::Now::held) return;
    walked_.seen.insert({statement.place, WarningKind::overwritten, name, function.name, fate.promise, fate.made});
  }

  void wants_held(const Function& function, const Statement& statement, const std::string& name, Variables& variables) {
    const Fate& fate = variables[name];
    if (fate.now == Fate::Now::held) return;
    const bool before = fate.now == Fate::Now::resolved;
    walked_.seen.insert({statement.place,
                         before ? WarningKind::already_resolved : WarningKind::not_reserved,
                         name,
                         function.name,
                         {},
                         {}});
  }

  const Program& program_;
  std::size_t depth_max_;
  std::vector<std::pair<std::size_t, std::size_t>>& choices_;  // chosen, and of how many
  std::size_t next_ = 0;
  Walked& walked_;
};

// Gives: false when all ways were walked.
bool turn_to_the_next(std::vector<std::pair<std::size_t, std::size_t>>& choices) {
  while (!choices.empty() && choices.back().first + 1 == choices.back().second) choices.pop_back();
  if (choices.empty()) return false;
  ++choices.back().first;
  return true;
}

}  // namespace

Walked walk_all(const Program& program, std::size_t depth_max, std::size_t ways_max) {
  Walked walked;
  for (const Function& function : program.functions) {
    std::vector<std::pair<std::size_t, std::size_t>> choices;
    do {
      if (walked.ways == ways_max) {
        walked.complete = false;
        return walked;
      }
      ++walked.ways;
      try {
        (void)Way(program, depth_max, choices, walked).run(function, 0);
      } catch (const CutShort&) {
        walked.complete = false;
      }
    } while (turn_to_the_next(choices));
  }
  return walked;
}

}  // namespace calm::lint
