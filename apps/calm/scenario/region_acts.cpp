#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "apps/calm/scenario/spec_fields.hpp"
#include "apps/calm/scenario/steps.hpp"

namespace calm::scenario {
namespace {

/// Lives in a region's heap and tells the world when it ends.
class HeapObject {
 public:
  HeapObject(World& world, std::string_view label) : world_(&world), label_(label) {}
  HeapObject(const HeapObject&) = delete;
  HeapObject& operator=(const HeapObject&) = delete;
  ~HeapObject() { world_->destroyed.push_back(std::move(label_)); }

 private:
  World* world_;
  std::string label_;
  [[maybe_unused]] std::array<std::byte, 64 - sizeof(World*) - sizeof(std::string)> rest_{};
};
static_assert(sizeof(HeapObject) == 64);

}  // namespace

Status create_region(World& world, const Step& step) {
  kernel::RegionSpec spec;
  spec.budget = step.value<Budget>("budget");
  spec.limits = step.value<kernel::Limits>("limits");
  spec.policy = step.word("policy", spec.policy);
  spec.cleanup_mode = step.word("cleanup_mode", spec.cleanup_mode);
  spec.escalation = step.word("escalation", spec.escalation);
  spec.cleanup_time = Duration::nanoseconds(
      static_cast<std::int64_t>(step.number("cleanup_time", static_cast<std::uint64_t>(spec.cleanup_time.ns()))));
  spec.reports_to = step.word("reports_to", spec.reports_to);
  spec.body = step.flag("body");
  spec.owner = world.task_in(step, "owner");
  const auto made = world.kernel().create_region(world.worker(), world.region_in(step, "in"), spec);
  if (made) world.add(world.new_name(step), made.id);
  return made.status;
}

Status close(World& world, const Step& step) {
  return world.kernel().close(world.worker(), world.region(step.subject.text));
}

Status cancel(World& world, const Step& step) {
  return world.kernel().cancel(world.worker(), world.region(step.subject.text), cancel_in(world, step));
}

Status end_body(World& world, const Step& step) {
  const RegionId region = world.region(step.subject.text);
  const Reason own = world.kernel().reason_of(world.worker(), region);
  return world.kernel().end_body(world.worker(), region, end_in(world, step, own));
}

Status advance(World& world, const Step& step) {
  return world.kernel().advance(world.worker(), world.region(step.subject.text));
}

Status defer(World& world, const Step& step) {
  const auto made = world.kernel().defer(world.worker(), world.region_in(step, "in"), nullptr);
  if (made) world.add(world.new_name(step), made.id);
  return made.status;
}

Status await_close(World& world, const Step& step) {
  return world.kernel().await_close(world.worker(), world.region(step.subject.text), world.task_in(step, "waiter"));
}

void forget_close(World& world, const Step& step) {
  world.kernel().forget_close(world.worker(), world.region(step.subject.text), world.task_in(step, "waiter"));
}

Status allocate(World& world, const Step& step) {
  const auto made =
      world.kernel().make_in<HeapObject>(world.worker(), world.region(step.subject.text), world, step.text("label"));
  return made.is_ok() ? Status() : Status(made.error().code());
}

Status check_heap(World& world, const Step& step) { return world.kernel().check_heap(world.region(step.subject.text)); }

Status release(World& world, const Step& step) {
  if (const RegionId region = world.region(step.subject.text)) return world.kernel().release(world.worker(), region);
  return world.kernel().release(world.worker(), world.task(step.subject.text));
}

}  // namespace calm::scenario
