// Every call that calls further has a scope with two tasks in it.
#include <utility>

#include "bench/peers/calm.hpp"
#include "calm/cx/scope.hpp"

namespace bench::peers {
namespace {

struct FibCall {
  std::uint64_t number;

  static calm::Task<std::uint64_t> run(calm::Cx cx, std::uint64_t number) {
    if (number < 2) co_return number;
    const std::uint64_t sum = co_await calm::scope(cx, FibCall{number});
    co_return sum;
  }
  calm::Task<std::uint64_t> operator()(calm::Scope& scope) const {
    calm::Handle<std::uint64_t> left = co_await scope.spawn(FibCall::run, number - 1);
    calm::Handle<std::uint64_t> right = co_await scope.spawn(FibCall::run, number - 2);
    std::uint64_t sum = co_await std::move(right).join(scope.cx());
    sum += co_await std::move(left).join(scope.cx());
    co_return sum;
  }
};

calm::Task<std::uint64_t> fib(calm::Cx cx, Round& round) {
  const std::uint64_t number = co_await FibCall::run(cx, round.size);
  co_return number;
}

const CalmWork fib_work("fib", fib);

}  // namespace
}  // namespace bench::peers
