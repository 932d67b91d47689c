// interpreter.hpp — runs a program of statements as coroutines of calm.
// Laws:    I1..I7: the program knows nothing but the Cx that it was given
// Threads: one in the lab. On threads a task leaves the scope that it was spawned into alone, for that belongs to the task
//          that opened it; its fibers may use it (TSK-4)
// Cancel:  as the program says
#pragma once

#include "calm/cx/cx.hpp"
#include "calm/cx/task.hpp"
#include "journal.hpp"
#include "program.hpp"

namespace calm::programs {

/// The program as the body of a run. Needs: program and journal outlive it.
Task<std::uint32_t> interpret(Cx cx, const Program& program, Journal& journal);

}  // namespace calm::programs
