// calm::timeout for the timers that are not needed, calm::sleep for those that go off.
#include <atomic>
#include <chrono>

#include "bench/peers/calm.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/time/timeout.hpp"

namespace bench::peers {
namespace {

calm::Task<> timers_give_way(calm::Cx cx) { co_await calm::yield(cx); }

calm::Task<std::uint64_t> timers_cancel(calm::Cx cx, Round& round) {
  std::uint64_t in_time = 0;
  for (std::uint64_t i = 0; i < round.size; ++i) {
    co_await calm::timeout(cx, std::chrono::hours(1), timers_give_way);
    ++in_time;
  }
  co_return in_time;
}

std::atomic<std::uint64_t> timers_fired{0};

calm::Task<> timers_sleep(calm::Cx cx) {
  for (int i = 0; i < 5; ++i) {
    co_await calm::sleep(cx, std::chrono::milliseconds(1));
    timers_fired.fetch_add(1, std::memory_order_relaxed);
  }
}

calm::Task<std::uint64_t> timers_fire(calm::Cx cx, Round& round) {
  timers_fired = 0;
  const auto body = [&round](calm::Scope& scope) -> calm::Task<> {
    for (std::uint64_t i = 0; i < round.size / 5; ++i) {
      const calm::Handle<void> task = co_await scope.spawn(timers_sleep);
    }
  };
  co_await calm::scope(cx, body);
  co_return timers_fired.load();
}

const CalmWork timers_cancel_work("timers.cancel", timers_cancel);
const CalmWork timers_fire_work("timers.fire", timers_fire);

}  // namespace
}  // namespace bench::peers
