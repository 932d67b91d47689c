// calm's own locks and semaphores on the host of one thread, through the public interface.
#include <utility>

#include "bench/sync/workload.hpp"
#include "calm/cx/scope.hpp"
#include "calm/runtime/run.hpp"
#include "calm/sync/mutex.hpp"
#include "calm/sync/semaphore.hpp"

namespace {

using bench::Stopwatch;

struct Locks {
  std::uint64_t operations;
  Stopwatch& watch;

  calm::Task<std::uint64_t> operator()(calm::Cx cx) const {
    calm::Mutex<std::uint64_t> number(cx, 0);
    watch.start();
    for (std::uint64_t i = 0; i < operations; ++i) {
      const auto guard = co_await number.lock(cx);
      ++*guard;
    }
    watch.stop();
    const auto guard = co_await number.lock(cx);
    co_return *guard;
  }
};

struct Acquires {
  std::uint64_t operations;
  Stopwatch& watch;

  calm::Task<std::uint64_t> operator()(calm::Cx cx) const {
    calm::Semaphore semaphore(cx, 2);
    std::uint64_t number = 0;
    watch.start();
    for (std::uint64_t i = 0; i < operations; ++i) {
      const auto permit = co_await semaphore.acquire(cx);
      number += permit.count();
    }
    watch.stop();
    co_return number;
  }
};

struct Wants {
  calm::Mutex<std::uint64_t>& number;
  std::uint64_t times;

  calm::Task<void> operator()(calm::Cx cx) const {
    for (std::uint64_t i = 0; i < times; ++i) {
      const auto guard = co_await number.lock(cx);
      ++*guard;
      co_await calm::yield(cx);
    }
  }
};

struct Hands {
  std::uint64_t operations;
  Stopwatch& watch;

  calm::Task<void> operator()(calm::Scope& scope, calm::Mutex<std::uint64_t>& number) const {
    const Wants wants{number, operations / 2};
    calm::Handle<void> other = co_await scope.fiber(wants);
    watch.start();
    co_await wants(scope.cx());
    watch.stop();
    co_await std::move(other).join(scope.cx());
  }
  calm::Task<std::uint64_t> operator()(calm::Cx cx) const {
    calm::Mutex<std::uint64_t> number(cx, 0);
    const auto body = [this, &number](calm::Scope& scope) -> calm::Task<void> { co_await (*this)(scope, number); };
    co_await calm::scope(cx, body);
    const auto guard = co_await number.lock(cx);
    co_return *guard;
  }
};

template <class Program>
std::uint64_t run_here(std::uint64_t operations, Stopwatch& watch) {
  return calm::block_on(Program{operations, watch}).value();
}

constexpr bench::PartWork parts[] = {
    {"lock", run_here<Locks>},
    {"acquire", run_here<Acquires>},
    {"hand", run_here<Hands>},
};

}  // namespace

int main(int argc, char** argv) { return bench::measure_part(argc, argv, parts); }
