// promise_kept.cpp — an effect in two halves: reserve it, then commit or abort. A cancel in between loses nothing.
#include <calm/calm.hpp>

#include <chrono>
#include <iostream>
#include <string>

using namespace std::chrono_literals;

namespace {

calm::Task<> store(calm::Cx cx, std::string message, calm::Duration effort) {
  co_await calm::sleep(cx, effort);
  std::cout << "stored " << message << '\n';
}

// [promise]
// A message was taken from a queue. Somebody must now acknowledge it or give it back: that is the promise, and the scope
// around it does not close before it is resolved. Forget it, and calm names this line.
calm::Task<> handle(calm::Cx cx, std::string message, calm::Duration effort) {
  calm::Obligation ack = co_await calm::reserve(cx, calm::ObligationKind::ack);
  const calm::Outcome<void> stored = co_await calm::outcome(store(cx, message, effort));
  if (stored && ack.commit()) {
    std::cout << "acknowledged " << message << '\n';
  } else if (ack.abort()) {
    std::cout << "gave " << message << " back: " << to_string(stored.kind()) << '\n';
  }
}
// [/promise]

}  // namespace

calm::Task<> promise_kept(calm::Cx cx) {
  co_await handle(cx, "the order", 1ms);
  const auto hurried = cx.with_deadline(cx.now() + 10ms);
  co_await handle(hurried, "the invoice", 1h);
}

int main() { return calm::run(promise_kept); }

// [prints]
// prints:
//   stored the order
//   acknowledged the order
//   gave the invoice back: Cancelled
// [/prints]
