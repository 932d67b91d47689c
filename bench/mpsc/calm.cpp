// calm's bounded channel: sending is a promise first, and no value is lost to a cancel.
#include <utility>

#include "bench/peers/calm.hpp"
#include "calm/channel/mpsc.hpp"
#include "calm/cx/scope.hpp"

namespace bench::peers {
namespace {

calm::Task<> mpsc_send(calm::Cx cx, calm::channel::Sender<std::uint64_t> sender, std::uint64_t first,
                       std::uint64_t step, std::uint64_t end) {
  for (std::uint64_t i = first; i < end; i += step) {
    const calm::channel::Sent<std::uint64_t> sent = co_await sender.send(cx, i);
    if (!sent) co_return;
  }
}

calm::Task<std::uint64_t> mpsc_receive(calm::Cx cx, calm::channel::Receiver<std::uint64_t> receiver,
                                       std::uint64_t count) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) sum += co_await receiver.recv(cx);
  co_return sum;
}

calm::Task<std::uint64_t> mpsc_in(calm::Scope& scope, std::uint64_t count, std::uint64_t senders) {
  calm::channel::Mpsc<std::uint64_t> ends = co_await calm::channel::mpsc<std::uint64_t>(scope.cx(), 128);
  calm::Handle<std::uint64_t> receiving = co_await scope.spawn(mpsc_receive, std::move(ends.receiver), count);
  for (std::uint64_t i = 0; i < senders; ++i) {
    const calm::Handle<void> sending = co_await scope.spawn(mpsc_send, ends.sender, i, senders, count);
  }
  const std::uint64_t sum = co_await std::move(receiving).join(scope.cx());
  co_return sum;
}

template <std::uint64_t senders>
calm::Task<std::uint64_t> mpsc(calm::Cx cx, Round& round) {
  const auto body = [&round](calm::Scope& scope) -> calm::Task<std::uint64_t> {
    const std::uint64_t result = co_await mpsc_in(scope, round.size, senders);
    co_return result;
  };
  const std::uint64_t sum = co_await calm::scope(cx, body);
  co_return sum;
}

const CalmWork mpsc_1_work("mpsc.1", mpsc<1>);
const CalmWork mpsc_4_work("mpsc.4", mpsc<4>);

}  // namespace
}  // namespace bench::peers
