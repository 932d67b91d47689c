#include "shrink.hpp"

#include <algorithm>
#include <utility>

namespace calm::reference {
namespace {

using Fails = std::function<bool(const Program&)>;

/// Takes out chunks of this size wherever that still fails. Gives: whether any went.
bool remove_chunks(Program& program, std::size_t size, const Fails& fails) {
  bool removed = false;
  for (std::size_t at = 0; at < program.operations.size();) {
    Program smaller = program;
    const auto first = smaller.operations.begin() + static_cast<std::ptrdiff_t>(at);
    const std::size_t left = program.operations.size() - at;
    smaller.operations.erase(first, first + static_cast<std::ptrdiff_t>(std::min(size, left)));
    if (fails(smaller)) {
      program = std::move(smaller);
      removed = true;
    } else {
      at += size;
    }
  }
  return removed;
}

/// Tries every number below 256, smallest first. Gives: whether a smaller one still fails.
template <class Number>
bool lower(Program& program, Number& number, const Fails& fails) {
  const Number was = number;
  const unsigned end = std::min<unsigned>(was, 256);
  for (unsigned smaller = 0; smaller < end; ++smaller) {
    number = static_cast<Number>(smaller);
    if (fails(program)) return true;
  }
  number = was;
  return false;
}

bool lower_all(Program& program, const Fails& fails) {
  bool lowered = false;
  for (auto field : {&Setup::ceilings, &Setup::leaks, &Setup::tokens, &Setup::root, &Setup::stubborn}) {
    if (program.setup.*field != 0 && lower(program, program.setup.*field, fails)) lowered = true;
  }
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    for (auto field : {&Operation::a, &Operation::b, &Operation::c, &Operation::d}) {
      if (program.operations[i].*field != 0 && lower(program, program.operations[i].*field, fails)) lowered = true;
    }
  }
  return lowered;
}

void remove_all(Program& program, const Fails& fails) {
  for (std::size_t size = program.operations.size() / 2; size > 0; size /= 2) remove_chunks(program, size, fails);
  while (remove_chunks(program, 1, fails)) {
  }
}

}  // namespace

Program shrink(Program program, const Fails& fails) {
  remove_all(program, fails);
  while (lower_all(program, fails)) remove_all(program, fails);
  return program;
}

}  // namespace calm::reference
