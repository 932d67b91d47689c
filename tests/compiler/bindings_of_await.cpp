// trap: structured bindings to what a co_await gives are lost at the next suspension or ended twice
// flags: -O2
#include <tuple>

#include "probe.hpp"

namespace {

using Tuple = std::tuple<probe::Counted, probe::Counted>;

probe::Give<probe::Pair> pair(int first, int second) {
  return probe::Give<probe::Pair>{probe::Pair{probe::Counted(first), probe::Counted(second)}};
}
probe::Give<Tuple> tuple(int first, int second) {
  return probe::Give<Tuple>{Tuple(probe::Counted(first), probe::Counted(second))};
}

probe::Coroutine body(int& out) {
  auto [a, b] = co_await pair(1, 2);
  const auto& [c, d] = co_await pair(3, 4);
  auto [e, f] = co_await tuple(5, 6);
  const int first = co_await probe::sum(a, c);
  const int second = co_await probe::sum_of_copies(b, d);
  out = first + second + e.value + f.value;
}

}  // namespace

int main() { return probe::verdict_of(body, 1 + 2 + 3 + 4 + 5 + 6); }
