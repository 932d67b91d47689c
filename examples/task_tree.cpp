// task_tree.cpp — a task for every node of a tree: each starts its children beside itself, in one scope around all of them.
#include <calm/calm.hpp>

#include <cstdint>
#include <iostream>
#include <utility>

namespace {

// [program]
// Adds up the numbers from first to first + count - 1: one task for every half, down to single numbers.
calm::Task<std::uint64_t> add_up(calm::Cx cx, std::uint64_t first, std::uint64_t count) {
  if (count == 1) co_return first;
  const std::uint64_t half = count / 2;
  auto left = co_await calm::spawn(cx, add_up, first, half);
  auto right = co_await calm::spawn(cx, add_up, first + half, count - half);
  std::uint64_t sum = co_await std::move(left).join(cx);
  sum += co_await std::move(right).join(cx);
  co_return sum;
}
// [/program]

calm::Task<std::uint64_t> add_up_all(calm::Scope& scope) {
  const std::uint64_t sum = co_await add_up(scope.cx(), 1, 20);
  co_return sum;
}

}  // namespace

calm::Task<> task_tree(calm::Cx cx) {
  const std::uint64_t sum = co_await calm::scope(cx, add_up_all);
  std::cout << "1 to 20 make " << sum << '\n';
}

int main() { return calm::run(task_tree); }

// [prints]
// prints:
//   1 to 20 make 210
// [/prints]
