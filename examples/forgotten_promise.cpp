// forgotten_promise.cpp — a program with a bug that the real clock hides: `calm run forgotten_promise --lab --seeds 20`.
#include <calm/calm.hpp>

#include <atomic>
#include <iostream>
#include <memory>
#include <utility>

namespace {

// [bug]
using Flag = std::shared_ptr<std::atomic<bool>>;

calm::Task<> handle_message(calm::Cx cx, Flag closing) {
  calm::Obligation ack = co_await calm::reserve(cx, calm::ObligationKind::ack);
  co_await calm::yield(cx);
  if (*closing) co_return;  // the bug: on this way out the message is neither acknowledged nor given back
  if (ack.commit()) std::cout << "acknowledged\n";
}

calm::Task<> shut_down(calm::Cx cx, Flag closing) {
  co_await calm::yield(cx);
  *closing = true;
}
// [/bug]

calm::Task<> serve(calm::Scope& scope) {
  const auto closing = std::make_shared<std::atomic<bool>>(false);
  auto handler = co_await scope.spawn(handle_message, closing);
  auto closer = co_await scope.spawn(shut_down, closing);
  co_await std::move(handler).join(scope.cx());
  co_await std::move(closer).join(scope.cx());
}

}  // namespace

calm::Task<> forgotten_promise(calm::Cx cx) { co_await calm::scope(cx, serve); }

int main() { return calm::run(forgotten_promise); }

// One thread takes the tasks in turn, so the handler is always first. The lab is not so kind.
// [prints]
// prints:
//   acknowledged
// [/prints]
