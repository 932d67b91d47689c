// side_by_side.hpp — runs a program on the kernel and on the reference model and compares everything after every operation.
// Laws:    LAB-10
// Threads: one
// Cancel:  not applicable
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "calm/model/error_code.hpp"
#include "operations.hpp"
#include "reference_model.hpp"

namespace calm::reference {

/// What programs have reached.
struct Coverage {
  std::array<std::uint64_t, do_count> done{};
  std::map<std::pair<Do, Errc>, std::uint64_t> refused;
  std::array<std::uint64_t, 5> polls{};     // by PollStart
  std::array<std::uint64_t, 7> findings{};  // by FindingKind
  Moves moves;

  void add(const Moves& other);
};

/// Where the two sides parted.
struct Difference {
  std::size_t at = 0;  ///< the operation after which they did; behind the last one when it was at the end
  std::string text;
};

/// Runs the program, then cancels the root and lets everything come to rest.
/// Gives: the first difference, or nothing. What was reached is added to `coverage`.
std::optional<Difference> run(const Program& program, Coverage& coverage, Fault fault = Fault::none);

}  // namespace calm::reference
