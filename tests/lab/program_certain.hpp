// program_certain.hpp — the part of a program that ends in the same way in every schedule.
// Laws:    LAB-1 (the same kernel in the lab and on threads), I6
// Threads: values
// Cancel:  none: cancels, failures, limits and deadlines are what makes a program depend on who is quicker
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "journal.hpp"
#include "program.hpp"

namespace calm::programs {

/// Gives: the program without what time and chance decide; all that is left gets done, and ends well.
Program certain_part(const Program& program);

/// How often each statement was done, and with which result where that is a kind of end.
using Deeds = std::map<std::pair<Do, std::uint64_t>, std::uint64_t>;

/// Gives: what was done in a run that is over.
Deeds deeds_in(const Journal& journal);

/// Gives: what was not done as often on threads as in the lab.
std::vector<std::string> differences(const Deeds& in_lab, const Deeds& on_threads);

}  // namespace calm::programs
