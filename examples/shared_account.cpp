// shared_account.cpp — tasks that share things: a lock around a value, permits for a few at a time, the first of several waits.
#include <calm/calm.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <utility>
#include <variant>

using namespace std::chrono_literals;

namespace {

// [mutex]
// A Mutex lives in the frame of the one who owns it, and has its value inside: there is no way to the value but through a
// guard. The guard is a promise; it ends with its block, also when the task is cancelled in the middle.
calm::Task<> withdraw(calm::Cx cx, calm::Mutex<int>* balance, int amount) {
  const calm::Mutex<int>::Guard held = co_await balance->lock(cx);
  if (*held < amount) co_await calm::fail(calm::Errc::resource_exhausted);
  co_await calm::sleep(cx, 1ms);  // others wait meanwhile, in the order in which they came
  *held -= amount;
}
// [/mutex]

// [semaphore]
// At most so many at a time; who needs two permits takes both at once, and is not overtaken while it waits for them.
struct Line {
  calm::Semaphore connections;
  std::uint32_t in_use = 0;
  std::uint32_t most = 0;
};
calm::Task<> download(calm::Cx cx, Line* line, std::uint32_t wants) {
  const calm::Semaphore::Permit permit = co_await line->connections.acquire(cx, wants);
  line->in_use += permit.count();
  line->most = std::max(line->most, line->in_use);
  co_await calm::sleep(cx, 1ms);
  line->in_use -= permit.count();
}
// [/semaphore]

// [select]
// The first of several waits. The other has left its line when select is over, and has consumed nothing: a lock that it was
// given in the same moment has gone to the next.
calm::Task<> try_for(calm::Cx cx, calm::Mutex<int>* balance, calm::Duration limit) {
  auto first = co_await calm::select(cx, balance->lock(cx), calm::sleep(cx, limit));
  if (auto* const held = std::get_if<0>(&first)) {
    std::cout << "the balance is " << **held << '\n';
  } else {
    std::cout << "somebody has had the lock for too long\n";
  }
}
// [/select]

}  // namespace

calm::Task<> shared_account(calm::Cx cx) {
  calm::Mutex<int> balance(cx, 100);
  Line line{.connections = calm::Semaphore(cx, 2)};
  const auto body = [&balance, &line](calm::Scope& scope) -> calm::Task<> {
    auto poor = co_await scope.fiber(withdraw, &balance, 500);
    (void)co_await scope.fiber(withdraw, &balance, 30);
    (void)co_await scope.fiber(withdraw, &balance, 20);
    (void)co_await scope.fiber(download, &line, 1U);
    (void)co_await scope.fiber(download, &line, 2U);
    (void)co_await scope.fiber(download, &line, 1U);
    const calm::Outcome<void> end = co_await calm::outcome(std::move(poor).join(scope.cx()));
    std::cout << "500 is too much: " << to_string(end.kind()) << '\n';
  };
  (void)co_await calm::outcome(calm::scope(cx, body, {.policy = calm::FoldPolicy::collect}));
  std::cout << "connections in use at once: " << line.most << '\n';
  co_await try_for(cx, &balance, 1ms);
  const auto keep = [&balance](calm::Scope& scope) -> calm::Task<> {
    const auto held = co_await balance.lock(scope.cx());
    auto other = co_await scope.fiber(try_for, &balance, calm::Duration(1ms));
    co_await std::move(other).join(scope.cx());
  };
  co_await calm::scope(cx, keep);
}

int main() { return calm::run(shared_account); }

// [prints]
// prints:
//   500 is too much: Err
//   connections in use at once: 2
//   the balance is 50
//   somebody has had the lock for too long
// [/prints]
