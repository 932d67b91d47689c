// trap: what a branch of ?: with a co_await gives is ended twice
// flags: -O2
#include "probe.hpp"

namespace {

probe::Coroutine add(bool first, int& out) {
  const probe::Counted got = first ? co_await probe::give(1) : probe::Counted(2);
  out += got.value;
}

}  // namespace

int main() {
  int sum = 0;
  add(true, sum).finish();
  add(false, sum).finish();
  return probe::verdict(sum != 3 || probe::Counted::lived_wrongly());
}
