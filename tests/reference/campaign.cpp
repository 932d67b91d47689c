#include "campaign.hpp"

#include <fmt/format.h>

#include "shrink.hpp"

namespace calm::reference {

std::string difference(const Program& program, Fault fault) {
  Coverage ignored;
  const auto found = run(program, ignored, fault);
  if (!found) return {};
  const bool at_end = found->at == program.operations.size();
  return fmt::format("kernel and reference model differ after operation {} ({}):\n{}", found->at,
                     at_end ? "the root is cancelled" : to_string(program.operations[found->at].what), found->text);
}

Program shrunk(const Program& program, Fault fault) {
  return shrink(program, [fault](const Program& smaller) {
    Coverage ignored;
    return run(smaller, ignored, fault).has_value();
  });
}

std::string campaign(std::uint64_t first, std::uint64_t count, Coverage& coverage, Fault fault) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Program program = make_program(seed, program_length);
    if (!run(program, coverage, fault)) continue;
    const Program small = shrunk(program, fault);
    return fmt::format(
        "seed {}: {}  law:  LAB-10 any difference is a failure\n  next: put this into found_test.cpp\n{}", seed,
        difference(small, fault), as_test(small, fmt::format("seed_{}", seed)));
  }
  return {};
}

}  // namespace calm::reference
