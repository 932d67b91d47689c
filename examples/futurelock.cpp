// futurelock.cpp — a task that holds a lock and waits for one that needs it: shown, and caught by the lab.
#include <calm/calm.hpp>

#include <iostream>
#include <sstream>
#include <string>
#include <utility>

#include "calm/lab/lab.hpp"

namespace {

// [bug]
// Nobody sees it in review: the guard lives to the end of its block, and in the middle of the block waits a child for it.
calm::Task<> count_one(calm::Cx cx, calm::Mutex<int>* counter) {
  const calm::Mutex<int>::Guard held = co_await counter->lock(cx);
  ++*held;
}

calm::Task<> both_count(calm::Cx cx, bool mended) {
  calm::Mutex<int> counter(cx, 0);
  const auto body = [&counter, mended](calm::Scope& scope) -> calm::Task<> {
    calm::Mutex<int>::Guard held = co_await counter.lock(scope.cx());
    ++*held;
    if (mended) held.unlock();
    auto child = co_await scope.fiber(count_one, &counter);
    co_await std::move(child).join(scope.cx());  // the child waits for us, and we for the child
  };
  co_await calm::scope(cx, body);
}
// [/bug]

void run_it(bool mended) {
  const auto program = [mended](calm::Cx cx) -> calm::Task<> { co_await both_count(cx, mended); };
  const calm::lab::LabReport report = calm::lab::run({}, program);
  std::cout << (mended ? "mended: " : "as it was: ") << (report.is_clean() ? "clean" : "caught") << '\n';
  for (const calm::lab::Problem& problem : report.problems) {
    if (problem.oracle != calm::lab::Oracle::futurelock) continue;
    std::istringstream lines(problem.text);
    for (std::string line; std::getline(lines, line);) {
      const bool names_places = line.starts_with("  wait:") || line.starts_with("  who:");
      if (!names_places) std::cout << "  " << line << '\n';
    }
  }
}

}  // namespace

int main() {
  run_it(false);
  run_it(true);
  return 0;
}

// [prints]
// prints:
//   as it was: caught
//     calm: futurelock: t1 holds promises and was not polled for 1 round
//       owes: 1 lock guard
//       ends: t2 is polled no more
//       law:  OBL-7 nobody stops being polled while it holds an obligation
//       next: resolve the promise before the wait, hand it to another task, or cancel one of these
//   mended: clean
// [/prints]
