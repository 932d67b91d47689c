// ir.hpp — what is left of a program when only its promises count: reserve, commit, abort, call, branch, loop, return.
// Laws:    OBL-8
// Threads: values
// Cancel:  left out on purpose: what a cancelled task holds aborts by itself (OBL-5)
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "calm/model/obligation_kind.hpp"

namespace calm::lint {

/// A line of a source.
struct Place {
  std::string file{};
  std::uint32_t line = 0;

  friend bool operator==(const Place&, const Place&) = default;
  friend auto operator<=>(const Place&, const Place&) = default;
};

/// What a function does with a variable that its caller passes.
enum class Mode : std::uint8_t {
  takes,  ///< it holds a promise and the function sees to it; the caller has it no more
  lends,  ///< it holds a promise, and may hold it still when the function returns
  gives,  ///< it holds none, and may hold one when the function returns
};

struct Parameter {
  Mode mode = Mode::takes;
  std::string name{};

  friend bool operator==(const Parameter&, const Parameter&) = default;
};

enum class Verb : std::uint8_t {
  reserve,
  commit,
  abort,
  call,
  branch,  ///< one of its blocks
  loop,    ///< its only block, any number of times or never
  leave,   ///< `return`
};

struct Statement {
  Verb verb = Verb::leave;
  Place place{};       ///< in the program that the text is about; where nothing is said, as written
  Place written{};     ///< in the text itself
  std::string name{};  ///< the variable; of a call the function
  ObligationKind kind = ObligationKind::custom;  ///< of reserve
  std::vector<std::string> arguments{};          ///< of call
  std::vector<std::vector<Statement>> blocks{};  ///< of branch and loop
};

struct Function {
  std::string name{};
  Place place{};
  Place written{};
  Place end{};  ///< where it returns when nothing else does
  std::vector<Parameter> parameters{};
  std::vector<Statement> body{};
};

struct Program {
  std::vector<Function> functions{};
};

}  // namespace calm::lint
