// calm's wheel; alarms stand in memory of their owners, as those of tasks do in their frames.
#include <deque>
#include <utility>

#include "bench/timer/workload.hpp"
#include "calm/clock/wheel.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"
#include "calm/lab/lab.hpp"

namespace {

using bench::Stopwatch;
using calm::Time;
using calm::clock::Alarm;
using calm::clock::Wheel;

/// Alarms and their wheel, which forgets them at the end.
struct Pending {
  explicit Pending(std::uint64_t count) : alarms(count) {}
  ~Pending() {
    for (Alarm& alarm : alarms) (void)wheel.disarm(alarm);
  }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  Wheel wheel;
  std::deque<Alarm> alarms;
};

std::uint64_t arm_and_cancel(std::uint64_t operations, Stopwatch& watch) {
  Pending others(bench::pending_few);
  bench::Numbers numbers;
  for (Alarm& alarm : others.alarms) {
    alarm.at = Time::at_ns(100'000'000'000 + numbers.next() % bench::half_minute_ns);
    (void)others.wheel.arm(alarm, Time());
  }
  Alarm alarm;
  std::uint64_t cancelled = 0;
  watch.start();
  for (std::uint64_t i = 0; i < operations; ++i) {
    const Time now = Time::at_ns(i * 1'000);
    alarm.at = Time::at_ns(now.ns() + 1'000 + numbers.next() % bench::half_minute_ns);
    (void)others.wheel.arm(alarm, now);
    cancelled += others.wheel.disarm(alarm) ? 1 : 0;
  }
  watch.stop();
  return cancelled;
}

std::uint64_t arm_and_fire(std::uint64_t operations, Stopwatch& watch) {
  Pending all(bench::pending_many);
  bench::Numbers numbers;
  const auto arm = [&](Alarm& alarm, Time now) {
    alarm.at = Time::at_ns(now.ns() + (1 + numbers.next() % 10'000) * bench::ms_ns);
    (void)all.wheel.arm(alarm, now);
  };
  for (Alarm& alarm : all.alarms) arm(alarm, Time());
  std::uint64_t sum = 0;
  std::uint64_t fired = 0;
  watch.start();
  for (std::uint64_t tick = 1; fired < operations; ++tick) {
    const Time now = Time::at_ns(tick * bench::ms_ns);
    while (Alarm* const alarm = all.wheel.take_due(now)) {
      ++fired;
      sum += alarm->at.ns();
      arm(*alarm, now);
      if (fired == operations) break;
    }
  }
  watch.stop();
  return sum;
}

std::uint64_t arm_a_million(std::uint64_t operations, Stopwatch& watch) {
  Pending all(operations);
  bench::Numbers numbers;
  std::uint64_t cancelled = 0;
  watch.start();
  for (Alarm& alarm : all.alarms) {
    alarm.at = Time::at_ns(1 + numbers.next() % bench::twenty_hours_ns);
    (void)all.wheel.arm(alarm, Time());
  }
  for (std::uint64_t i = 0; i < operations; ++i) {
    cancelled += all.wheel.disarm(all.alarms[bench::other_order(i)]) ? 1 : 0;
  }
  watch.stop();
  return cancelled;
}

// --- tasks ---

calm::Task<void> sleeps(calm::Cx cx, std::int64_t number, std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i) co_await calm::sleep(cx, calm::Duration::milliseconds(1 + number % 100));
}

struct Sleepers {
  std::uint64_t operations;
  Stopwatch& watch;
  std::uint64_t& done;

  calm::Task<void> operator()(calm::Cx cx) const {
    const auto body = [this](calm::Scope& scope) -> calm::Task<void> {
      const std::uint64_t times = operations / bench::pending_few;
      for (std::uint64_t i = 0; i < bench::pending_few; ++i) {
        auto task = co_await scope.spawn(sleeps, static_cast<std::int64_t>(i), times);
        done += times;
      }
    };
    watch.start();
    co_await calm::scope(cx, body);
    watch.stop();
  }
};

std::uint64_t sleep_in_lab(std::uint64_t operations, Stopwatch& watch) {
  std::uint64_t done = 0;
  const auto report = calm::lab::run({.max_steps = 10 * operations}, Sleepers{operations, watch, done});
  return report.is_clean() ? done : 0;
}

constexpr bench::PartWork parts[] = {
    {"cancel", arm_and_cancel}, {"fire", arm_and_fire}, {"sleep", sleep_in_lab}, {"many", arm_a_million}};

}  // namespace

int main(int argc, char** argv) {
  const std::string bytes = std::to_string(sizeof(Alarm)) + " bytes for each pending timer, in its owner's frame; " +
                            std::to_string(sizeof(Wheel)) + " for the wheel";
  return bench::measure_timers(argc, argv, parts, bytes);
}
