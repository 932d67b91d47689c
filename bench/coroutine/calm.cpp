// calm's own coroutines, scopes and hosts, through the public interface.
#include <utility>

#include "bench/coroutine/workload.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"
#include "calm/lab/lab.hpp"
#include "calm/runtime/run.hpp"

namespace {

using bench::Stopwatch;

// --- children ---

[[gnu::noinline]] calm::Task<std::uint64_t> child(std::uint64_t number) { co_return number; }

calm::Task<std::uint64_t> await_children(std::uint64_t operations, Stopwatch& watch) {
  std::uint64_t sum = 0;
  watch.start();
  for (std::uint64_t i = 0; i < operations; ++i) sum += co_await child(i);
  watch.stop();
  co_return sum;
}

[[gnu::noinline]] calm::Task<std::uint64_t> nested(int level, std::uint64_t& left) {
  const bench::Leaving leaving(left);
  if (level == 1) co_return 1;
  const std::uint64_t number = co_await nested(level - 1, left);
  co_return number + 1;
}

calm::Task<std::uint64_t> await_nests(std::uint64_t operations, Stopwatch& watch) {
  std::uint64_t sum = 0;
  std::uint64_t left = 0;
  watch.start();
  for (std::uint64_t i = 0; i < operations; i += bench::depth) sum += co_await nested(bench::depth, left);
  watch.stop();
  co_return sum + left;
}

[[gnu::noinline]] calm::Task<std::uint64_t> failing(int level, std::uint64_t& left) {
  const bench::Leaving leaving(left);
  if (level == 1) co_return calm::err(static_cast<calm::Errc>(bench::failure_code));
  const std::uint64_t number = co_await failing(level - 1, left);
  co_return number + 1;
}

calm::Task<std::uint64_t> see_failures(std::uint64_t operations, Stopwatch& watch) {
  std::uint64_t sum = 0;
  std::uint64_t left = 0;
  watch.start();
  for (std::uint64_t i = 0; i < operations; i += bench::depth) {
    const calm::Outcome<std::uint64_t> end = co_await calm::outcome(failing(bench::depth, left));
    sum += static_cast<std::uint64_t>(end.error().code());
  }
  watch.stop();
  co_return sum + left;
}

// --- dispatches ---

calm::Task<std::uint64_t> give_way(calm::Cx cx, std::uint64_t times) {
  std::uint64_t done = 0;
  for (; done < times; ++done) co_await calm::yield(cx);
  co_return done;
}

calm::Task<std::uint64_t> yields(calm::Cx cx, std::uint64_t operations, Stopwatch& watch) {
  watch.start();
  const std::uint64_t done = co_await give_way(cx, operations);
  watch.stop();
  co_return done;
}

calm::Task<std::uint64_t> joins(calm::Scope& scope, std::uint64_t operations, Stopwatch& watch) {
  struct Spawned {
    calm::Task<std::uint64_t> operator()(calm::Cx /*cx*/, std::uint64_t number) const { co_return number; }
  };
  std::uint64_t sum = 0;
  watch.start();
  for (std::uint64_t i = 0; i < operations; ++i) {
    calm::Handle<std::uint64_t> handle = co_await scope.spawn(Spawned(), i);
    sum += co_await std::move(handle).join(scope.cx());
  }
  watch.stop();
  co_return sum;
}

calm::Task<std::uint64_t> two_give_way(calm::Scope& scope, std::uint64_t operations, Stopwatch& watch) {
  calm::Handle<std::uint64_t> other = co_await scope.spawn(give_way, operations / 2);
  const std::uint64_t mine = co_await yields(scope.cx(), operations - operations / 2, watch);
  const std::uint64_t others = co_await std::move(other).join(scope.cx());
  co_return mine + others;
}

// --- the parts: programs around the functions above ---

template <auto function>
struct Alone {
  std::uint64_t operations;
  Stopwatch& watch;
  CALM_CORO_WRAPPER calm::Task<std::uint64_t> operator()(calm::Cx /*cx*/) const { return function(operations, watch); }
};

template <auto function>
struct WithContext {
  std::uint64_t operations;
  Stopwatch& watch;
  CALM_CORO_WRAPPER calm::Task<std::uint64_t> operator()(calm::Cx cx) const { return function(cx, operations, watch); }
};

template <auto function>
struct InScope {
  std::uint64_t operations;
  Stopwatch& watch;
  CALM_CORO_WRAPPER calm::Task<std::uint64_t> operator()(calm::Scope& scope) const {
    return function(scope, operations, watch);
  }
  CALM_CORO_WRAPPER calm::Task<std::uint64_t> operator()(calm::Cx cx) const { return calm::scope(cx, *this); }
};

template <class Program>
std::uint64_t run_here(std::uint64_t operations, Stopwatch& watch) {
  return calm::block_on(Program{operations, watch}).value();
}

/// Tells the number of a program that runs in the lab, whose report leaves it out.
struct InLab {
  InScope<two_give_way> program;
  std::uint64_t& answer;
  calm::Task<void> operator()(calm::Cx cx) const {
    const std::uint64_t number = co_await program(cx);
    answer = number;
  }
};

/// The lab makes many runs, not long ones: these are of 10 000 steps, so that a run finds memory which an earlier one used.
std::uint64_t run_in_lab(std::uint64_t operations, Stopwatch& watch) {
  constexpr std::uint64_t runs = 100;
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < runs; ++i) {
    std::uint64_t answer = 0;
    const calm::lab::LabConfig config{.seed = i + 1};
    const calm::lab::LabReport report = calm::lab::run(config, InLab{{operations / runs, watch}, answer});
    if (report.is_clean()) sum += answer;
  }
  return sum;
}

constexpr bench::PartWork parts[] = {
    {"child", run_here<Alone<await_children>>},
    {"nest", run_here<Alone<await_nests>>},
    {"leave", run_here<Alone<see_failures>>},
    {"yield", run_here<WithContext<yields>>},
    {"step", run_in_lab},
    {"spawn", run_here<InScope<joins>>},
};

}  // namespace

int main(int argc, char** argv) { return bench::measure_part(argc, argv, parts); }
