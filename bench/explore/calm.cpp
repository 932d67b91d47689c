// The explorer of calm.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include "apps/calm/zoo/resident.hpp"
#include "apps/calm/zoo/zoo.hpp"
#include "bench/explore/workload.hpp"
#include "calm/explore/atomic.hpp"
#include "calm/explore/threads.hpp"
#include "calm/lab/explore.hpp"
#include "calm/lab/shared.hpp"

namespace {

using calm::explore::Threads;

void three_threads(Threads& threads) {
  auto& words = threads.make<std::array<calm::explore::Atomic<int>, bench::word_count>>();
  for (const auto& mine : bench::accesses) {
    threads.run([&words, &mine] {
      for (const bench::Access access : mine) {
        if (access.write) {
          words[access.word].store(1);
        } else {
          (void)words[access.word].load();
        }
      }
    });
  }
}

struct AddAndYield {
  calm::lab::Shared<int>* counter;
  calm::Task<void> operator()(calm::Cx cx) const {
    for (int i = 0; i < bench::additions; ++i) {
      ++counter->changed(cx);
      co_await calm::yield(cx);
    }
  }
};

calm::Task<void> three_tasks(calm::Cx cx) {
  calm::lab::Shared<int> counter(cx, 0);
  const auto body = [&counter](calm::Scope& scope) -> calm::Task<void> {  // NOLINT(*-avoid-*): it lives in this frame
    for (std::size_t i = 0; i < bench::thread_count; ++i) (void)co_await scope.fiber(AddAndYield{&counter});
  };
  co_await calm::scope(cx, body);
}

/// Gives: how many executions there are.
std::uint64_t explore(const Threads::Setup& setup) { return calm::explore::explore_threads(setup).executions; }
std::uint64_t explore_tasks() {
  const calm::lab::ExploreReport report = calm::lab::explore(&three_tasks);
  return report.ok() && report.exhausted() ? report.counts.executions : 0;
}

/// Gives: the executions a second of a first round, as the note.
template <class F>
std::string speed_note(F explore_all) {
  bench::Stopwatch watch;
  watch.start();
  const auto executions = static_cast<double>(explore_all());
  watch.stop();
  const double seconds = std::chrono::duration<double>(watch.took()).count();
  return std::to_string(static_cast<std::uint64_t>(executions / seconds)) + " executions/s of processor time";
}

std::size_t memory_of(std::uint32_t n) {
  Threads threads(calm::zoo::find("lastzero")->make(n, 0));
  calm::zoo::Resident resident;
  (void)explore_optimal(threads, {}, &resident);
  return resident.most_kib();
}

template <class F>
int measure_speed(std::uint64_t executions, F explore_all) {
  const std::string note = speed_note(explore_all);
  return bench::measure(
      executions,
      [explore_all](bench::Stopwatch& watch) {
        watch.start();
        const std::uint64_t found = explore_all();
        watch.stop();
        return found;
      },
      note.c_str());
}

int measure(std::string_view part) {
  if (part == "threads") return measure_speed(bench::executions_of_threads, [] { return explore(three_threads); });
  if (part == "tasks") return measure_speed(bench::executions_of_tasks, explore_tasks);
  if (part == "lastzero") {
    const std::size_t small = memory_of(5);
    const std::size_t large = memory_of(15);
    const std::string note =
        "lastzero(15) takes " + std::to_string(large - std::min(small, large)) + " KiB more than lastzero(5)";
    return bench::measure(
        bench::executions_of_lastzero,
        [](bench::Stopwatch& watch) {
          watch.start();
          const std::uint64_t executions = explore(calm::zoo::find("lastzero")->make(15, 0));
          watch.stop();
          return executions;
        },
        note.c_str());
  }
  return 77;
}

}  // namespace

int main(int count, char** words) { return measure(count > 1 ? words[1] : ""); }
