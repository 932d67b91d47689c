#include "calm/observe/words.hpp"

#include "calm/check/require.hpp"
#include "calm/trace/text.hpp"

namespace calm::observe {
namespace {

using trace::Event;
using trace::EventKind;

constexpr KindLore lore_table[] = {
    {EventKind::spawn, "A task or a region begins. It belongs to one region, which does not close before it has ended.",
     "I1 REG-6 TSK-1"},
    {EventKind::poll,
     "The task runs now, until its next suspension. One dispatch by the scheduler is one poll of its budget.",
     "TSK-6 BUD-5"},
    {EventKind::complete, "The task has ended, once and for all. Its region folds the outcome into its own.",
     "TSK-1 OUT-4"},
    {EventKind::cancel_request,
     "Someone asks for an end. From now on a clean-up budget counts; a further request can only make it stricter.",
     "I3 CAN-3 CAN-4 CAN-5"},
    {EventKind::cancel_ack,
     "The task has seen the request at a checkpoint or an await. Each of them answers Cancelled from now on.",
     "CAN-7 CAN-9"},
    {EventKind::cancel_done, "The cancelled task is gone, and a witness of that has been recorded.", "CAN-10 TSK-8"},
    {EventKind::reserve,
     "A promise is made: it must be committed or aborted, and its region does not close while it is open.",
     "I4 OBL-1 OBL-3"},
    {EventKind::resolve, "A promise is settled, once and for all: kept, given up, or lost.", "OBL-1 OBL-6"},
    {EventKind::finalize,
     "The region starts one of its finalizers: newest first, one after the other, masked, each exactly once.",
     "REG-5 CTX-4"},
    {EventKind::region_move,
     "The region goes on to its next state. It never goes back, and it is Closed only when all below it is quiet.",
     "I2 REG-1 REG-9"},
    {EventKind::timer,
     "A timer has fired and wakes the task that waits for it; without a task the clock itself has jumped.",
     "TMR-3 CAN-13"},
    {EventKind::channel, "Something happened at a channel.", "CHN-1"},
    {EventKind::io, "Something happened to an input or output operation.", "IO-2"},
    {EventKind::choice,
     "Several tasks could have run. The scheduler chose the one with this number; a replay chooses the same.",
     "LAB-3 SCH-7"},
    {EventKind::access,
     "The step read or wrote this resource. Steps that touch different resources could as well have come in the other "
     "order.",
     "LAB-4"},
    {EventKind::forced,
     "The clean-up budget is used up, and the task did not end by itself: its frames are destroyed where it is suspended.",
     "CAN-8"},
    {EventKind::mark, "The program itself left this note in the trace.", "CTX-1 COM-3"},
};

consteval bool lore_is_complete() {
  std::uint8_t number = 0;
  for (const KindLore& row : lore_table) {
    if (static_cast<std::uint8_t>(row.kind) != ++number || row.means.empty() || row.laws.empty()) return false;
  }
  return number == trace::event_kind_count;
}
static_assert(lore_is_complete(), "LAB-9: every kind of event is explained, in order of their numbers");

std::string name_of(trace::ResourceId id, const trace::Names& names) {
  if (!id) return "the runtime";
  std::string text = to_string(id);
  if (const auto task = names.tasks.find(TaskId::from_bits(id.bits())); task != names.tasks.end()) {
    if (!task->second.name.empty()) text.append(" ").append(task->second.name);
  } else if (const auto name = names.resources.find(id); name != names.resources.end()) {
    text.append(" ").append(name->second);
  }
  return text;
}

std::string who(const Event& event, const trace::Names& names) {
  return name_of(event.task ? trace::ResourceId(event.task) : trace::ResourceId(event.region), names);
}

std::string with(std::string_view before, const std::string& text) {
  return text.empty() ? std::string() : std::string(before) + text;
}

}  // namespace

const KindLore& lore_of(EventKind kind) noexcept {
  CALM_REQUIRE(LAB_9, trace::find_event_kind(static_cast<std::uint8_t>(kind)) != nullptr,
               static_cast<std::uint8_t>(kind));
  return lore_table[static_cast<std::uint8_t>(kind) - 1];
}

std::string sentence_of(const Event& event, const trace::Names& names) {
  const std::string subject = who(event, names);
  const std::string argument = trace::argument_text(event);
  const std::string resource = event.resource ? name_of(event.resource, names) : std::string();
  switch (event.kind) {
    case EventKind::spawn:
      if (makes_region(event)) {
        return name_of(event.region, names) + " is opened below " + resource +
               (event.task ? " by " + name_of(event.task, names) : "") + ".";
      }
      return subject + " is spawned in " + name_of(event.region, names) + ".";
    case EventKind::poll:
      return subject + " is polled.";
    case EventKind::complete:
      return subject + " ends" + with(" with ", argument) + ".";
    case EventKind::cancel_request:
      return "The cancellation of " + subject + " is requested" + with(": ", argument) + ".";
    case EventKind::cancel_ack:
      return subject + " acknowledges its cancellation" + with(": ", argument) + ".";
    case EventKind::cancel_done:
      return "The cancellation of " + subject + " is done" + with(": ", argument) + ".";
    case EventKind::reserve:
      return subject + " reserves " + resource + with(", ", argument) + ", in " + name_of(event.region, names) + ".";
    case EventKind::resolve:
      return resource + " is resolved" + with(" as ", argument) + (event.task ? ", held by " + subject : "") + ".";
    case EventKind::finalize:
      return "Finalizer " + subject + " of " + name_of(event.region, names) + " is started.";
    case EventKind::region_move:
      return subject + " goes" + with(" from ", argument) + ".";
    case EventKind::timer:
      return event.task ? "A timer of " + subject + " fires." : "The clock jumps" + with(" by ", argument) + " ns.";
    case EventKind::channel:
    case EventKind::io:
      return subject + ": " + std::string(to_string(event.kind)) + with(" ", resource) + with(", ", argument) + ".";
    case EventKind::choice:
      return "The scheduler chooses number " + std::to_string(event.argument) + " of those that are ready.";
    case EventKind::access:
      return subject + (event.access == trace::Access::write ? " writes " : " reads ") + resource + ".";
    case EventKind::mark:
      return subject + " marks " + resource + with(", ", argument) + ".";
    case EventKind::forced:
      return subject + " is ended by force" + with(": ", argument) + ".";
  }
  CALM_INVARIANT(LAB_9, false, static_cast<std::uint8_t>(event.kind));
  return {};
}

std::string explain(const trace::Trace& trace, std::size_t event, const trace::Names& names) {
  CALM_REQUIRE(LAB_9, event < trace.events.size(), event, trace.events.size());
  const Story story = story_of(trace);
  const Event& it = trace.events[event];
  const Row& row = story.rows[story.row_of[event]];
  const KindLore& lore = lore_of(it.kind);
  std::string text = "#" + std::to_string(it.sequence) + " " + std::string(to_string(it.kind)) + ": " +
                     sentence_of(it, names) + "\n  " + std::string(lore.means);
  text += "\n  at:     " + to_string(it.time) + ", worker " + std::to_string(it.worker);
  text += "\n  row:    " + title_of(row, names);
  if (row.type == Row::Type::task && row.parent != Row::none) text += " in " + title_of(story.rows[row.parent], names);
  if (const auto task = names.tasks.find(row.task); task != names.tasks.end()) {
    text += with("\n  spawn:  ", task->second.spawn_site) + with("\n  await:  ", task->second.await_site);
  }
  if (it.cause != 0) {
    const std::size_t cause = story.cause_of[event];
    text += "\n  cause:  " + (cause == Row::none
                                  ? "#" + std::to_string(it.cause) + ", which the trace does not have"
                                  : "#" + std::to_string(it.cause) + " " + sentence_of(trace.events[cause], names));
  }
  return text + "\n  laws:   " + std::string(lore.laws) + "\n";
}

}  // namespace calm::observe
