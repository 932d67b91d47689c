#include "apps/calm/scenario/spec_fields.hpp"
#include "apps/calm/scenario/steps.hpp"
#include "apps/calm/scenario/words.hpp"
#include "calm/model/text.hpp"

namespace calm::scenario {
namespace {

TaskId task_of(const World& world, const Step& step) { return world.task(step.subject.text); }

std::string word_of(kernel::PollStart start) {
  for (const Word& word : words_of(WordSet::poll_start)) {
    if (word.number == static_cast<std::uint64_t>(start)) return std::string(word.name);
  }
  return "?";
}

kernel::PollStart begin(World& world, const Step& step, TaskId task) {
  world.demand_no_worker(step);
  if (world.program(task) != nullptr) {
    throw Problem(step.place, quoted(step.subject.text) + " is a program: steps with by and resume poll it");
  }
  world.host().take(task);
  const kernel::PollStart start = world.kernel().begin_poll(world.worker(), task);
  if (start != kernel::PollStart::later && start != kernel::PollStart::stale) world.begin(task);
  return start;
}

}  // namespace

Status spawn(World& world, const Step& step) {
  kernel::TaskSpec spec;
  spec.budget = step.value<Budget>("budget");
  spec.spawner = world.task_in(step, "spawner");
  if (spec.spawner) world.demand_poll(step, spec.spawner);
  spec.handle = step.find("handle") == nullptr || step.flag("handle");
  spec.cleanup = step.flag("cleanup");
  const auto made = world.kernel().spawn(world.worker(), world.region_in(step, "in"), spec);
  if (made) world.add(world.new_name(step), made.id);
  return made.status;
}

Status wake(World& world, const Step& step) { return world.kernel().wake(world.worker(), task_of(world, step)); }

void begin_poll(World& world, const Step& step) {
  const std::string found = word_of(begin(world, step, task_of(world, step)));
  if (step.find("gives") == nullptr && found != "run") world.differ(step, "gives", "run", found);
  world.expect(step, "gives", found);
}

Status end_poll(World& world, const Step& step) {
  const TaskId task = task_of(world, step);
  const Status status = world.kernel().end_poll(world.worker(), task);
  if (status) world.end(task);
  return status;
}

void poll(World& world, const Step& step) {
  const TaskId task = task_of(world, step);
  for (std::uint64_t i = 0; i < step.number("times", 1); ++i) {
    const Status woken = world.kernel().wake(world.worker(), task);
    if (!woken) return world.differ(step, "wake", "ok", std::string(to_string(woken)));
    const kernel::PollStart start = begin(world, step, task);
    if (start != kernel::PollStart::run) {
      return world.differ(step, "poll " + std::to_string(i + 1), "run", word_of(start));
    }
    const Status ended = world.kernel().end_poll(world.worker(), task);
    if (!ended) return world.differ(step, "end_poll", "ok", std::string(to_string(ended)));
    world.end(task);
    world.keep_trace();
  }
}

Status complete(World& world, const Step& step) {
  const TaskId task = task_of(world, step);
  const auto cancellation = world.kernel().cancellation_of(world.worker(), task);
  const Status status = world.kernel().complete(world.worker(), task,
                                                end_in(world, step, cancellation ? cancellation->reason : Reason()));
  if (status) world.end(task);
  return status;
}

Status unwound(World& world, const Step& step) {
  const TaskId task = task_of(world, step);
  const Status status = world.kernel().unwound(world.worker(), task, world.region_in(step, "from"));
  if (status) world.end(task);
  return status;
}

Status begin_finalizing(World& world, const Step& step) {
  return world.kernel().begin_finalizing(world.worker(), task_of(world, step));
}

Status request_cancel(World& world, const Step& step) {
  return world.kernel().request_cancel(world.worker(), task_of(world, step), cancel_in(world, step));
}

// These need the task's own poll; a stale id is found out before that.
Status checkpoint(World& world, const Step& step) {
  const TaskId task = task_of(world, step);
  if (world.kernel().find(task) != nullptr) world.demand_poll(step, task);
  return world.kernel().checkpoint(world.worker(), task);
}

Status enter_mask(World& world, const Step& step) {
  const TaskId task = task_of(world, step);
  if (world.kernel().find(task) != nullptr) world.demand_poll(step, task);
  return world.kernel().enter_mask(world.worker(), task);
}

Status leave_mask(World& world, const Step& step) {
  const TaskId task = task_of(world, step);
  if (world.kernel().find(task) != nullptr) world.demand_poll(step, task);
  return world.kernel().leave_mask(world.worker(), task);
}

Status spend(World& world, const Step& step) {
  const TaskId task = task_of(world, step);
  if (world.kernel().find(task) != nullptr) world.demand_poll(step, task);
  return world.kernel().spend(world.worker(), task, step.number("cost", 0));
}

Status deadline_reached(World& world, const Step& step) {
  return world.kernel().deadline_reached(world.worker(), task_of(world, step));
}

Status await_end(World& world, const Step& step) {
  return world.kernel().await_end(world.worker(), task_of(world, step), world.task_in(step, "waiter"));
}

void forget_end(World& world, const Step& step) {
  world.expect(step, "gives", world.kernel().forget_end(world.worker(), task_of(world, step)));
}

}  // namespace calm::scenario
