#include "apps/calm/scenario/spec_fields.hpp"

#include "calm/model/text.hpp"

namespace calm::scenario {

const Reason* reason_in(const World& world, const Step& step, std::string_view key) {
  const Field* field = step.find(key);
  if (field == nullptr) return nullptr;
  const auto found = world.values.find(field->text);
  const Reason* reason = found == world.values.end() ? nullptr : std::get_if<Reason>(&found->second);
  if (reason == nullptr || !*reason) throw Problem(field->place, quoted(field->text) + " is no reason");
  return reason;
}

ChildEnd end_in(const World& world, const Step& step, const Reason& own) {
  if (const Field* with = step.find("with")) {
    const auto found = world.values.find(with->text);
    const ChildEnd* end = found == world.values.end() ? nullptr : std::get_if<ChildEnd>(&found->second);
    if (end == nullptr) throw Problem(with->place, quoted(with->text) + " is no outcome");
    return *end;
  }
  switch (step.word("outcome", OutcomeKind::ok)) {
    case OutcomeKind::ok:
      break;
    case OutcomeKind::err:
      return err(step.word("error", Errc::io), step.text("message"));
    case OutcomeKind::cancelled:
      if (!own) throw Problem(step.place, "nothing here was cancelled; name the outcome with the key \"with\"");
      return cancelled(own);
    case OutcomeKind::panicked:
      return Panicked{Panic::with_message(step.text("message"))};
  }
  return ok();
}

kernel::CancelSpec cancel_in(const World& world, const Step& step) {
  return {.kind = step.word("kind", CancelKind::user),
          .region = world.region_in(step, "by_region"),
          .task = world.task_in(step, "by_task"),
          .message = step.text("message"),
          .cause = reason_in(world, step, "cause")};
}

}  // namespace calm::scenario
