// threads.hpp — code with threads, atomics and locks under every schedule, and with every value that a load may read.
// Laws:    LAB-5, LAB-8
// Threads: everything happens on the calling one
// Cancel:  not applicable
//
//   const auto program = [](lab::Threads& threads) {
//     auto& ready = threads.make<lab::Atomic<bool>>(false);
//     auto& data = threads.make<lab::Plain<int>>(0);
//     threads.run([&] { data = 42; ready.store(true, std::memory_order_release); });
//     threads.run([&] { if (ready.load(std::memory_order_acquire)) threads.check(data == 42, "no data"); });
//   };
//   const lab::ThreadsReport report = lab::explore_threads(program, {}, {.memory = lab::MemoryModel::release_acquire});
//   EXPECT_TRUE(report.ok()) << lab::explain(program, report, {.memory = lab::MemoryModel::release_acquire});
//
// Lock-free code that is a template over its atomics (lockfree/atomics.hpp) is explored as it is: with ExplorerAtomics.
#pragma once

#include <string>

#include "calm/explore/atomic.hpp"
#include "calm/explore/explorer_atomics.hpp"
#include "calm/explore/mutex.hpp"
#include "calm/explore/plain.hpp"
#include "calm/explore/threads.hpp"

namespace calm::lab {

using explore::Atomic;
using explore::Condition;
using explore::explore_threads;
using explore::ExplorerAtomics;
using explore::Machine;
using explore::MemoryModel;
using explore::Mutex;
using explore::Plain;
using explore::Threads;
using ThreadsOptions = explore::Options;
using ThreadsReport = explore::Report;

/// For a loop that waits for another thread: once in every round.
inline void pause() noexcept { ExplorerAtomics::pause(); }

/// Gives: what went wrong first, and the steps to it with a column for each thread; how many executions there were when
///        nothing did. Needs: the program and the machine that the report is of.
[[nodiscard]] std::string explain(const Threads::Setup& program, const ThreadsReport& report,
                                  const Machine& machine = {});

}  // namespace calm::lab
