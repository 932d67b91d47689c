// program_threads.hpp — programs on the production runtime, several beside each other: what must hold in every schedule.
// Laws:    I1, I2, I4, QUI-3, OBL-4, LAB-1, TSK-5, CTX-4, CAN-7
// Threads: run_on_threads() by one thread at a time: what it says on standard error is read
// Cancel:  as the programs say; a shutdown from another thread where it is asked for
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calm/model/time.hpp"
#include "program.hpp"
#include "tests/run_way.hpp"

namespace calm::programs {

struct OnThreads {
  std::uint16_t workers = 1;
  RunWay way = RunWay::shared;
  std::uint64_t seed = 1;                 ///< of who is stolen from
  std::optional<Duration> stops_after{};  ///< a thread outside shuts the runtime down
  bool certain = false;  ///< the programs are certain_part() of something: they do what they do in the lab
};

/// Runs the programs at once, each a task of its own. Gives: what is wrong.
std::vector<std::string> run_on_threads(const std::vector<Program>& programs, const OnThreads& how);

/// Runs the programs of the seeds first .. first + count - 1 in groups of `beside`; of eight groups one is shut down in the
/// middle and three run their certain parts. Every other eight run in the usual way, unless CALM_TEST_WAY asks for one.
/// Gives: nothing when all is well; else what broke, the programs, and how to run them again.
std::string threads_campaign(std::uint64_t first, std::uint64_t count, std::uint16_t workers);

}  // namespace calm::programs
