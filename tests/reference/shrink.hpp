// shrink.hpp — makes a failing program small: fewer operations, then smaller numbers, as long as it still fails.
// Laws:    LAB-10, LAB-3 (a failure is minimised)
// Threads: one
// Cancel:  not applicable
#pragma once

#include <functional>

#include "operations.hpp"

namespace calm::reference {

/// Needs: `fails` holds for the program and always says the same of the same program.
/// Gives: a program that fails and from which no operation can be taken away.
Program shrink(Program program, const std::function<bool(const Program&)>& fails);

}  // namespace calm::reference
