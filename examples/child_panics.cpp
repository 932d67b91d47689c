// child_panics.cpp — an exception escapes a child: its sibling is stopped, and the exception arrives at the scope.
#include <calm/calm.hpp>

#include <chrono>
#include <iostream>
#include <stdexcept>
#include <vector>

using namespace std::chrono_literals;

namespace {

// [children]
struct Farewell {
  ~Farewell() { std::cout << "the patient child was stopped and cleaned up\n"; }
};

calm::Task<> patient(calm::Cx cx) {
  const Farewell farewell;
  co_await calm::sleep(cx, 1h);
}

calm::Task<int> careless(calm::Cx cx) {
  co_await calm::sleep(cx, 10ms);
  const std::vector<int> empty;
  co_return empty.at(8);  // throws std::out_of_range
}

calm::Task<> both(calm::Scope& scope) {
  auto first = co_await scope.spawn(patient);
  auto second = co_await scope.spawn(careless);
  co_await std::move(first).join(scope.cx());
  std::cout << "never printed: the first failure stops the scope (fail-fast)\n";
}
// [/children]

}  // namespace

// [outcome]
calm::Task<> child_panics(calm::Cx cx) {
  // Asked for its outcome, the scope shows the exception as Panicked.
  const calm::Outcome<void> end = co_await calm::outcome(calm::scope(cx, both));
  std::cout << "the scope ended as " << to_string(end.kind()) << '\n';

  // Awaited plainly, it is an ordinary C++ exception again.
  try {
    co_await calm::scope(cx, both);
  } catch (const std::out_of_range&) {
    std::cout << "caught std::out_of_range\n";
  }
}

int main() { return calm::run(child_panics); }
// [/outcome]

// [prints]
// prints:
//   the patient child was stopped and cleaned up
//   the scope ended as Panicked
//   the patient child was stopped and cleaned up
//   caught std::out_of_range
// [/prints]
