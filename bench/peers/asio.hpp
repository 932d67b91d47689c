// asio.hpp — how a workload is written for Asio: an awaitable on an io_context that as many threads run as there are workers.
//
// Everything names the executor's type: the type-erased any_io_executor would cost Asio time. With one worker the context is
// told so (concurrency hint 1), which spares it its locks.
#pragma once

#include <asio.hpp>
#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

#include "bench/peers/peers.hpp"

namespace bench::peers::with_asio {

using Executor = asio::io_context::executor_type;
template <class T>
using Task = asio::awaitable<T, Executor>;
inline constexpr asio::use_awaitable_t<Executor> awaiting;

/// The context of this process.
struct Context {
  asio::io_context io;
  std::uint16_t workers;
};
inline Context* context = nullptr;
inline Executor executor() noexcept { return context->io.get_executor(); }

/// Queues a coroutine that nobody awaits.
template <class T>
void spawn(Task<T> task) {
  asio::co_spawn(executor(), std::move(task), asio::detached);
}

/// Asio has nothing that waits for many: this resumes the one who waits when so many have counted down.
class Latch {
 public:
  explicit Latch(std::uint64_t count) noexcept : left_(count + 1) {}  // the one who waits counts as well

  void count_down() {
    if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    asio::post(executor(), std::move(*waiter_));
  }
  auto wait() {
    const auto keep = [this](auto handler) {
      waiter_.emplace(std::move(handler));
      count_down();
    };
    return asio::async_initiate<const asio::use_awaitable_t<Executor>, void()>(keep, awaiting);
  }

 private:
  using Waiter = asio::async_result<asio::use_awaitable_t<Executor>, void()>::handler_type;

  std::atomic<std::uint64_t> left_;
  std::optional<Waiter> waiter_;
};

using Timer =
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, Executor>;

using Function = Task<std::uint64_t>(Round& round);
using AsioWork = Work<Function>;

}  // namespace bench::peers::with_asio
