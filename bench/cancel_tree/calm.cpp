// The scope is cancelled; it is left when all in it have ended.
#include <atomic>
#include <memory>

#include "bench/peers/calm.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/sync/notify.hpp"

namespace bench::peers {
namespace {

std::atomic<std::uint64_t> cancel_tree_waiting{0};
std::atomic<std::uint64_t> cancel_tree_ended{0};

struct CancelTreeEnd {
  ~CancelTreeEnd() { cancel_tree_ended.fetch_add(1, std::memory_order_relaxed); }
};

calm::Task<> cancel_tree_wait(calm::Cx cx, std::shared_ptr<calm::Notify> event) {
  const CancelTreeEnd end;
  cancel_tree_waiting.fetch_add(1, std::memory_order_relaxed);
  co_await event->wait(cx);
}

calm::Task<std::uint64_t> cancel_tree(calm::Cx cx, Round& round) {
  cancel_tree_waiting = 0;
  cancel_tree_ended = 0;
  const auto body = [&round](calm::Scope& scope) -> calm::Task<> {
    const auto event = std::make_shared<calm::Notify>(scope.cx());
    for (std::uint64_t i = 0; i < round.size; ++i) {
      const calm::Handle<void> task = co_await scope.spawn(cancel_tree_wait, event);
    }
    while (cancel_tree_waiting.load(std::memory_order_relaxed) < round.size) co_await calm::yield(scope.cx());
    round.restart();
    scope.cancel("the benchmark is over");
  };
  const calm::Outcome<void> end = co_await calm::outcome(calm::scope(cx, body));
  co_return end.is_cancelled() ? cancel_tree_ended.load() : 0;
}

const CalmWork cancel_tree_work("cancel_tree", cancel_tree);

}  // namespace
}  // namespace bench::peers
