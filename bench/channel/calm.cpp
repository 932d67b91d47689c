// calm's bounded channel, between tasks on the calling thread.
#include <utility>

#include "bench/channel/workload.hpp"
#include "calm/channel/mpsc.hpp"
#include "calm/cx/scope.hpp"
#include "calm/runtime/run.hpp"

namespace {

using bench::Stopwatch;
using calm::channel::Receiver;
using calm::channel::Sender;

calm::Task<void> send_by_permit(calm::Cx cx, Sender<std::uint64_t> sender, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    calm::channel::Permit<std::uint64_t> permit = co_await sender.reserve(cx);
    if (!std::move(permit).send(i)) co_return;
  }
}
calm::Task<void> send_in_one(calm::Cx cx, Sender<std::uint64_t> sender, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const calm::channel::Sent<std::uint64_t> sent = co_await sender.send(cx, i);
    if (!sent) co_return;
  }
}
calm::Task<std::uint64_t> receive(calm::Cx cx, Receiver<std::uint64_t> receiver, std::uint64_t count,
                                  Stopwatch* watch) {
  std::uint64_t sum = 0;
  watch->start();
  for (std::uint64_t i = 0; i < count; ++i) sum += co_await receiver.recv(cx);
  watch->stop();
  co_return sum;
}

template <auto send, std::uint32_t capacity>
struct Through {
  std::uint64_t operations;
  Stopwatch& watch;

  static calm::Task<std::uint64_t> run(calm::Scope& scope, std::uint64_t operations, Stopwatch& watch) {
    calm::channel::Mpsc<std::uint64_t> ends = co_await calm::channel::mpsc<std::uint64_t>(scope.cx(), capacity);
    calm::Handle<std::uint64_t> receiving = co_await scope.fiber(receive, std::move(ends.receiver), operations, &watch);
    calm::Handle<void> sending = co_await scope.fiber(send, std::move(ends.sender), operations);
    co_await std::move(sending).join(scope.cx());
    const std::uint64_t sum = co_await std::move(receiving).join(scope.cx());
    co_return sum;
  }
  CALM_CORO_WRAPPER calm::Task<std::uint64_t> operator()(calm::Scope& scope) const {
    return run(scope, operations, watch);
  }
  CALM_CORO_WRAPPER calm::Task<std::uint64_t> operator()(calm::Cx cx) const { return calm::scope(cx, *this); }
};

struct Tries {
  std::uint64_t operations;
  Stopwatch& watch;

  static calm::Task<std::uint64_t> run(calm::Cx cx, std::uint64_t operations, Stopwatch& watch) {
    calm::channel::Mpsc<std::uint64_t> ends = co_await calm::channel::mpsc<std::uint64_t>(cx, bench::capacity);
    std::uint64_t sum = 0;
    watch.start();
    for (std::uint64_t i = 0; i < operations; ++i) {
      if (!ends.sender.try_send(i)) break;
      sum += ends.receiver.try_recv().value();
    }
    watch.stop();
    co_return sum;
  }
  CALM_CORO_WRAPPER calm::Task<std::uint64_t> operator()(calm::Cx cx) const { return run(cx, operations, watch); }
};

template <class Program>
std::uint64_t run_here(std::uint64_t operations, Stopwatch& watch) {
  return calm::block_on(Program{operations, watch}).value();
}

constexpr bench::PartWork parts[] = {
    {"mpsc", run_here<Through<send_by_permit, bench::capacity>>},
    {"one", run_here<Through<send_in_one, bench::capacity>>},
    {"turn", run_here<Through<send_by_permit, 1>>},
    {"try", run_here<Tries>},
};

}  // namespace

int main(int argc, char** argv) { return bench::measure_part(argc, argv, parts); }
