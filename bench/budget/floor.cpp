// The floor: four plain integers, three minima and a maximum.
#include <algorithm>

#include "bench/budget/workload.hpp"

namespace {

bench::Raw make(const bench::Raw& raw) { return raw; }

[[gnu::noinline]] bench::Raw meet_all(const std::vector<bench::Raw>& budgets, const bench::Raw& start) {
  bench::Raw met = start;
  for (const bench::Raw& budget : budgets) {
    met.deadline_ns = std::min(met.deadline_ns, budget.deadline_ns);
    met.polls = std::min(met.polls, budget.polls);
    met.cost = std::min(met.cost, budget.cost);
    met.priority = std::max(met.priority, budget.priority);
  }
  return met;
}

}  // namespace

int main() { return bench::measure_meets(make, meet_all); }
