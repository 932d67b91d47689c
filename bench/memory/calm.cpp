// Tasks wait in line for a Notify: those of a function with values as parameters, and those of a lambda with a capture. Or they
// sleep until one instant.
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

calm::Task<> memory_sleep_until(calm::Cx cx, calm::Time wake_at) {
  memory_waiting.fetch_add(1, std::memory_order_relaxed);
  co_await calm::sleep_until(cx, wake_at);
  memory_woken.fetch_add(1, std::memory_order_relaxed);
}

calm::Task<std::uint64_t> memory_sleep(calm::Cx cx, Round& round) {
  // Far enough: all are asleep before.
  const auto far_enough = calm::Duration::microseconds(100'000 + 8 * static_cast<std::int64_t>(round.size));
  const calm::Time wake_at = cx.now() + far_enough;
  bool asleep_at_once = false;
  const auto body = [&](calm::Scope& scope) -> calm::Task<> {
    const std::uint64_t before = resident_bytes();
    for (std::uint64_t i = 0; i < round.size; ++i) {
      const calm::Handle<void> task = co_await scope.spawn(memory_sleep_until, wake_at);
    }
    while (memory_waiting.load(std::memory_order_relaxed) < round.size) co_await calm::yield(scope.cx());
    round.measured(resident_bytes() - before);
    asleep_at_once = scope.cx().now() < wake_at;
  };
  co_await calm::scope(cx, body);
  co_return asleep_at_once ? memory_woken.load() : 0;
}

const CalmWork memory_work("memory", memory);
const CalmWork memory_callable_work("memory.callable", memory_callable);
const CalmWork memory_sleep_work("memory.sleep", memory_sleep);

}  // namespace
}  // namespace bench::peers
