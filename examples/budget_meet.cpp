// budget_meet.cpp — a request hands a part of its budget to a query; what runs out first stops the query, not the request.
#include <calm/fmt.hpp>

#include <chrono>
#include <cstdint>

using namespace std::chrono_literals;
using calm::Budget;
using calm::Quota;

int main() {
  const calm::Time now =
      calm::Time() + 10s;  // calm never reads a clock by itself: whoever runs the work tells it the time

  // [meet]
  // A timeout only ever brings the deadline nearer. It touches neither the quotas nor the priority.
  const Budget request = calm::with_timeout({.polls = Quota(1000), .cost = Quota(500), .priority = 10}, now, 2s);

  // A child gets what it asks for, but never more than its parent has left.
  const Budget asked{.deadline = now + 30s, .polls = Quota(50), .priority = 3};
  Budget query = calm::child_budget(request, asked);
  fmt::print("request {}\nasked   {}\nquery   {}\n", request, asked, query);
  // [/meet]

  // [take]
  // One poll and 120 units of cost for each row. Where a quota is short, take() takes nothing and says so.
  int rows = 0;
  calm::Status taken;
  while ((taken = query.take(1, 120))) ++rows;
  fmt::print("{} rows, then {}: {} polls and cost {} are left\n", rows, taken, query.polls, query.cost);
  fmt::print("that would cancel the query with {}\n", calm::exhausted_kind(calm::BudgetAxis::cost));
  // [/take]

  // [deadline]
  // The deadline is reached at its very instant, and what is left never falls below zero.
  for (const calm::Duration passed : {calm::Duration(1500ms), calm::Duration(2s), calm::Duration(3s)}) {
    const calm::Time then = now + passed;
    fmt::print("{:>6} later: {} left, reached: {}\n", passed, query.deadline.left(then), query.deadline.reached(then));
  }
  // [/deadline]
}

// [prints]
// prints:
//   request {deadline 12s, polls 1000, cost 500, priority 10}
//   asked   {deadline 40s, polls 50, cost infinite, priority 3}
//   query   {deadline 12s, polls 50, cost 500, priority 10}
//   4 rows, then budget_exhausted: 46 polls and cost 20 are left
//   that would cancel the query with CostBudget
//   1500ms later: 500ms left, reached: false
//       2s later: 0s left, reached: true
//       3s later: 0s left, reached: true
// [/prints]
