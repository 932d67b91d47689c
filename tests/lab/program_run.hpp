// program_run.hpp — one program in the lab, with all oracles on: what came of it, and whether it comes again.
// Laws:    I6, LAB-6, OBL-4, OBL-10
// Threads: one
// Cancel:  as the program says
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "calm/lab/lab.hpp"
#include "calm/model/cancel_kind.hpp"
#include "program.hpp"

namespace calm::programs {

/// What two runs, or two builds, must agree in.
struct Digests {
  std::uint64_t trace = 0;
  std::uint64_t state = 0;
  std::uint64_t log = 0;  ///< of what the program itself noted

  friend constexpr bool operator==(const Digests&, const Digests&) noexcept = default;
};

/// What was reached: how often each kind of statement was done, each kind of event recorded, each kind of cancel requested.
struct Coverage {
  std::array<std::uint64_t, do_count> statements{};
  std::array<std::uint64_t, trace::event_kind_count + 1> events{};
  std::array<std::uint64_t, cancel_kind_count> cancels{};
  std::array<std::uint64_t, 4> ends{};  ///< of tasks

  void add(const Coverage& other) noexcept;
};

struct Ran {
  Digests digests{};
  Coverage coverage{};
  std::vector<std::string> problems{};
  std::uint64_t steps = 0;
  trace::Trace trace{};
};

/// Runs the program once. Gives: what the oracles and the journal found; a dropped token that the program itself dropped is
/// expected, and missed when it is not reported.
Ran run_once(const Program& program);

/// Runs it twice. Gives: the same with what differs between the two.
Ran run_twice(const Program& program);

}  // namespace calm::programs
