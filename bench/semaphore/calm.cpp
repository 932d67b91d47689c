// calm::Semaphore: first come, first served.
#include <atomic>
#include <memory>

#include "bench/peers/calm.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/sync/semaphore.hpp"

namespace bench::peers {
namespace {

std::atomic<std::uint64_t> semaphore_count{0};

calm::Task<> semaphore_take(calm::Cx cx, std::shared_ptr<calm::Semaphore> semaphore, std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i) {
    const calm::Semaphore::Permit permit = co_await semaphore->acquire(cx);
    co_await calm::yield(cx);
  }
  semaphore_count.fetch_add(times, std::memory_order_relaxed);
}

calm::Task<std::uint64_t> semaphore(calm::Cx cx, Round& round) {
  semaphore_count = 0;
  const auto permits = std::make_shared<calm::Semaphore>(cx, 2U);
  const auto body = [&round, &permits](calm::Scope& scope) -> calm::Task<> {
    for (int i = 0; i < 8; ++i) {
      const calm::Handle<void> task = co_await scope.spawn(semaphore_take, permits, round.size / 8);
    }
  };
  co_await calm::scope(cx, body);
  co_return semaphore_count.load();
}

const CalmWork semaphore_work("semaphore", semaphore);

}  // namespace
}  // namespace bench::peers
