// trap: a temporary made with braces inside a co_await expression is copied byte by byte and ended twice
// flags: -O2
#include "probe.hpp"

namespace {

probe::Give<int> use(const probe::Pair& pair) { return probe::sum(pair.first, pair.second); }

probe::Coroutine body(int& out) { out = co_await use({probe::Counted(1), probe::Counted(2)}); }

}  // namespace

int main() { return probe::verdict_of(body, 3); }
