// trap: two co_awaits in one full expression end a temporary too often or take them in the wrong order
// flags: -O2
#include "probe.hpp"

namespace {

int order = 0;

probe::Give<probe::Counted> next(int number) {
  order = order * 10 + number;
  return probe::give(number);
}

struct Digits {
  int value = 0;
  Digits& operator<<(const probe::Counted& digit) {
    value = value * 10 + digit.value;
    return *this;
  }
};

probe::Coroutine body(int& out) {
  Digits digits;
  digits << co_await next(1) << co_await next(2);  // in order
  const int copies = co_await probe::sum_of_copies(co_await next(3), co_await next(4));
  const int nested = co_await probe::sum(co_await next(5), co_await next(6));
  const bool both = (co_await next(7)).value == 7 && (co_await next(8)).value == 8;
  if (order / 1'000'000 == 12 && digits.value == 12 && both) out = copies + nested;
}

}  // namespace

int main() { return probe::verdict_of(body, 3 + 4 + 5 + 6); }
