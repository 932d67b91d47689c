// calm::Mutex, with the value inside.
#include <memory>

#include "bench/peers/calm.hpp"
#include "calm/cx/scope.hpp"
#include "calm/sync/mutex.hpp"

namespace bench::peers {
namespace {

using MutexNumber = std::shared_ptr<calm::Mutex<std::uint64_t>>;

calm::Task<> mutex_count(calm::Cx cx, MutexNumber number, std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i) {
    const auto guard = co_await number->lock(cx);
    ++*guard;
  }
}

calm::Task<std::uint64_t> mutex(calm::Cx cx, Round& round) {
  const auto number = std::make_shared<calm::Mutex<std::uint64_t>>(cx, std::uint64_t{0});
  const auto body = [&round, &number](calm::Scope& scope) -> calm::Task<> {
    for (int i = 0; i < 4; ++i) {
      const calm::Handle<void> task = co_await scope.spawn(mutex_count, number, round.size / 4);
    }
  };
  co_await calm::scope(cx, body);
  const auto guard = co_await number->lock(cx);
  co_return *guard;
}

const CalmWork mutex_work("mutex", mutex);

}  // namespace
}  // namespace bench::peers
