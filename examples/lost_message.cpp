// lost_message.cpp — a message and a timeout at the same moment: elsewhere the message can get lost, here it cannot.
#include <calm/calm.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <iostream>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

using namespace std::chrono_literals;

namespace {

// [elsewhere]
// The bug, reduced to what it is. A receive is an object that is polled; what it takes from the queue it keeps until somebody
// asks for it. A select polls both its branches, finds both ready, picks the timer and drops the other: with the message.
struct PolledReceive {
  std::deque<int>& queue;
  std::optional<int> taken;
  bool poll() {
    if (!taken && !queue.empty()) {
      taken = queue.front();
      queue.pop_front();
    }
    return taken.has_value();
  }
};

std::size_t received_elsewhere() {
  std::deque<int> queue{1, 2, 3};
  std::size_t received = 0;
  for (bool timer_fires = true; !queue.empty(); timer_fires = !timer_fires) {
    PolledReceive receive{queue, {}};
    const bool has_message = receive.poll();
    if (timer_fires) continue;  // handle the timeout, come back: the message in `receive` is gone
    if (has_message) ++received;
  }
  return received;
}
// [/elsewhere]

// [here]
// A receive takes a message in the step in which the waiting code gets it, never before: until then it stands in the queue.
// A wait that select did not choose has left its line, and has taken nothing.
calm::Task<> consume(calm::Cx cx, calm::channel::Receiver<int> receiver, std::vector<int>* received) {
  for (;;) {
    auto first = co_await calm::select(cx, receiver.next(cx), calm::sleep(cx, 1ms));
    auto* const message = std::get_if<0>(&first);
    if (message == nullptr) continue;  // the timer
    if (!*message) break;              // all senders are gone, and the queue is empty
    received->push_back(**message);
  }
}
// [/here]

// [permit]
// Sending has two halves: reserve() may wait and may be cancelled, when nothing has been made yet; send() can neither wait nor
// be cancelled. A value that nobody can receive any more comes back.
calm::Task<> produce(calm::Cx cx, calm::channel::Sender<int> sender) {
  for (const int number : {1, 2, 3}) {
    co_await calm::sleep(cx, 1ms);  // the moment at which the timer of the other side fires
    auto permit = co_await sender.reserve(cx);
    auto sent = std::move(permit).send(number);
    if (!sent) std::cout << "not sent, and still here: " << sent.error().value << '\n';
  }
}
// [/permit]

}  // namespace

calm::Task<> lost_message(calm::Cx cx) {
  std::cout << "elsewhere: 3 sent, " << received_elsewhere() << " received\n";
  std::vector<int> received;
  const auto body = [&received](calm::Scope& scope) -> calm::Task<> {
    calm::channel::Mpsc<int> ends = co_await calm::channel::mpsc<int>(scope.cx(), 1);
    (void)co_await scope.fiber(consume, std::move(ends.receiver), &received);
    (void)co_await scope.fiber(produce, std::move(ends.sender));
  };
  co_await calm::scope(cx, body);
  std::cout << "here: 3 sent, " << received.size() << " received\n";
}

int main() { return calm::run(lost_message); }

// [prints]
// prints:
//   elsewhere: 3 sent, 1 received
//   here: 3 sent, 3 received
// [/prints]
