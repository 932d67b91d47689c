// trap: std::uncaught_exceptions() is 0 while a suspended frame is destroyed, so a guard takes a failure for success
// flags: -O2
#include "probe.hpp"

namespace {

struct Guard {
  bool* committed;
  ~Guard() { *committed = std::uncaught_exceptions() == 0; }
};

probe::Coroutine body(bool& committed) {
  const Guard guard{&committed};
  co_await std::suspend_always();
}

}  // namespace

int main() {
  bool committed = false;
  {
    const probe::Coroutine failing = body(committed);
  }
  return probe::verdict(committed);
}
