// trap: a std::initializer_list inside a co_await expression is refused
// flags: -O2
// refused: has the bug
#include <initializer_list>

#include "probe.hpp"

namespace {

probe::Give<int> count(std::initializer_list<probe::Counted> list) {
  return probe::Give<int>{static_cast<int>(list.size())};
}

probe::Coroutine body(int& out) { out = co_await count({probe::Counted(1), probe::Counted(2)}); }

}  // namespace

int main() { return probe::verdict_of(body, 2); }
