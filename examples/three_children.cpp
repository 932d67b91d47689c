// three_children.cpp — a scope with three children that run side by side; the scope ends when all of them have ended.
#include <calm/calm.hpp>

#include <chrono>
#include <cstddef>
#include <iostream>
#include <string>

using namespace std::chrono_literals;

namespace {

// [program]
calm::Task<std::size_t> measure(calm::Cx cx, std::string word, calm::Duration delay) {
  co_await calm::sleep(cx, delay);  // as if it came from far away
  co_return word.size();
}

// The body of the scope. What it spawns belongs to the scope, and cannot outlive it.
calm::Task<std::size_t> measure_all(calm::Scope& scope) {
  // Each child starts at once. It keeps its arguments; they are values, so nothing can dangle.
  auto first = co_await scope.spawn(measure, std::string("structured"), 30ms);
  auto second = co_await scope.spawn(measure, std::string("calm"), 20ms);
  auto third = co_await scope.spawn(measure, std::string("concurrency"), 10ms);

  // A join gives the child's value. Which child is ready first makes no difference here.
  std::size_t letters = co_await std::move(first).join(scope.cx());
  letters += co_await std::move(second).join(scope.cx());
  letters += co_await std::move(third).join(scope.cx());
  co_return letters;
}
// [/program]

}  // namespace

// [main]
calm::Task<> three_children(calm::Cx cx) {
  const std::size_t letters = co_await calm::scope(cx, measure_all);  // here all three have ended, whatever happened
  std::cout << "three words, " << letters << " letters\n";
}

int main() { return calm::run(three_children); }
// [/main]

// [prints]
// prints:
//   three words, 25 letters
// [/prints]
