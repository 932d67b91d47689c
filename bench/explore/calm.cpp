// The explorer of calm.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apps/calm/zoo/resident.hpp"
#include "apps/calm/zoo/zoo.hpp"
#include "bench/explore/workload.hpp"
#include "calm/channel/mpsc.hpp"
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

calm::Task<void> send_five(calm::Cx cx, calm::channel::Sender<int> sender) {
  for (int i = 0; i < bench::messages / 2; ++i) {
    const calm::channel::Sent<int> sent = co_await sender.send(cx, i);
    if (!sent) co_return;
  }
}
calm::Task<void> receive_all(calm::Cx cx, calm::channel::Receiver<int> receiver) {
  while (true) {
    const std::optional<int> message = co_await receiver.next(cx);
    if (!message) break;
  }
}
calm::Task<void> ten_messages(calm::Cx cx) {
  calm::channel::Mpsc<int> ends = co_await calm::channel::mpsc<int>(cx, 1);
  const auto body = [&ends](calm::Scope& scope) -> calm::Task<void> {  // NOLINT(*-avoid-*): it lives in this frame
    (void)co_await scope.fiber(send_five, ends.sender);
    (void)co_await scope.fiber(send_five, std::move(ends.sender));
    (void)co_await scope.fiber(receive_all, std::move(ends.receiver));
  };
  co_await calm::scope(cx, body);
}

/// Gives: how many executions there are.
std::uint64_t explore(const Threads::Setup& setup) { return calm::explore::explore_threads(setup).executions; }
std::uint64_t explore_tasks() {
  const calm::lab::ExploreReport report = calm::lab::explore(&three_tasks);
  return report.ok() && report.exhausted() ? report.counts.executions : 0;
}

/// There are few schedules, so they are visited again and again.
std::uint64_t explore_messages() {
  std::uint64_t executions = 0;
  for (int round = 0; round < bench::rounds_of_messages; ++round) {
    const calm::lab::ExploreReport report = calm::lab::explore(&ten_messages);
    if (report.ok() && report.exhausted()) executions += report.counts.executions;
  }
  return executions;
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
  if (part == "messages") return measure_speed(bench::executions_of_messages, explore_messages);
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
