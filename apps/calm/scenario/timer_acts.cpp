#include <string>

#include "apps/calm/scenario/steps.hpp"
#include "calm/model/text.hpp"
#include "calm/trace/event.hpp"

namespace calm::scenario {
namespace {

TimerId timer_id(const World& world, std::string_view name) {
  const auto found = world.timers.find(name);
  return found == world.timers.end() ? TimerId() : found->second;
}

std::string timer_name(const World& world, TimerId id) {
  for (const auto& [name, named] : world.timers) {
    if (named == id) return name;
  }
  return calm::to_string(id);
}

// What goes off is an event of the run, so that order and times stand in the semantic digest.
void record_firing(World& world, TaskId task, trace::ResourceId timer, Time at) {
  world.worker().record({.kind = trace::EventKind::timer,
                         .task = task,
                         .resource = timer,
                         .argument = static_cast<std::uint64_t>(at.ns())});
  if (task) (void)world.kernel().wake(world.worker(), task);
}

std::string fired_text(const std::string& list) { return list.empty() ? "(none)" : list; }

}  // namespace

Status arm(World& world, const Step& step) {
  const auto beyond = step.flag("clamp") ? clock::Beyond::clamp : clock::Beyond::refuse;
  const auto made = world.host().wheel.insert(Time::at_ns(step.number("at", 0)), world.worker().now(),
                                              world.task_in(step, "wakes"), beyond);
  if (made) world.timers[world.new_name(step)] = made.id;
  return made.status;
}

Status disarm(World& world, const Step& step) {
  const std::uint64_t before = world.host().wheel.size();
  const Status status = world.host().wheel.cancel(timer_id(world, step.subject.text));
  const std::uint64_t gone = before - world.host().wheel.size();
  if (gone != (status ? 1U : 0U)) world.differ(step, "timers gone", status ? "1" : "0", std::to_string(gone));
  return status;
}

void disarm_all(World& world, const Step& step) {
  std::uint64_t count = 0;
  for (const auto& [name, id] : world.timers) count += world.host().wheel.cancel(id) ? 1U : 0U;
  world.expect_subject(step, std::to_string(count));
}

void forge_timer(World& world, const Step& step) {
  const TimerId like = timer_id(world, step.text("like"));
  const auto generation = static_cast<std::uint32_t>(step.number("generation", like.generation().value()));
  if (generation < Generation::first || generation > Generation::last) {
    throw Problem(step.place, "a generation is a number from 1 to " + std::to_string(Generation::last));
  }
  const auto place = static_cast<std::uint32_t>(step.number("place", like.index()));
  world.timers[step.subject.text] = TimerId(place, Generation(generation));
}

void look_at_timer(World& world, const Step& step) {
  const TimerId id = timer_id(world, step.subject.text);
  if (!id) return world.differ(step, "id", "a timer that was armed", "none");
  world.expect(step, "place", std::uint64_t{id.index()});
  world.expect(step, "generation", std::uint64_t{id.generation().value()});
}

void churn_timers(World& world, const Step& step) {
  const Time at = Time::at_ns(step.number("at", 0));
  for (std::uint64_t i = 0; i < std::get<std::uint64_t>(step.subject.value); ++i) {
    const auto made = world.host().wheel.insert(at, world.worker().now());
    const Status status = made ? world.host().wheel.cancel(made.id) : made.status;
    if (!status) return world.differ(step, {}, "ok", std::string(to_string(status)));
  }
}

void fire_timers(World& world, const Step& step) {
  std::string found;
  while (const auto fired = world.host().wheel.take_due(world.worker().now())) {
    append(found, timer_name(world, fired->id));
    record_firing(world, fired->task, fired->id, fired->at);
    world.keep_trace();
  }
  world.expect_subject(step, fired_text(found));
}

void wake_sleepers(World& world, const Step& step) {
  std::string found;
  while (const clock::Alarm* const alarm = world.host().alarms.take_due(world.worker().now())) {
    append(found, world.name_of(alarm->task));
    record_firing(world, alarm->task, {}, alarm->at);
  }
  world.expect_subject(step, fired_text(found));
}

void look_at_wheel(World& world, const Step& step) {
  const clock::Timers& timers = world.host().wheel;
  const clock::WheelCensus census = timers.wheel().census();
  timers.wheel().verify();
  world.expect_subject(step, std::to_string(timers.size()));
  world.expect(step, "level_1", census.levels[0]);
  world.expect(step, "level_2", census.levels[1]);
  world.expect(step, "level_3", census.levels[2]);
  world.expect(step, "level_4", census.levels[3]);
  world.expect(step, "overflow", census.overflow);
  world.expect(step, "due", census.due);
  world.expect(step, "held", census.held);
  world.expect(step, "places", timers.places());
  if (step.find("next") == nullptr) return;
  world.expect(step, "next", timers.size() == 0 ? "none" : calm::to_string(timers.wheel().next()));
}

}  // namespace calm::scenario
