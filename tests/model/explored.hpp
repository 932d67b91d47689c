// explored.hpp — a state, what threads do to it, and what must hold at the end: run by the explorer, judged by GoogleTest.
// Laws:    LAB-5, LAB-8
// Threads: everything on the calling thread; the threads of the program are the explorer's
// Cancel:  not applicable
//
//   struct Counter { ModelAtomics::Atomic<int> value{0}; };
//   const Report report = explore<Counter>({add_one, add_one}, [](Counter& c) { EXPECT_EQ(read(c), 2); });
//   EXPECT_TRUE(report.ok()) << report;
//
// Every execution has a State of its own. It fails by an EXPECT or ASSERT or an exception, in a thread or in the check at its
// end, and by a deadlock. What threads share beside ModelAtomics words is not seen by the explorer: let such values be read
// at the end only, or by who holds a lock.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "calm/explore/explorer_atomics.hpp"
#include "calm/explore/threads.hpp"

namespace calm::explored {

using explore::MemoryModel;
using explore::Threads;
using ModelAtomics = explore::ExplorerAtomics;

inline constexpr std::uint32_t unbounded = UINT32_MAX;

struct Options {
  std::uint32_t max_spurious = 0;             // failures of compare_exchange_weak for no reason, of each thread
  std::uint32_t max_preemptions = unbounded;  // with a bound, every order of steps within it: no reduction
  std::uint64_t max_executions = 2'000'000;   // beyond it the report is not exhausted
  std::uint32_t max_steps = 1'000;
  MemoryModel memory = MemoryModel::release_acquire;  // its executions include those of sequential memory
};

struct Report {
  std::uint64_t executions = 0;
  bool exhausted = false;
  std::string failure;  // what went wrong, empty when nothing did
  std::string steps;    // of the failed execution, a column for each thread

  [[nodiscard]] bool ok() const { return exhausted && failure.empty(); }
};

std::ostream& operator<<(std::ostream& out, const Report& report);

/// Fails the test that runs, unless every execution was seen and went well.
void expect_exhausted(const Report& report);

template <class State>
using Body = std::function<void(State&)>;

namespace detail {

/// Makes the threads of a program, and gives the check for its end.
using Setup = std::function<std::function<void()>(Threads&)>;
Report explore(const Setup& setup, const Options& options);

}  // namespace detail

/// Gives: what happened over all executions; it stops at the first failure.
template <class State>
Report explore(const std::vector<Body<State>>& threads, const Body<State>& check, const Options& options = {}) {
  return detail::explore(
      [&](Threads& program) -> std::function<void()> {
        State& state = program.make<State>();
        for (std::size_t i = 0; i < threads.size(); ++i) {
          program.run([&state, &body = threads[i]] { body(state); }, std::string(1, static_cast<char>('A' + i)));
        }
        return [&state, &check] { check(state); };
      },
      options);
}

}  // namespace calm::explored
