// The way of calm: meet of Budget.
#include "bench/budget/workload.hpp"
#include "calm/model/budget.hpp"

namespace {

calm::Quota quota(std::uint64_t limit) { return limit == UINT64_MAX ? calm::Quota() : calm::Quota(limit); }
std::uint64_t number(calm::Quota limit) { return limit.is_infinite() ? UINT64_MAX : limit.count(); }
std::uint64_t number(calm::Deadline limit) { return limit.is_none() ? UINT64_MAX : limit.time().ns(); }

calm::Budget make(const bench::Raw& raw) {
  calm::Budget budget{.polls = quota(raw.polls), .cost = quota(raw.cost), .priority = raw.priority};
  if (raw.deadline_ns != UINT64_MAX) budget.deadline = calm::Time::at_ns(raw.deadline_ns);
  return budget;
}

[[gnu::noinline]] bench::Raw meet_all(const std::vector<calm::Budget>& budgets, const calm::Budget& start) {
  calm::Budget met = start;
  for (const calm::Budget& budget : budgets) met = calm::meet(met, budget);
  return {number(met.deadline), number(met.polls), number(met.cost), met.priority};
}

}  // namespace

int main() { return bench::measure_meets(make, meet_all); }
