#include "apps/calm/scenario/steps.hpp"

namespace calm::scenario {
namespace {

ObligationId obligation_of(const World& world, const Step& step) { return world.obligation(step.subject.text); }

}  // namespace

Status reserve(World& world, const Step& step) {
  kernel::ObligationSpec spec;
  spec.kind = step.word("kind", spec.kind);
  spec.holder = world.holder_in(step, "holder");
  const auto made = world.kernel().reserve(world.worker(), world.region_in(step, "in"), spec);
  if (made) world.add(world.new_name(step), made.id);
  return made.status;
}

Status commit(World& world, const Step& step) {
  return world.kernel().commit(world.worker(), obligation_of(world, step));
}

Status abort(World& world, const Step& step) {
  return world.kernel().abort(world.worker(), obligation_of(world, step));
}

Status hand_over(World& world, const Step& step) {
  return world.kernel().hand_over(world.worker(), obligation_of(world, step), world.holder_in(step, "to"));
}

Status drop_token(World& world, const Step& step) {
  return world.kernel().drop_token(world.worker(), obligation_of(world, step));
}

Status count(World& world, const Step& step) {
  const TaskId holder = world.task(step.subject.text);
  if (world.kernel().find(holder) != nullptr) world.demand_poll(step, holder);
  return world.kernel().count(world.worker(), holder, step.word("kind", ObligationKind::custom));
}

Status uncount(World& world, const Step& step) {
  const TaskId holder = world.task(step.subject.text);
  const TaskId by = step.find("by") == nullptr ? holder : world.task_in(step, "by");
  if (world.kernel().find(holder) != nullptr) world.demand_poll(step, by);
  return world.kernel().uncount(world.worker(), holder, step.word("kind", ObligationKind::custom), by);
}

}  // namespace calm::scenario
