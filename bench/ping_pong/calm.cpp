// Two channels of calm; the root task pings, a child pongs.
#include <utility>

#include "bench/peers/calm.hpp"
#include "calm/channel/mpsc.hpp"
#include "calm/cx/scope.hpp"

namespace bench::peers {
namespace {

using PingPongEnds = calm::channel::Mpsc<std::uint64_t>;

calm::Task<> ping_pong_answer(calm::Cx cx, calm::channel::Receiver<std::uint64_t> from,
                              calm::channel::Sender<std::uint64_t> to, std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i) {
    const std::uint64_t number = co_await from.recv(cx);
    const calm::channel::Sent<std::uint64_t> sent = co_await to.send(cx, number + 1);
    if (!sent) co_return;
  }
}

calm::Task<std::uint64_t> ping_pong_in(calm::Scope& scope, std::uint64_t times) {
  PingPongEnds there = co_await calm::channel::mpsc<std::uint64_t>(scope.cx(), 1);
  PingPongEnds back = co_await calm::channel::mpsc<std::uint64_t>(scope.cx(), 1);
  const calm::Handle<void> other =
      co_await scope.spawn(ping_pong_answer, std::move(there.receiver), std::move(back.sender), times);
  std::uint64_t number = 0;
  for (std::uint64_t i = 0; i < times; ++i) {
    const calm::channel::Sent<std::uint64_t> sent = co_await there.sender.send(scope.cx(), number);
    if (!sent) break;
    number = co_await back.receiver.recv(scope.cx());
  }
  co_return number;
}

calm::Task<std::uint64_t> ping_pong(calm::Cx cx, Round& round) {
  const auto body = [&round](calm::Scope& scope) -> calm::Task<std::uint64_t> {
    const std::uint64_t result = co_await ping_pong_in(scope, round.size);
    co_return result;
  };
  const std::uint64_t number = co_await calm::scope(cx, body);
  co_return number;
}

const CalmWork ping_pong_work("ping_pong", ping_pong);

}  // namespace
}  // namespace bench::peers
