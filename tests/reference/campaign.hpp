// campaign.hpp — many programs in a row, and what is said when one of them fails.
// Laws:    LAB-10
// Threads: one
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <string>

#include "side_by_side.hpp"

namespace calm::reference {

inline constexpr std::size_t program_length = 200;

/// Seeds first .. first + count - 1. Gives: an empty text, or what differs, with the shrunk program as a ready test.
std::string campaign(std::uint64_t first, std::uint64_t count, Coverage& coverage, Fault fault = Fault::none);

/// Gives: an empty text, or what differs after which operation.
std::string difference(const Program& program, Fault fault = Fault::none);

/// Gives: the program, shrunk as long as it differs. Needs: it does.
Program shrunk(const Program& program, Fault fault = Fault::none);

}  // namespace calm::reference
