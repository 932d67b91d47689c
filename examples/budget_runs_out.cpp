// budget_runs_out.cpp — work gets a budget; what uses it up is stopped, and its caller goes on.
#include <calm/calm.hpp>

#include <chrono>
#include <iostream>

using namespace std::chrono_literals;

namespace {

// [deadline]
calm::Task<int> slow_answer(calm::Cx cx) {
  co_await calm::sleep(cx, 1h);
  co_return 42;
}

calm::Task<> hurry(calm::Cx cx) {
  // The same context with less time. It lives here, and everything it is passed to must be done by then.
  const auto hurried = cx.with_deadline(cx.now() + 20ms);
  const calm::Outcome<int> answer = co_await calm::outcome(slow_answer(hurried));
  std::cout << "slow_answer: " << to_string(answer.kind()) << " by " << to_string(answer.reason().kind()) << '\n';
}
// [/deadline]

// [cost]
// Cost is what you say it is: here one unit for each row.
calm::Task<> read_rows(calm::Cx cx) {
  for (int row = 1;; ++row) {
    if (!cx.spend(1)) std::cout << "no budget for row " << row << '\n';
    co_await calm::checkpoint(cx);  // leaves here once the budget is used up
    std::cout << "row " << row << '\n';
  }
}

calm::Task<> read_some(calm::Cx cx) {
  const auto limited = cx.with_budget({.cost = calm::Quota(3)});
  const calm::Outcome<void> rows = co_await calm::outcome(read_rows(limited));
  std::cout << "read_rows: " << to_string(rows.kind()) << " by " << to_string(rows.reason().kind()) << '\n';
}
// [/cost]

}  // namespace

calm::Task<> budget_runs_out(calm::Cx cx) {
  co_await hurry(cx);
  co_await read_some(cx);
  std::cout << "this task goes on: is it cancelled? " << (cx.is_cancelled() ? "yes" : "no") << '\n';
}

int main() { return calm::run(budget_runs_out); }

// [prints]
// prints:
//   slow_answer: Cancelled by Deadline
//   row 1
//   row 2
//   row 3
//   no budget for row 4
//   read_rows: Cancelled by CostBudget
//   this task goes on: is it cancelled? no
// [/prints]
