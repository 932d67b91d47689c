// Budgets of any numbers against four plain integers: the laws of meet, and that taking too much changes nothing.
#include "calm/check/require.hpp"
#include "calm/model/budget.hpp"
#include "calm/model/cancel_kind.hpp"
#include "tests/fuzz/bytes.hpp"

namespace calm::fuzz {
namespace {

constexpr std::uint64_t none = UINT64_MAX;

/// A budget as the law describes it; `none` stands for no deadline and for infinite.
struct Plain {
  std::uint64_t deadline;
  std::uint64_t polls;
  std::uint64_t cost;
  std::uint8_t priority;

  friend bool operator==(const Plain&, const Plain&) = default;
};

Plain some_plain(Bytes& bytes) {
  return {.deadline = bytes.edge<std::uint64_t>(),
          .polls = bytes.edge<std::uint64_t>(),
          .cost = bytes.edge<std::uint64_t>(),
          .priority = bytes.take<std::uint8_t>()};
}

Quota quota(std::uint64_t count) { return count == none ? Quota::infinite() : Quota(count); }
Deadline deadline(std::uint64_t ns) { return ns == none ? Deadline::none() : Deadline(Time::at_ns(ns)); }

Budget real(const Plain& plain) {
  return {.deadline = deadline(plain.deadline),
          .polls = quota(plain.polls),
          .cost = quota(plain.cost),
          .priority = plain.priority};
}

Plain plain(const Budget& budget) {
  return {.deadline = budget.deadline.is_none() ? none : budget.deadline.time().ns(),
          .polls = budget.polls.is_infinite() ? none : budget.polls.count(),
          .cost = budget.cost.is_infinite() ? none : budget.cost.count(),
          .priority = budget.priority};
}

std::uint64_t smaller(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

Plain plain_meet(const Plain& a, const Plain& b) {
  return {.deadline = smaller(a.deadline, b.deadline),
          .polls = smaller(a.polls, b.polls),
          .cost = smaller(a.cost, b.cost),
          .priority = a.priority > b.priority ? a.priority : b.priority};
}

void check_meet(const Plain& one, const Plain& two, const Plain& three) {
  const Budget a = real(one);
  const Budget b = real(two);
  const Budget c = real(three);
  const Budget met = meet(a, b);
  CALM_INVARIANT(BUD_1, plain(a) == one, a);
  CALM_INVARIANT(BUD_2, plain(met) == plain_meet(one, two), a, b);
  CALM_INVARIANT(BUD_2, met == meet(b, a), a, b);
  CALM_INVARIANT(BUD_2, meet(met, c) == meet(a, meet(b, c)), a, b, c);
  CALM_INVARIANT(BUD_2, meet(a, a) == a, a);
  CALM_INVARIANT(BUD_2, meet(a, Budget::infinite()) == a, a);
  CALM_INVARIANT(BUD_2, meet(a, Budget::zero()) == Budget::zero(), a);
  CALM_INVARIANT(BUD_2, within(met, a) && within(met, b), met);
  CALM_INVARIANT(BUD_3, within(child_budget(a, b), a), a, b);
}

/// What is taken from one quota of the model; false when there is not enough.
bool covers(std::uint64_t left, std::uint64_t amount) { return left == none || amount <= left; }
std::uint64_t without(std::uint64_t left, std::uint64_t amount) { return left == none ? none : left - amount; }

void check_take(Plain model, Bytes& bytes) {
  Budget budget = real(model);
  for (int round = 0; round < 4; ++round) {
    const auto polls = bytes.edge<std::uint64_t>();
    const auto cost = bytes.edge<std::uint64_t>();
    const bool enough = covers(model.polls, polls) && covers(model.cost, cost);
    const Status taken = budget.take(polls, cost);
    if (enough) {
      model.polls = without(model.polls, polls);
      model.cost = without(model.cost, cost);
    }
    CALM_INVARIANT(BUD_4, taken.is_ok() == enough, polls, cost, budget);
    CALM_INVARIANT(BUD_4, plain(budget) == model, polls, cost, budget);
  }
}

void check_timeout(const Budget& budget, Bytes& bytes) {
  const Time now = Time::at_ns(smaller(bytes.edge<std::uint64_t>(), none - 1));
  const Duration timeout = Duration::nanoseconds(bytes.edge<std::int64_t>());
  Budget timed = with_timeout(budget, now, timeout);
  CALM_INVARIANT(BUD_6, timed.deadline <= budget.deadline, timed);
  CALM_INVARIANT(BUD_6, timed.deadline <= Deadline(now + timeout) || timeout < Duration(), timed);
  timed.deadline = budget.deadline;
  CALM_INVARIANT(BUD_6, timed == budget, timed, budget);
}

void check(Bytes bytes) {
  const Plain one = some_plain(bytes);
  const Plain two = some_plain(bytes);
  const Plain three = some_plain(bytes);
  check_meet(one, two, three);
  check_take(one, bytes);
  check_timeout(real(two), bytes);
}

}  // namespace
}  // namespace calm::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  calm::fuzz::check(calm::fuzz::Bytes(data, size));
  return 0;
}
