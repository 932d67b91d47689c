// The two calls leave their numbers in the frame of their caller, which a latch keeps waiting.
#include "bench/peers/asio.hpp"

namespace bench::peers::with_asio {
namespace {

Task<void> fib_call(std::uint64_t number, std::uint64_t& result, Latch& latch) {
  if (number < 2) {
    result = number;
  } else {
    std::uint64_t left = 0;
    std::uint64_t right = 0;
    Latch both(2);
    spawn(fib_call(number - 1, left, both));
    spawn(fib_call(number - 2, right, both));
    co_await both.wait();
    result = left + right;
  }
  latch.count_down();
}

Task<std::uint64_t> fib(Round& round) {
  std::uint64_t number = 0;
  Latch latch(1);
  spawn(fib_call(round.size, number, latch));
  co_await latch.wait();
  co_return number;
}

const AsioWork fib_work("fib", fib);

}  // namespace
}  // namespace bench::peers::with_asio
