// Each coroutine has a cancellation slot and waits on a timer that does not expire. With several workers a signal may only be
// emitted where its coroutine runs, so each has a strand then.
#include <deque>

#include "bench/peers/asio.hpp"

namespace bench::peers::with_asio {
namespace {

template <class Place>
struct CancelTreeTask {
  asio::cancellation_signal signal;
  Place place{executor()};
};

template <class Place>
asio::awaitable<void, Place> cancel_tree_wait(std::atomic<std::uint64_t>& waiting) {
  using Clock = std::chrono::steady_clock;
  const Place place = co_await asio::this_coro::executor;
  asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Place> never(place, Clock::time_point::max());
  waiting.fetch_add(1, std::memory_order_relaxed);
  co_await never.async_wait(asio::use_awaitable_t<Place>());
}

template <class Place>
Task<std::uint64_t> cancel_tree_at(Round& round) {
  std::atomic<std::uint64_t> waiting = 0;
  std::atomic<std::uint64_t> ended = 0;
  Latch all(round.size);
  std::deque<CancelTreeTask<Place>> tasks(round.size);
  for (auto& task : tasks) {
    const auto end = [&ended, &all](const std::exception_ptr& why) {
      if (why) ended.fetch_add(1, std::memory_order_relaxed);
      all.count_down();
    };
    asio::co_spawn(task.place, cancel_tree_wait<Place>(waiting), asio::bind_cancellation_slot(task.signal.slot(), end));
  }
  while (waiting.load() < round.size) co_await asio::post(executor(), awaiting);
  round.restart();
  for (auto& task : tasks) {
    asio::dispatch(task.place, [&task] { task.signal.emit(asio::cancellation_type::terminal); });
  }
  co_await all.wait();
  co_return ended.load();
}

Task<std::uint64_t> cancel_tree(Round& round) {
  return context->workers == 1 ? cancel_tree_at<Executor>(round) : cancel_tree_at<asio::strand<Executor>>(round);
}

const AsioWork cancel_tree_work("cancel_tree", cancel_tree);

}  // namespace
}  // namespace bench::peers::with_asio
