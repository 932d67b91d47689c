// asio_channel.hpp — Asio's channels of numbers: the one for one thread where there is one, the one with a lock where there are more.
#pragma once

#include <asio/experimental/channel.hpp>
#include <asio/experimental/concurrent_channel.hpp>

#include "bench/peers/asio.hpp"

namespace bench::peers::with_asio {

using LocalChannel = asio::experimental::channel<Executor, void(asio::error_code, std::uint64_t)>;
using SharedChannel = asio::experimental::concurrent_channel<Executor, void(asio::error_code, std::uint64_t)>;

/// Runs `run(round, type)` with the channel that suits the number of workers.
template <class Run>
Task<std::uint64_t> with_channel(Round& round, Run run) {
  return context->workers == 1 ? run.template operator()<LocalChannel>(round)
                               : run.template operator()<SharedChannel>(round);
}

}  // namespace bench::peers::with_asio
