#include <string>

#include "apps/calm/scenario/steps.hpp"

namespace calm::scenario {

void set_time(World& world, const Step& step) {
  const Time time = Time::at_ns(std::get<std::uint64_t>(step.subject.value));
  if (time < world.worker().now()) {
    throw Problem(step.place, "time does not go back; it is " + calm::to_string(world.worker().now()));
  }
  world.worker().set_time(time);
}

void set_round(World& world, const Step& step) {
  world.worker().set_round(std::get<std::uint64_t>(step.subject.value));
}

void set_timers(World& world, const Step& step) { world.host().timers = std::get<std::uint64_t>(step.subject.value); }

void set_channels(World& world, const Step& step) {
  world.host().channels = std::get<std::uint64_t>(step.subject.value);
}

void look_at_queue(World& world, const Step& step) {
  std::string found;
  for (const TaskId task : world.host().queue()) append(found, world.name_of(task));
  world.expect_subject(step, or_none(found));
}

void look_at_watch(World& world, const Step& step) {
  world.expect(step, "at", to_string(world.host().watched(world.task(step.subject.text))));
}

void look_at_finding(World& world, const Step& step) {
  auto& findings = world.host().findings();
  if (findings.empty()) return world.differ(step, {}, step.subject.text, "no finding");
  const kernel::Finding finding = findings.front();
  findings.pop_front();
  world.expect_subject(step, std::string(to_string(finding.kind)));
  world.expect(step, "region", world.name_of(finding.region));
  world.expect(step, "task", world.name_of(finding.task));
  world.expect(step, "obligation", world.name_of(finding.obligation));
  world.expect(step, "kind", std::string(to_string(finding.obligation_kind)));
  world.expect(step, "count", finding.count);
  world.expect(step, "must_fail", finding.must_fail);
}

void look_at_findings(World& world, const Step& step) {
  world.expect_subject(step, std::to_string(world.host().findings().size()));
}

void look_at_destroyed(World& world, const Step& step) {
  std::string found;
  for (const std::string& label : world.destroyed) append(found, label);
  world.expect_subject(step, or_none(found));
}

}  // namespace calm::scenario
