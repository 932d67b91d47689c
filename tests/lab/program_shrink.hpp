// program_shrink.hpp — makes a failing program small: fewer statements, bodies without their frame, smaller numbers.
// Laws:    LAB-3 (a failure is minimised)
// Threads: one
// Cancel:  not applicable
#pragma once

#include <functional>

#include "program.hpp"

namespace calm::programs {

/// Needs: `fails` holds for the program and always says the same of the same program.
/// Gives: a program that fails and from which no statement can be taken away.
Program shrink(Program program, const std::function<bool(const Program&)>& fails);

}  // namespace calm::programs
