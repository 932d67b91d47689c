#include <string>
#include <utility>
#include <vector>

#include "apps/calm/scenario/expression.hpp"
#include "apps/calm/scenario/spec_fields.hpp"
#include "apps/calm/scenario/steps.hpp"
#include "calm/model/text.hpp"

namespace calm::scenario {

void make_outcome(World& world, const Step& step) {
  ChildEnd end = ok();
  switch (step.word("kind", OutcomeKind::ok)) {
    case OutcomeKind::ok:
      break;
    case OutcomeKind::err:
      end = err(step.word("error", Errc::io), step.text("message"));
      break;
    case OutcomeKind::cancelled: {
      const Reason* reason = reason_in(world, step, "reason");
      if (reason == nullptr) throw Problem(step.place, "a Cancelled outcome needs the key \"reason\"");
      end = cancelled(*reason);
      break;
    }
    case OutcomeKind::panicked:
      end = Panicked{Panic::with_message(step.text("message"))};
      break;
  }
  world.values.insert_or_assign(step.subject.text, Value(std::move(end)));
}

void make_reason(World& world, const Step& step) {
  ReasonSpec spec;
  spec.kind = step.word("kind", spec.kind);
  spec.region = world.region_in(step, "by_region");
  spec.task = world.task_in(step, "by_task");
  spec.at = Time::at_ns(step.number("at", 0));
  spec.message = step.text("message");
  spec.cause = reason_in(world, step, "cause");
  spec.cleanup_time = Duration::nanoseconds(
      static_cast<std::int64_t>(step.number("cleanup_time", static_cast<std::uint64_t>(spec.cleanup_time.ns()))));
  world.values.insert_or_assign(step.subject.text, Value(Reason(spec)));
}

void make_budget(World& world, const Step& step) {
  world.values.insert_or_assign(step.subject.text, Value(step.value<Budget>("is")));
}

void make_value(World& world, const Step& step) {
  const Field& of = *step.find("of");
  world.values.insert_or_assign(step.subject.text, evaluate(of.text, of.place, world.values));
}

void look_equal(World& world, const Step& step) {
  const auto& texts = std::get<std::vector<std::string>>(step.subject.value);
  if (texts.size() < 2) throw Problem(step.place, "equal compares two expressions or more");
  const Value first = evaluate(texts[0], step.subject.place, world.values);
  for (std::size_t i = 1; i < texts.size(); ++i) {
    const Value other = evaluate(texts[i], step.subject.place, world.values);
    if (!same_value(first, other)) {
      world.differ(step, {}, texts[0] + " = " + to_string(first), texts[i] + " = " + to_string(other));
    }
  }
}

void look_holds(World& world, const Step& step) {
  const Value value = evaluate(step.subject.text, step.subject.place, world.values);
  if (!same_value(value, Value(true))) world.differ(step, {}, step.subject.text + " = true", to_string(value));
}

}  // namespace calm::scenario
