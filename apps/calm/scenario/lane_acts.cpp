#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "apps/calm/scenario/runner.hpp"
#include "apps/calm/scenario/steps.hpp"
#include "calm/sched/governor.hpp"
#include "calm/sched/seeded_ties.hpp"
#include "calm/sched/victim_order.hpp"
#include "calm/trace/event.hpp"

namespace calm::scenario {
namespace {

LaneWorker& worker_of(World& world, const Step& step) {
  std::optional<LaneWorker>& worker = world.host().worker;
  if (!worker) throw Problem(step.place, "there is no worker; the step governor employs one");
  return *worker;
}

std::size_t count_of(const Step& step) { return std::get<std::vector<std::string>>(step.subject.value).size(); }

/// SCH-6: timers that are due come before every choice.
void let_timers_fire(World& world) {
  while (const auto fired = world.host().wheel.take_due(world.worker().now())) {
    world.worker().record({.kind = trace::EventKind::timer,
                           .task = fired->task,
                           .resource = fired->id,
                           .argument = static_cast<std::uint64_t>(fired->at.ns())});
    if (fired->task) (void)world.kernel().wake(world.worker(), fired->task);
  }
}

/// One poll in which the task does nothing.
void poll_once(World& world, const Step& step, TaskId task) {
  if (world.program(task) != nullptr)
    throw Problem(step.place, world.name_of(task) + " is a program; a worker polls tasks");
  const kernel::PollStart start = world.kernel().begin_poll(world.worker(), task);
  if (start != kernel::PollStart::run) {
    return world.differ(step, "poll of " + world.name_of(task), "run", std::to_string(static_cast<int>(start)));
  }
  (void)world.kernel().end_poll(world.worker(), task);
  world.keep_trace();
}

struct Dispatched {
  sched::Pick pick = sched::Pick::none;
  TaskId task{};
};

/// The worker's loop, once.
Dispatched dispatch_once(World& world, const Step& step) {
  LaneWorker& worker = worker_of(world, step);
  let_timers_fire(world);
  const sched::Decision* const decision = worker.steering.steer(worker.lanes, [&world, &worker] {
    sched::Outlook outlook = sched::outlook_of(world.kernel().snapshot(world.worker()));
    sched::add_lanes(outlook, worker.lanes, 0, world.worker().now());
    return outlook;
  });
  if (decision != nullptr) worker.decision = *decision;
  const sched::Pick pick = worker.lanes.choose(false);
  if (pick == sched::Pick::none) return {};
  const TaskId task = worker.lanes.take(pick).id();
  poll_once(world, step, task);
  worker.lanes.verify();
  return {pick, task};
}

char letter_of(sched::Pick pick) {
  switch (pick) {
    case sched::Pick::cancel:
      return 'c';
    case sched::Pick::timed:
      return 't';
    case sched::Pick::ready:
      return 'r';
    case sched::Pick::oldest_ready:
      return 'R';
    case sched::Pick::elsewhere:
      return 'f';
    case sched::Pick::none:
    case sched::Pick::quick:
    case sched::Pick::oldest_quick:
    case sched::Pick::oldest_common:
      break;
  }
  return '-';
}

}  // namespace

void employ_worker(World& world, const Step& step) {
  if (!world.host().queue().empty())
    throw Problem(step.place, "tasks wait in the queue; a worker is there before them");
  if (world.host().worker) throw Problem(step.place, "there is a worker already");
  world.host().worker.emplace(*sched::governors()[std::get<std::uint64_t>(step.subject.value)]);
}

void dispatch(World& world, const Step& step) {
  std::string found;
  for (std::size_t left = count_of(step); left != 0; --left) {
    const Dispatched one = dispatch_once(world, step);
    if (one.pick == sched::Pick::none) break;
    append(found, world.name_of(one.task));
  }
  world.expect_subject(step, or_none(found));
}

void dispatch_lanes(World& world, const Step& step) {
  std::string found;
  for (std::size_t left = step.subject.text.size(); left != 0; --left) {
    const Dispatched one = dispatch_once(world, step);
    if (one.pick == sched::Pick::none) break;
    found += letter_of(one.pick);
  }
  world.expect_subject(step, found);
}

void dispatch_by_seed(World& world, const Step& step) {
  world.demand_no_worker(step);
  sched::SeededTies ties(step.number("seed", 0));
  sched::Lanes<lockfree::LocalAtomics> lanes;
  std::size_t known = 0;  // entries of the queue that are in the lanes
  std::string found;
  for (std::size_t left = count_of(step); left != 0; --left) {
    const auto& queue = world.host().queue();
    for (; known != queue.size(); ++known) lanes.push(*world.kernel().find(queue[known]));
    if (lanes.empty()) break;
    const TaskId task = ties.take(lanes, lanes.choose(false)).id();
    world.host().take(task);
    --known;
    poll_once(world, step, task);
    append(found, world.name_of(task));
  }
  lanes.give_away([](const auto& /*task*/) {});  // they wait in the queue, as before
  world.expect_subject(step, or_none(found));
}

void park(World& world, const Step& step) { worker_of(world, step).lanes.parked(); }

void look_at_lanes(World& world, const Step& step) {
  const auto& lanes = worker_of(world, step).lanes;
  world.expect_subject(step, std::to_string(lanes.size()));
  for (const sched::Lane lane : sched::all_lanes) world.expect(step, to_string(lane), std::uint64_t{lanes.size(lane)});
}

void look_at_certificate(World& world, const Step& step) {
  const sched::Certificate found = worker_of(world, step).lanes.certificate();
  world.expect_subject(step, hex_of(found.hash()));
  world.expect(step, "cancel", found.cancel);
  world.expect(step, "timed", found.timed);
  world.expect(step, "ready", found.ready);
  world.expect(step, "fallback", found.fallback_cancel);
  world.expect(step, "base_exceedances", found.base_exceedances);
  world.expect(step, "effective_exceedances", found.effective_exceedances);
  world.expect(step, "largest_limit", found.largest_limit);
}

void look_at_decision(World& world, const Step& step) {
  world.expect_subject(step, to_string(worker_of(world, step).decision));
}

void look_at_victims(World& world, const Step& step) {
  const std::uint64_t worker = step.number("worker", 0);
  const std::uint64_t workers = step.number("workers", 1);
  if (worker >= workers || workers > 1000) throw Problem(step.place, "worker is below workers, which is at most 1000");
  sched::VictimOrder order(step.number("seed", 0), static_cast<std::uint16_t>(worker),
                           static_cast<std::uint16_t>(workers));
  std::string found;
  for (std::uint64_t round = 0; round < step.number("rounds", 1); ++round) {
    order.restart();
    while (const auto victim = order.next()) append(found, std::to_string(*victim));
  }
  world.expect_subject(step, or_none(found));
}

}  // namespace calm::scenario
