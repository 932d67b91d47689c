// calm's work queue.
#include <array>
#include <optional>
#include <utility>

#include "bench/peers/calm.hpp"
#include "calm/channel/mpmc.hpp"
#include "calm/cx/scope.hpp"

namespace bench::peers {
namespace {

calm::Task<> mpmc_send(calm::Cx cx, calm::channel::Sender<std::uint64_t> sender, std::uint64_t first,
                       std::uint64_t end) {
  for (std::uint64_t i = first; i < end; i += 4) {
    const calm::channel::Sent<std::uint64_t> sent = co_await sender.send(cx, i);
    if (!sent) co_return;
  }
}

calm::Task<std::uint64_t> mpmc_receive(calm::Cx cx, calm::channel::SharedReceiver<std::uint64_t> receiver,
                                       std::uint64_t count) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) sum += co_await receiver.recv(cx);
  co_return sum;
}

calm::Task<std::uint64_t> mpmc_in(calm::Scope& scope, std::uint64_t count) {
  const calm::channel::Mpmc<std::uint64_t> ends = co_await calm::channel::mpmc<std::uint64_t>(scope.cx(), 128);
  std::array<std::optional<calm::Handle<std::uint64_t>>, 4> receiving;
  for (auto& handle : receiving) handle = co_await scope.spawn(mpmc_receive, ends.receiver, count / 4);
  for (std::uint64_t i = 0; i < 4; ++i) {
    const calm::Handle<void> sending = co_await scope.spawn(mpmc_send, ends.sender, i, count);
  }
  std::uint64_t sum = 0;
  for (auto& handle : receiving) sum += co_await std::move(*handle).join(scope.cx());
  co_return sum;
}

calm::Task<std::uint64_t> mpmc(calm::Cx cx, Round& round) {
  const auto body = [&round](calm::Scope& scope) -> calm::Task<std::uint64_t> {
    const std::uint64_t result = co_await mpmc_in(scope, round.size);
    co_return result;
  };
  const std::uint64_t sum = co_await calm::scope(cx, body);
  co_return sum;
}

const CalmWork mpmc_work("mpmc", mpmc);

}  // namespace
}  // namespace bench::peers
