// Every call that calls further spawns two tasks beside itself, in the scope around all of them, and joins them.
#include <utility>

#include "bench/peers/calm.hpp"
#include "calm/cx/scope.hpp"

namespace bench::peers {
namespace {

calm::Task<std::uint64_t> fib_call(calm::Cx cx, std::uint64_t number) {
  if (number < 2) co_return number;
  calm::Handle<std::uint64_t> left = co_await calm::spawn(cx, fib_call, number - 1);
  calm::Handle<std::uint64_t> right = co_await calm::spawn(cx, fib_call, number - 2);
  std::uint64_t sum = co_await std::move(right).join(cx);
  sum += co_await std::move(left).join(cx);
  co_return sum;
}

calm::Task<std::uint64_t> fib(calm::Cx cx, Round& round) {
  const auto body = [&round](calm::Scope& scope) -> calm::Task<std::uint64_t> {
    const std::uint64_t number = co_await fib_call(scope.cx(), round.size);
    co_return number;
  };
  const std::uint64_t number = co_await calm::scope(cx, body);
  co_return number;
}

const CalmWork fib_work("fib", fib);

}  // namespace
}  // namespace bench::peers
