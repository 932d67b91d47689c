#include "apps/calm/scenario/schema.hpp"

#include "apps/calm/scenario/steps.hpp"

namespace calm::scenario {
namespace {

constexpr FieldType form(FieldForm of) { return {.form = of}; }
constexpr FieldType makes(NameKind kind) { return {.form = FieldForm::new_name, .name = kind}; }
constexpr FieldType a(NameKind kind) { return {.form = FieldForm::name, .name = kind}; }
constexpr FieldType some(NameKind kind) { return {.form = FieldForm::names, .name = kind}; }
constexpr FieldType word(WordSet set) { return {.form = FieldForm::word, .words = set}; }
constexpr FieldType words(WordSet set) { return {.form = FieldForm::words, .words = set}; }

constexpr bool needed = true;
constexpr FieldType region = a(NameKind::region);
constexpr FieldType task = a(NameKind::task);
constexpr FieldType obligation = a(NameKind::obligation);
constexpr FieldType value = a(NameKind::value);
constexpr FieldType channel = a(NameKind::channel);
constexpr FieldType place = a(NameKind::place);
constexpr FieldType delivery = a(NameKind::delivery);
constexpr FieldType timer = a(NameKind::timer);
constexpr FieldType flag = form(FieldForm::flag);
constexpr FieldType number = form(FieldForm::number);
constexpr FieldType text = form(FieldForm::text);
constexpr FieldType budget = form(FieldForm::budget);
constexpr FieldType cancel_kind = word(WordSet::cancel_kind);
constexpr FieldType time = form(FieldForm::time);
constexpr FieldType obligation_kind = word(WordSet::obligation_kind);

// What runs in a poll of a program, which the kernel sees whatever comes of it.
constexpr StepRow by_program(StepRow row) {
  row.polls = true;
  return row;
}

// clang-format off: one verb, one paragraph
constexpr StepRow rows[] = {
    // regions
    {"create_region", makes(NameKind::region), "makes a child region", create_region, nullptr,
     {{{"in", region, needed}, {"budget", budget}, {"limits", form(FieldForm::limits)},
       {"policy", word(WordSet::fold_policy)}, {"cleanup_mode", word(WordSet::cleanup_mode)},
       {"escalation", word(WordSet::escalation)}, {"cleanup_time", form(FieldForm::span)},
       {"reports_to", word(WordSet::reports_to)}, {"body", flag}, {"owner", task}}}},
    {"close", region, "stops admission", close, nullptr, {}},
    {"cancel", region, "stops admission and cancels everything below", cancel, nullptr,
     {{{"kind", cancel_kind}, {"message", text}, {"by_region", region}, {"by_task", task}, {"cause", value}}}},
    {"end_body", region, "the body of the region has ended", end_body, nullptr,
     {{{"outcome", word(WordSet::outcome)}, {"error", word(WordSet::error)}, {"message", text}, {"with", value}}}},
    {"advance", region, "demands that a closing region goes on", advance, nullptr, {}},
    {"defer", makes(NameKind::task), "registers a finalizer", defer, nullptr, {{{"in", region, needed}}}},
    {"await_close", region, "asks for a wake when the region is Closed", await_close, nullptr,
     {{{"waiter", task, needed}}}, {Errc::would_block}},
    {"forget_close", region, "takes the wish back", nullptr, forget_close, {{{"waiter", task, needed}}}},
    {"allocate", region, "puts an object of 64 bytes into the region's heap", allocate, nullptr, {{{"label", text}}}},
    {"check_heap", region, "asks whether the region's memory may be used", check_heap, nullptr, {}},
    {"release", form(FieldForm::record), "gives the handle of a region or a task up", release, nullptr, {}},

    // tasks
    {"spawn", makes(NameKind::task), "admits a task", spawn, nullptr,
     {{{"in", region, needed}, {"budget", budget}, {"spawner", task}, {"handle", flag}, {"cleanup", flag}}}},
    {"wake", task, "makes the task runnable", wake, nullptr, {}},
    {"begin_poll", task, "begins a poll", nullptr, begin_poll, {{{"gives", word(WordSet::poll_start)}}}},
    {"end_poll", task, "the task has suspended", end_poll, nullptr, {}},
    {"poll", task, "wakes the task if need be, begins a poll, which must run, and ends it", nullptr, poll,
     {{{"times", number}}}},
    {"complete", task, "the task has ended", complete, nullptr,
     {{{"outcome", word(WordSet::outcome)}, {"error", word(WordSet::error)}, {"message", text}, {"with", value}}}},
    {"unwound", task, "what the task had inside a region is gone, because it is forced", unwound, nullptr,
     {{{"from", region, needed}}}},
    {"begin_finalizing", task, "the root frame of a cancelled task is gone", begin_finalizing, nullptr, {}},
    {"request_cancel", task, "asks one task to stop", request_cancel, nullptr,
     {{{"kind", cancel_kind}, {"message", text}, {"by_region", region}, {"by_task", task}, {"cause", value}}}},
    {"checkpoint", task, "acknowledges a request, in the task's own poll", checkpoint, nullptr, {}, {Errc::cancelled}},
    {"enter_mask", task, "defers observation", enter_mask, nullptr, {}},
    {"leave_mask", task, "ends that", leave_mask, nullptr, {}},
    {"spend", task, "uses up cost", spend, nullptr, {{{"cost", number, needed}}}, {Errc::budget_exhausted}},
    {"deadline_reached", task, "the host says that a watched deadline has come", deadline_reached, nullptr, {}},
    {"await_end", task, "asks for a wake when the task has ended", await_end, nullptr, {{{"waiter", task, needed}}},
     {Errc::would_block}},
    {"forget_end", task, "takes the wish back", nullptr, forget_end, {{{"gives", flag}}}},

    // obligations
    {"reserve", makes(NameKind::obligation), "makes a promise with a record", reserve, nullptr,
     {{{"in", region, needed}, {"kind", obligation_kind}, {"holder", form(FieldForm::holder)}, {"whose", task}}}},
    {"commit", obligation, "keeps the promise", commit, nullptr, {}},
    {"abort", obligation, "takes the promise back", abort, nullptr, {}},
    {"hand_over", obligation, "the token has moved to another holder", hand_over, nullptr,
     {{{"to", form(FieldForm::holder), needed}, {"whose", task}}}},
    {"drop_token", obligation, "the token is gone", drop_token, nullptr, {}},
    {"count", task, "makes a promise without a record", count, nullptr, {{{"kind", obligation_kind, needed}}}},
    {"uncount", task, "settles one", uncount, nullptr, {{{"kind", obligation_kind, needed}, {"by", task}}}},

    // the host
    {"time", form(FieldForm::time), "says what time it is", nullptr, set_time, {}},
    {"round", number, "says which round of the scheduler it is", nullptr, set_round, {}},
    {"timers", number, "says how many timers are armed", nullptr, set_timers, {}},
    {"channels", number, "says how many channels are not drained", nullptr, set_channels, {}},
    {"queue", some(NameKind::task), "the tasks that were scheduled and not yet polled, in order", nullptr,
     look_at_queue, {}},
    {"watch", task, "the earliest deadline that the kernel asked to watch for the task", nullptr, look_at_watch,
     {{{"at", form(FieldForm::time), needed}}}},
    {"finding", word(WordSet::finding), "the next finding that was reported; each must be named", nullptr,
     look_at_finding,
     {{{"region", region}, {"task", task}, {"obligation", obligation}, {"kind", obligation_kind}, {"count", number},
       {"must_fail", flag}}}},
    {"findings", number, "how many findings have not been named yet", nullptr, look_at_findings, {}},
    {"destroyed", form(FieldForm::texts), "labels of the heap objects that were destroyed, in order", nullptr,
     look_at_destroyed, {}},

    // looks at records
    {"region", region, "how a region is", nullptr, look_at_region,
     {{{"state", word(WordSet::region_state)}, {"live_tasks", number}, {"live_regions", number},
       {"live_cleanup", number}, {"finalizers", number}, {"body", flag}, {"budget", budget},
       {"outcome", word(WordSet::outcome_or_none)}, {"error", word(WordSet::error)}, {"ends_by", cancel_kind},
       {"ledger", form(FieldForm::ledger)}, {"leaked", number}, {"heap_bytes", number},
       {"reason", word(WordSet::reason_kind)}, {"severity", number}, {"message", text},
       {"chain", words(WordSet::cancel_kind)}, {"truncated", flag}, {"by_region", region}, {"by_task", task},
       {"at", form(FieldForm::time)}, {"cleanup", budget}, {"epoch", number}}}},
    {"task", task, "how a task is", nullptr, look_at_task,
     {{{"state", word(WordSet::task_state)}, {"outcome", word(WordSet::outcome_or_none)}, {"left", budget},
       {"wake", word(WordSet::wake_state)}, {"started", flag}, {"forced", flag}, {"mask_depth", number},
       {"counted", form(FieldForm::ledger)}, {"requested", flag}, {"witness", word(WordSet::phase_or_none)},
       {"reason", word(WordSet::reason_kind)}, {"severity", number}, {"message", text},
       {"chain", words(WordSet::cancel_kind)}, {"truncated", flag}, {"by_region", region}, {"by_task", task},
       {"at", form(FieldForm::time)}, {"cleanup", budget}, {"epoch", number}}}},
    {"obligation", obligation, "how an obligation is", nullptr, look_at_obligation,
     {{{"state", word(WordSet::obligation_state)}, {"kind", obligation_kind}, {"holder", form(FieldForm::holder)}}}},

    // looks at the whole
    {"idle", word(WordSet::answer), "whether anything is runnable or pending", nullptr, look_idle,
     {{{"says", form(FieldForm::texts)}}}},
    {"quiescent", word(WordSet::answer), "whether all is quiet, or the first thing that is not", nullptr,
     look_quiescent, {{{"says", form(FieldForm::texts)}}}},
    {"leaks", number, "how many promises were forgotten in the whole kernel", nullptr, look_at_leaks, {}},
    {"dropped_tokens", number, "how many tokens were dropped while Reserved", nullptr, look_at_dropped_tokens, {}},
    {"lost_events", number, "how many events a strict trace could not take", nullptr, look_at_lost_events, {}},
    {"overwritten", number, "how many events the trace has no room for any more", nullptr, look_at_overwritten, {}},
    {"trace", word(WordSet::event_kind), "who the events of a kind are about, in order", nullptr, look_at_trace,
     {{{"of", form(FieldForm::records), needed}}}},
    {"moves", region, "the states a region has gone through", nullptr, look_at_moves,
     {{{"through", words(WordSet::region_state), needed}}}},
    {"mark", makes(NameKind::mark), "remembers the state digest", nullptr, mark_state, {}},
    {"same_state", a(NameKind::mark), "the state digest is what it was at the mark", nullptr, look_same_state, {}},
    {"witness", makes(NameKind::witness), "takes the witness of a task, or makes one like another", nullptr,
     take_witness,
     {{{"of", task}, {"like", a(NameKind::witness)}, {"task", task}, {"region", region}, {"epoch", number},
       {"phase", word(WordSet::phase)}, {"reason", value}}}},
    {"check_step", a(NameKind::witness), "whether another witness may follow this one", check_witness, nullptr,
     {{{"then", a(NameKind::witness), needed}}}},

    // programs
    {"program", makes(NameKind::task), "spawns a real task that does what steps say with by", make_program, nullptr,
     {{{"in", region, needed}, {"budget", budget}}}},
    by_program({"resume", task, "polls a program that was woken; the answer is that of the step it waits in", resume,
                nullptr, {{{"gives", text}}}}),
    by_program({"dismiss", task, "tells a program to end", dismiss, nullptr, {}}),
    by_program({"sleep", time, "waits for a time", ordered<sleep_deed>, nullptr, {{{"by", task, needed}}}}),
    {"wake_sleepers", some(NameKind::task), "collects the alarms that are due; whose they are, in order", nullptr,
     wake_sleepers, {}},

    // channels
    by_program({"open", makes(NameKind::channel), "makes a channel of texts", ordered<open_deed>, nullptr,
                {{{"kind", word(WordSet::channel_kind)}, {"capacity", number}, {"value", text}, {"by", task, needed}}}}),
    by_program({"reserve_place", makes(NameKind::place), "waits for a place and takes it", ordered<reserve_place_deed>,
                nullptr, {{{"of", channel, needed}, {"by", task, needed}, {"gives", text}}}}),
    by_program({"try_reserve_place", makes(NameKind::place), "takes a place without waiting",
                ordered<try_reserve_place_deed>, nullptr, {{{"of", channel, needed}, {"by", task, needed}}}}),
    by_program({"send_place", place, "sends into a place", ordered<send_place_deed>, nullptr,
                {{{"value", text, needed}, {"by", task, needed}, {"gives", text}}}}),
    by_program({"abort_place", place, "gives a place back", ordered<abort_place_deed>, nullptr,
                {{{"by", task, needed}, {"gives", text}}}}),
    by_program({"drop_place", place, "forgets a place", ordered<drop_place_deed>, nullptr, {{{"by", task, needed}}}}),
    by_program({"send", channel, "waits for a place and sends", ordered<send_deed>, nullptr,
                {{{"value", text, needed}, {"by", task, needed}, {"gives", text}}}}),
    by_program({"try_send", channel, "sends without waiting", ordered<try_send_deed>, nullptr,
                {{{"value", text, needed}, {"by", task, needed}, {"gives", text}}}}),
    by_program({"send_evict_oldest", channel, "sends, in the place of the oldest value if need be; gives that one",
                ordered<send_evict_oldest_deed>, nullptr,
                {{{"value", text, needed}, {"by", task, needed}, {"gives", text}}}}),
    by_program({"recv", channel, "waits for a value", ordered<recv_deed>, nullptr,
                {{{"by", task, needed}, {"receiver", number}, {"gives", text}}}}),
    by_program({"try_recv", channel, "takes a value without waiting", ordered<try_recv_deed>, nullptr,
                {{{"by", task, needed}, {"receiver", number}, {"gives", text}}}}),
    by_program({"recv_many", channel, "waits for a value and takes what else is there", ordered<recv_many_deed>,
                nullptr, {{{"by", task, needed}, {"most", number, needed}, {"gives", text}}}}),
    by_program({"recv_with_ack", makes(NameKind::delivery), "waits for a value that must be acknowledged",
                ordered<recv_with_ack_deed>, nullptr,
                {{{"of", channel, needed}, {"by", task, needed}, {"gives", text}}}}),
    by_program({"ack", delivery, "the value is dealt with", ordered<ack_deed>, nullptr, {{{"by", task, needed}}}}),
    by_program({"nack", delivery, "the value is to be received again", ordered<nack_deed>, nullptr,
                {{{"by", task, needed}}}}),
    by_program({"drop_delivery", delivery, "forgets a delivery", ordered<drop_delivery_deed>, nullptr,
                {{{"by", task, needed}}}}),
    by_program({"close_channel", channel, "takes nothing in any more", ordered<close_channel_deed>, nullptr,
                {{{"by", task, needed}}}}),
    by_program({"add_sender", channel, "one more sender", ordered<add_sender_deed>, nullptr, {{{"by", task, needed}}}}),
    by_program({"drop_sender", channel, "one sender less", ordered<drop_sender_deed>, nullptr,
                {{{"by", task, needed}}}}),
    by_program({"add_receiver", channel, "one more receiver", ordered<add_receiver_deed>, nullptr,
                {{{"by", task, needed}}}}),
    by_program({"drop_receiver", channel, "one receiver less", ordered<drop_receiver_deed>, nullptr,
                {{{"by", task, needed}, {"receiver", number}}}}),
    {"channel", channel, "how full a channel is", nullptr, look_at_channel,
     {{{"queued", number}, {"reserved", number}, {"unacked", number}, {"capacity", number}}}},

    // timers
    {"arm", makes(NameKind::timer), "arms a timer", arm, nullptr,
     {{{"at", time, needed}, {"wakes", task}, {"clamp", flag}}}},
    {"disarm", timer, "cancels a timer", disarm, nullptr, {}},
    {"disarm_all", number, "cancels all timers that are armed; how many there were", nullptr, disarm_all, {}},
    {"fire", some(NameKind::timer), "collects the timers that are due, in order", nullptr, fire_timers, {}},
    {"forge", makes(NameKind::timer), "makes an id like that of another timer, which nobody gave out", nullptr,
     forge_timer, {{{"like", timer, needed}, {"place", number}, {"generation", number}}}},
    {"timer", timer, "the id of a timer", nullptr, look_at_timer, {{{"place", number}, {"generation", number}}}},
    {"churn", number, "arms and cancels so many timers, one after the other", nullptr, churn_timers,
     {{{"at", time, needed}}}},
    {"wheel", number, "how many timers are armed, and where they stand", nullptr, look_at_wheel,
     {{{"level_1", number}, {"level_2", number}, {"level_3", number}, {"level_4", number}, {"overflow", number},
       {"due", number}, {"held", number}, {"places", number}, {"next", time}}}},

    // the lanes of a worker
    {"governor", word(WordSet::governor), "tasks that become runnable wait in the lanes of a worker, under this governor",
     nullptr, employ_worker, {}},
    {"dispatch", some(NameKind::task), "the worker lets timers that are due go off, chooses and polls; so many tasks, in order",
     nullptr, dispatch, {}},
    {"dispatch_lanes", text,
     "the same with the lanes they come from: c, t, r; R for the oldest whatever its priority, f for the fallback", nullptr,
     dispatch_lanes, {}},
    {"dispatch_by_seed", some(NameKind::task),
     "polls from the queue in the order of the lanes, and chooses among equals by a seed", nullptr, dispatch_by_seed,
     {{{"seed", number, needed}}}},
    {"park", flag, "the worker has nothing to do and waits", nullptr, park, {}},
    {"lanes", number, "how many tasks wait in the lanes", nullptr, look_at_lanes,
     {{{"cancel", number}, {"timed", number}, {"ready", number}}}},
    {"certificate", text, "the hash of the worker's fairness certificate, and what it is made of", nullptr,
     look_at_certificate,
     {{{"cancel", number}, {"timed", number}, {"ready", number}, {"fallback", number}, {"base_exceedances", number},
       {"effective_exceedances", number}, {"largest_limit", number}}}},
    {"decision", text, "what the governor said last, with its reasons", nullptr, look_at_decision, {}},
    {"victims", form(FieldForm::texts), "whom a worker steals from, in order, over some rounds", nullptr, look_at_victims,
     {{{"worker", number, needed}, {"workers", number, needed}, {"seed", number, needed}, {"rounds", number}}}},

    // values
    {"outcome", makes(NameKind::value), "an outcome", nullptr, make_outcome,
     {{{"kind", word(WordSet::outcome), needed}, {"error", word(WordSet::error)}, {"message", text},
       {"reason", value}}}},
    {"reason", makes(NameKind::value), "a reason", nullptr, make_reason,
     {{{"kind", cancel_kind, needed}, {"at", form(FieldForm::time)}, {"message", text}, {"by_region", region},
       {"by_task", task}, {"cause", value}, {"cleanup_time", form(FieldForm::span)}}}},
    {"budget", makes(NameKind::value), "a budget", nullptr, make_budget, {{{"is", budget, needed}}}},
    {"value", makes(NameKind::value), "the result of an expression", nullptr, make_value,
     {{{"of", form(FieldForm::expression), needed}}}},
    {"equal", form(FieldForm::expressions), "all expressions have one value", nullptr, look_equal, {}},
    {"holds", form(FieldForm::expression), "the expression is true", nullptr, look_holds, {}},
};
// clang-format on

// What every operation of the kernel takes beside its own keys.
constexpr FieldRow of_every_act[] = {{"expect", word(WordSet::answer)}, {"times", number}};

}  // namespace

const FieldRow* StepRow::find(std::string_view key) const noexcept {
  for (const FieldRow& field : fields) {
    if (!field.key.empty() && field.key == key) return &field;
  }
  if (act == nullptr) return nullptr;
  for (const FieldRow& field : of_every_act) {
    if (field.key == key) return &field;
  }
  return nullptr;
}

std::span<const StepRow> step_rows() noexcept { return rows; }

const StepRow* find_step(std::string_view verb) noexcept {
  for (const StepRow& row : rows) {
    if (row.verb == verb) return &row;
  }
  return nullptr;
}

std::string describe(const FieldType& type) {
  switch (type.form) {
    case FieldForm::new_name:
      return std::string("new name of a ").append(to_string(type.name));
    case FieldForm::name:
      return std::string("name of a ").append(to_string(type.name));
    case FieldForm::record:
      return "name of a region or task";
    case FieldForm::records:
      return "names of regions and tasks";
    case FieldForm::names:
      return std::string("names of ").append(to_string(type.name)).append("s");
    case FieldForm::holder:
      return "name of a task, nobody, reactor, lease keeper";
    case FieldForm::flag:
      return "true, false";
    case FieldForm::number:
      return "number from 0 on";
    case FieldForm::text:
      return "text";
    case FieldForm::texts:
      return "texts";
    case FieldForm::span:
    case FieldForm::time:
      return "length of time such as 20ms";
    case FieldForm::word:
    case FieldForm::words: {
      std::string list;
      for (const Word& each : words_of(type.words)) list.append(list.empty() ? "" : ", ").append(each.name);
      return list;
    }
    case FieldForm::budget:
      return "infinite, zero or a table of deadline, polls, cost, priority";
    case FieldForm::limits:
      return "table of tasks, regions, obligations, heap_bytes";
    case FieldForm::ledger:
      return "table of counts by kind of obligation";
    case FieldForm::expression:
      return "expression";
    case FieldForm::expressions:
      return "expressions";
  }
  return {};
}

}  // namespace calm::scenario
