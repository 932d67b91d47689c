// Work from other threads when a worker has no memory.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>

#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/mem/allocation_points.hpp"
#include "calm/runtime/injector.hpp"
#include "calm/runtime/run.hpp"

namespace calm {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)

Task<int> twice_with_memory(Cx cx, int number) {
  co_await yield(cx);
  co_return 2 * number;
}

/// What a thread outside was told of tasks for which a worker had no memory.
struct WithoutMemory {
  std::atomic<bool> asks{false};
  std::atomic<int> refused{0};
  std::atomic<int> panicked{0};
  std::atomic<int> values{0};

  void ask(const Injector& door) {
    while (!asks) std::this_thread::yield();
    const Outcome<int> end = door.spawn(twice_with_memory, 21).wait();
    refused += end.is_err() && end.error().code() == Errc::resource_exhausted ? 1 : 0;
    panicked += end.is_panicked() ? 1 : 0;
    values += end.is_ok() && end.value() == 42 ? 1 : 0;
    asks = false;
  }
};

/// While it lives, the n-th time that this thread asks for memory it gets none.
struct NthFails {
  explicit NthFails(std::uint64_t nth) noexcept {
    mem::AllocationPoints::watch(nth, mem::AllocationPoints::Caches::counted);
  }
  NthFails(const NthFails&) = delete;
  NthFails& operator=(const NthFails&) = delete;
  ~NthFails() { (void)mem::AllocationPoints::stop(); }
};

/// A thread outside asks while the worker has no memory for the n-th thing.
struct OpenWithoutMemory {
  WithoutMemory* told;
  std::uint64_t nth;
  Task<void> operator()(Scope& scope) const {
    const std::jthread outside([door = Injector(scope), told = told] { told->ask(door); });
    const NthFails fails(nth);
    told->asks = true;
    while (told->asks) co_await yield(scope.cx());
  }
};
struct AskUntilThereIsEnough {
  WithoutMemory* told;
  int* asked;
  Task<void> operator()(Cx cx) const {
    while (told->values == 0 && *asked < 100) {
      auto opened = scope(cx, OpenWithoutMemory{told, static_cast<std::uint64_t>(++*asked)});
      (void)co_await outcome(std::move(opened));
    }
  }
};

TEST(InjectionWithoutMemory, HND_3_OUT_5_a_task_that_cannot_be_made_on_a_worker_is_refused_once) {
  for (const Flavour flavour : {Flavour::current_thread, Flavour::multi_worker}) {
    WithoutMemory told;
    int asked = 0;
    EXPECT_TRUE(block_on(AskUntilThereIsEnough{&told, &asked}, {.workers = 1, .flavour = flavour}).is_ok());
    EXPECT_GE(told.refused, 2) << "its shell, and the frame around what it does";
    EXPECT_GE(told.panicked, 1) << "the frame of what it does";
    EXPECT_EQ(told.values, 1);
    EXPECT_EQ(told.refused + told.panicked + told.values, asked) << "each is answered, and by nothing else";
  }
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

}  // namespace
}  // namespace calm
