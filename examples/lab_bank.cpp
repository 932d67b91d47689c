// A program in the lab: the same code, virtual time, every task in a seeded order, and a cancel wherever one can come.
#include <calm/calm.hpp>
#include <calm/lab/everywhere.hpp>
#include <calm/lab/lab.hpp>
#include <calm/lab/replay.hpp>
#include <iostream>
#include <string>

using calm::Cx;
using calm::Duration;
using calm::Task;

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// the bank outlives every run
namespace {

// [program]
struct Bank {
  int here = 100;
  int there = 0;
};

// The bug: a cancel that comes while it sleeps loses the money.
Task<void> transfer(Cx cx, Bank& bank, int amount) {
  bank.here -= amount;
  co_await calm::sleep(cx, Duration::milliseconds(20));  // the other bank is far away
  bank.there += amount;
}
// [/program]

// [safe]
// What has begun is finished: a commit section is not interrupted.
Task<void> safe_transfer(Cx cx, Bank& bank, int amount) {
  const auto second_half = [&bank, amount](Cx inner) -> Task<void> {
    co_await calm::sleep(inner, Duration::milliseconds(20));
    bank.there += amount;
  };
  bank.here -= amount;
  co_await calm::commit_section(cx, second_half);
}
// [/safe]

}  // namespace

int main() {
  // [run]
  Bank bank;
  const auto program = [&bank](Cx cx) -> Task<void> { co_await transfer(cx, bank, 10); };
  const calm::lab::LabReport report = calm::lab::run({.seed = 7}, program);
  std::cout << to_string(report) << '\n' << bank.here << " here, " << bank.there << " there\n";
  // [/run]

  // [everywhere]
  calm::lab::EverywhereOptions options;
  options.check = [&bank](const calm::lab::LabReport&) {
    const int sum = bank.here + bank.there;
    bank = {};
    return sum == 100 ? std::string() : "calm: " + std::to_string(100 - sum) + " are lost";
  };
  bank = {};
  const auto struck = calm::lab::cancel_everywhere({.seed = 7}, program, options);
  std::cout << to_string(struck) << '\n';
  // [/everywhere]

  // [replay]
  const auto schedule = calm::lab::parse_schedule(struck.failures.front().replay_word());
  const auto again = calm::lab::run({}, schedule.value(), program);
  std::cout << "again: " << bank.here << " here, " << bank.there << " there, "
            << (again.trace == struck.failures.front().trace ? "the same events" : "another run") << '\n';
  // [/replay]

  // [safe_everywhere]
  bank = {};
  const auto safe = [&bank](Cx cx) -> Task<void> { co_await safe_transfer(cx, bank, 10); };
  std::cout << to_string(calm::lab::cancel_everywhere({.seed = 7}, safe, options)) << '\n';
  // [/safe_everywhere]
}
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)

// [prints]
// prints:
//   calm lab: seed 7, 3 steps, 0.02s: Ok
//   90 here, 10 there
//   calm lab: 1 of 1 await points struck; 1 of 1 lines
//     failed: 1 runs
//   calm lab: seed 7, 1 steps, 0s: Cancelled
//   calm: with a cancel of the task at await point 1, examples/lab_bank.cpp:26 in transfer:
//   calm: 10 are lost
//   calm lab: the schedule is calm1-s7-p1-c-zf9c97362
//   again: 90 here, 0 there, the same events
//   calm lab: 1 of 1 await points struck; 1 of 1 lines
// [/prints]
