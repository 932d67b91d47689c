// Tasks wait in line for a Notify: those of a function with values as parameters, and those of a lambda with a capture.
#include <atomic>
#include <memory>

#include "bench/peers/calm.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/sync/notify.hpp"

namespace bench::peers {
namespace {

std::atomic<std::uint64_t> memory_waiting{0};
std::atomic<std::uint64_t> memory_woken{0};

calm::Task<> memory_wait(calm::Cx cx, std::shared_ptr<calm::Notify> event) {
  memory_waiting.fetch_add(1, std::memory_order_relaxed);
  co_await event->wait(cx);
  memory_woken.fetch_add(1, std::memory_order_relaxed);
}

using MemoryEvent = std::shared_ptr<calm::Notify>;

/// `spawn_one(scope, event)` gives a handle once it is awaited.
template <class F>
calm::Task<std::uint64_t> memory_of(calm::Cx cx, Round& round, F spawn_one) {
  const auto body = [&round, spawn_one](calm::Scope& scope) -> calm::Task<> {
    const auto event = std::make_shared<calm::Notify>(scope.cx());
    const std::uint64_t before = resident_bytes();
    for (std::uint64_t i = 0; i < round.size; ++i) {
      const calm::Handle<void> task = co_await spawn_one(scope, event);
    }
    while (memory_waiting.load(std::memory_order_relaxed) < round.size) co_await calm::yield(scope.cx());
    round.measured(resident_bytes() - before);
    event->notify_all();
  };
  co_await calm::scope(cx, body);
  co_return memory_woken.load();
}

CALM_CORO_WRAPPER calm::Task<std::uint64_t> memory(calm::Cx cx, Round& round) {
  return memory_of(cx, round,
                   [](calm::Scope& scope, const MemoryEvent& event) { return scope.spawn(memory_wait, event); });
}

CALM_CORO_WRAPPER calm::Task<std::uint64_t> memory_callable(calm::Cx cx, Round& round) {
  return memory_of(cx, round, [](calm::Scope& scope, const MemoryEvent& event) {
    return scope.spawn([event](calm::Cx task) -> calm::Task<> {
      memory_waiting.fetch_add(1, std::memory_order_relaxed);
      co_await event->wait(task);
      memory_woken.fetch_add(1, std::memory_order_relaxed);
    });
  });
}

const CalmWork memory_work("memory", memory);
const CalmWork memory_callable_work("memory.callable", memory_callable);

}  // namespace
}  // namespace bench::peers
