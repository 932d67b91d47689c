#include "program_campaign.hpp"

#include <fmt/format.h>

#include <iterator>

#include "calm/trace/hash.hpp"
#include "program_shrink.hpp"

namespace calm::programs {

std::string verdict(const Program& program) {
  if (run_twice(program).problems.empty()) return {};
  const Program small = shrink(program, [](const Program& smaller) { return !run_twice(smaller).problems.empty(); });
  std::string text = fmt::format("calm: program {} breaks a law; {} of its {} statements are enough:\n{}", program.seed,
                                 size_of(small.body), size_of(program.body), to_string(small));
  for (const std::string& problem : run_twice(small).problems) {
    fmt::format_to(std::back_inserter(text), "  {}\n", problem);
  }
  return text + fmt::format("  next: BUILD/tests/lab/calm_programs {} {}\n",
                            program.faults == lab::Faults() ? "--seed" : "--trouble", program.seed);
}

Campaign campaign(std::uint64_t first, std::uint64_t count, Trouble trouble,
                  const std::function<void(std::uint64_t, const Digests&)>& each) {
  Campaign result;
  trace::Hasher hasher;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Program program = trouble == Trouble::some ? with_trouble(make_program(seed)) : make_program(seed);
    const Ran ran = run_twice(program);
    if (!ran.problems.empty()) {
      result.said = verdict(program);
      break;
    }
    hasher.add(seed).add(ran.digests.trace).add(ran.digests.state).add(ran.digests.log);
    result.steps += ran.steps;
    result.coverage.add(ran.coverage);
    if (each) each(seed, ran.digests);
  }
  result.digest = hasher.digest();
  return result;
}

}  // namespace calm::programs
