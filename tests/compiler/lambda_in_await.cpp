// trap: a lambda that captures, written inside a co_await expression, has its captures ended twice
// flags: -O2
#include "probe.hpp"

namespace {

template <class F>
probe::Give<int> call(const F& function) {
  return probe::Give<int>{function()};
}

probe::Coroutine body(int& out) {
  const probe::Counted four(4);
  out = co_await call([four] { return four.value; });
}

}  // namespace

int main() { return probe::verdict_of(body, 4); }
