// both_worlds.hpp — what a test may ask that runs in the lab, and on workers of the production runtime as well.
// Laws:    LAB-1 (a program of the lab is one of threads)
// Threads: any
// Cancel:  not applicable
//
// In the lab time is exact, and goes on only when nobody can run. On workers (CALM_TEST_WORKERS, see on_workers.cpp) it is the
// real one: what comes at a time comes then or later, and who has slept may be ahead of who was to run meanwhile.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <concepts>
#include <cstdlib>
#include <functional>

#include "calm/cx/context.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/port.hpp"
#include "calm/cx/wait.hpp"
#include "calm/kernel/kernel.hpp"
#include "calm/kernel/snapshot.hpp"
#include "calm/model/cancel_kind.hpp"
#include "calm/model/time.hpp"

namespace calm {

/// Gives: true where the programs of the tests run in the lab.
inline bool in_lab() noexcept {
  return std::getenv("CALM_TEST_WORKERS") == nullptr;  // NOLINT(concurrency-mt-unsafe): nobody changes it
}

/// Gives: whether it is the time that was due; on workers it may be later.
inline testing::AssertionResult comes_at(Time now, Time due) {
  if (in_lab() ? now == due : now >= due) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "it is " << to_string(now) << ", and " << to_string(due) << " was due";
}

/// Gives: how long clean-up may take in a test that uses it up: nobody wants to wait for the default.
inline Duration cleanup_time_here() noexcept { return in_lab() ? default_cleanup_time : Duration::milliseconds(20); }

/// Waits until `holds()`. Needs: in the lab, where whoever could run has run before time went on, it does already.
template <std::predicate F>
Task<void> catch_up(Cx cx, F holds) {
  if (in_lab()) co_return;
  while (!holds()) co_await sleep(cx, Duration::microseconds(200));
}
/// The same for what another task says.
inline Task<void> catch_up(Cx cx, std::reference_wrapper<const std::atomic<bool>> said) {
  if (in_lab()) co_return;
  while (!said.get().load()) co_await sleep(cx, Duration::microseconds(200));
}

/// Calls `use(kernel)` with the kernel that the program runs on, as only tests may reach it.
template <class F>
auto with_kernel_of(cx::Port& port, F use) {
  if (auto* const one = dynamic_cast<cx::KernelPort<lockfree::LocalAtomics>*>(&port)) return use(one->kernel());
  return use(static_cast<cx::KernelPort<lockfree::RealAtomics>&>(port).kernel());
}

template <class F>
auto with_kernel_of(CxOf<> cx, F use) {
  return with_kernel_of(cx::context_of(cx).root()->port(), use);
}

/// Gives: everything in it.
inline kernel::Snapshot look(CxOf<> cx) {
  return with_kernel_of(cx, [&](auto& kernel) { return kernel.snapshot(cx::context_of(cx).root()->worker()); });
}

}  // namespace calm
