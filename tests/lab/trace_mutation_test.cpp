// Traces of runs with one event dropped, doubled, or swapped with a neighbour it depends on, and numbered anew, so that only
// what the events say can give it away. Each must be refused, but for those that no event tells of: they are listed here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "calm/trace/check.hpp"
#include "calm/trace/text.hpp"
#include "program_run.hpp"

namespace calm::programs {
namespace {

using trace::Event;
using trace::EventKind;
using trace::Trace;

enum class Mutation : std::uint8_t { dropped, doubled, swapped };

std::string_view name_of(Mutation mutation) {
  return mutation == Mutation::dropped ? "dropped" : mutation == Mutation::doubled ? "doubled" : "swapped";
}

/// Gives: the trace with event i dropped, or there twice, or after the one behind it. Numbers, places and times stay what
/// they are for the place; a cause follows the event it names, or is the one before where that is gone.
Trace mutated(const Trace& trace, Mutation mutation, std::size_t i) {
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < trace.events.size(); ++k) {
    if (k == i && mutation == Mutation::dropped) continue;
    order.push_back(k);
    if (k == i && mutation == Mutation::doubled) order.push_back(k);
  }
  if (mutation == Mutation::swapped) std::swap(order[i], order[i + 1]);
  std::vector<std::uint64_t> number(trace.events.size() + 1, 0);
  for (std::size_t k = order.size(); k-- > 0;) number[order[k] + 1] = k + 1;
  if (mutation == Mutation::dropped) number[i + 1] = i;
  Trace result;
  for (std::size_t k = 0; k < order.size(); ++k) {
    Event event = trace.events[order[k]];
    event.sequence = k + 1;
    event.position = static_cast<std::uint32_t>(k);
    event.time = trace.events[std::min(k, trace.events.size() - 1)].time;
    event.cause = number[event.cause];
    result.events.push_back(event);
  }
  if (mutation == Mutation::dropped && i < result.events.size()) {
    for (std::size_t k = i; k < result.events.size(); ++k) result.events[k].time = trace.events[k + 1].time;
  }
  return result;
}

bool depend(const Event& a, const Event& b) {
  const bool write = a.access == trace::Access::write || b.access == trace::Access::write;
  return (a.task && a.task == b.task) || (a.resource && a.resource == b.resource && write) || b.cause == a.sequence;
}

/// Where in a trace something was changed.
struct Spot {
  const Trace& trace;
  std::size_t i;

  [[nodiscard]] const Event& event() const { return trace.events[i]; }
  [[nodiscard]] const Event& next() const { return trace.events[i + 1]; }
  [[nodiscard]] bool is_last() const { return i + 1 == trace.events.size(); }
  [[nodiscard]] bool is(EventKind kind) const { return event().kind == kind; }
  /// The task of the last poll before.
  [[nodiscard]] TaskId polled_before() const {
    for (std::size_t k = i; k-- > 0;) {
      if (trace.events[k].kind == EventKind::poll) return trace.events[k].task;
    }
    return {};
  }
};

bool is_note(EventKind kind) { return kind == EventKind::access || kind == EventKind::mark; }

/// What a task does by itself, in the order that its program says.
bool is_own_act(EventKind kind) {
  return is_note(kind) || kind == EventKind::reserve || kind == EventKind::resolve || kind == EventKind::spawn;
}

struct Unseen {
  Mutation mutation;
  bool (*applies)(const Spot& spot);
  std::string_view why;
};

// What events do not tell of. The list is to stay short: each line is needed by the runs below.
const Unseen unseen[] = {
    {Mutation::dropped, [](const Spot& spot) { return spot.is_last(); }, "a trace may end anywhere"},
    {Mutation::dropped, [](const Spot& spot) { return is_note(spot.event().kind); },
     "a footprint or a note of the program: nothing follows from it"},
    {Mutation::dropped, [](const Spot& spot) { return spot.is(EventKind::poll); },
     "a wake has no event, and a poll may leave none: who is polled twice in a row may as well have been polled once"},
    {Mutation::dropped, [](const Spot& spot) { return spot.is(EventKind::timer); },
     "a wake has no event: the poll that follows may have come of one"},
    {Mutation::dropped, [](const Spot& spot) { return spot.is(EventKind::cancel_request); },
     "a request that nobody has answered, or one of several"},
    {Mutation::dropped, [](const Spot& spot) { return spot.is(EventKind::cancel_ack) || spot.is(EventKind::forced); },
     "one of the two, where a task acknowledged and was forced: either leads to the witness"},
    {Mutation::doubled, [](const Spot& spot) { return is_note(spot.event().kind); },
     "a footprint or a note of the program: nothing follows from it"},
    {Mutation::doubled, [](const Spot& spot) { return spot.is(EventKind::cancel_request); },
     "a second request may have tightened the clean-up budget, which no event tells"},
    {Mutation::doubled, [](const Spot& spot) { return spot.is(EventKind::timer); },
     "a task that is woken already may have a second timer"},
    {Mutation::swapped, [](const Spot& spot) { return is_note(spot.event().kind) || is_note(spot.next().kind); },
     "a footprint or a note of the program: nothing follows from its place"},
    {Mutation::swapped, [](const Spot& spot) { return is_own_act(spot.event().kind) && is_own_act(spot.next().kind); },
     "two acts of one task, in the order that its program says"},
    {Mutation::swapped,
     [](const Spot& spot) { return spot.is(EventKind::poll) && spot.polled_before() == spot.next().task; },
     "an act of this poll or of the poll before, which was of the same task"},
    {Mutation::swapped,
     [](const Spot& spot) {
       return spot.is(EventKind::poll) &&
              (spot.next().kind == EventKind::reserve || spot.next().kind == EventKind::resolve);
     },
     "an event of a promise tells who holds it, and not who acts"},
    {Mutation::swapped,
     [](const Spot& spot) { return spot.is(EventKind::resolve) && spot.next().kind == EventKind::complete; },
     "a promise may be handed over before its holder ends, which has no event"},
    {Mutation::swapped,
     [](const Spot& spot) {
       return spot.is(EventKind::cancel_request) || spot.next().kind == EventKind::cancel_request;
     },
     "a request may come at any time"},
    {Mutation::swapped,
     [](const Spot& spot) { return spot.is(EventKind::cancel_ack) || spot.next().kind == EventKind::cancel_ack; },
     "a checkpoint before or after another act of the same poll"},
};

std::string around(const Trace& trace, std::size_t i) {
  std::string text;
  for (std::size_t k = i < 4 ? 0 : i - 4; k < std::min(i + 5, trace.events.size()); ++k) {
    text.append(k == i ? "  > " : "    ").append(to_string(trace.events[k])).append("\n");
  }
  return text;
}

class Mutations {
 public:
  /// Changes every event of the trace in every way.
  void try_all(const Trace& trace) {
    for (std::size_t i = 0; i < trace.events.size(); ++i) {
      try_one(trace, Mutation::dropped, i);
      try_one(trace, Mutation::doubled, i);
      if (i + 1 < trace.events.size() && depend(trace.events[i], trace.events[i + 1])) {
        try_one(trace, Mutation::swapped, i);
      }
    }
  }

  /// Gives: what was not refused and has no excuse.
  [[nodiscard]] const std::string& missed() const { return missed_; }
  [[nodiscard]] bool used(std::size_t row) const { return used_[row]; }
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

 private:
  void try_one(const Trace& trace, Mutation mutation, std::size_t i) {
    if (!check_trace(mutated(trace, mutation, i)).ok()) {
      ++refused_;
      return;
    }
    for (std::size_t row = 0; row < std::size(unseen); ++row) {
      if (unseen[row].mutation != mutation || !unseen[row].applies({trace, i})) continue;
      used_[row] = true;
      return;
    }
    if (missed_.size() < 2000) {
      missed_.append(fmt::format("{}: {}\n{}", name_of(mutation), to_string(trace.events[i]), around(trace, i)));
    }
  }

  std::string missed_;
  std::array<bool, std::size(unseen)> used_{};
  std::uint64_t refused_ = 0;
};

TEST(TraceMutations, OBL_10_LAB_6_a_trace_with_one_event_dropped_doubled_or_swapped_is_refused) {
  Mutations mutations;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Trace trace = run_once(make_program(seed)).trace;
    if (trace.events.size() > 400) continue;
    ASSERT_TRUE(check_trace(trace).ok()) << seed;
    mutations.try_all(trace);
    ASSERT_EQ(mutations.missed(), "") << "of program " << seed;
  }
  EXPECT_GT(mutations.refused(), 10'000U);
  for (std::size_t row = 0; row < std::size(unseen); ++row) {
    EXPECT_TRUE(mutations.used(row)) << "no longer needed: " << name_of(unseen[row].mutation) << ": "
                                     << unseen[row].why;
  }
}

TEST(TraceMutations, LAB_2_an_event_that_is_dropped_doubled_or_swapped_and_keeps_its_number_is_always_refused) {
  const Trace trace = run_once(make_program(3)).trace;
  ASSERT_GT(trace.events.size(), 20U);
  for (std::size_t i = 0; i + 1 < trace.events.size(); ++i) {
    Trace dropped = trace;
    dropped.events.erase(dropped.events.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(check_trace(dropped).ok()) << i;
    Trace doubled = trace;
    doubled.events.insert(doubled.events.begin() + static_cast<std::ptrdiff_t>(i), trace.events[i]);
    EXPECT_FALSE(check_trace(doubled).ok()) << i;
    Trace swapped = trace;
    std::swap(swapped.events[i], swapped.events[i + 1]);
    EXPECT_FALSE(check_trace(swapped).ok()) << i;
  }
}

/// The same three changes to a file that was cut or damaged: nobody has numbered its events anew.
TEST(TraceMutations, LAB_6_a_trace_with_events_missing_doubled_or_swapped_as_they_stand_is_always_refused) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Trace trace = run_once(make_program(seed)).trace;
    if (trace.events.size() > 400) continue;
    for (std::size_t i = 0; i + 1 < trace.events.size(); ++i) {
      const auto place = static_cast<std::ptrdiff_t>(i);
      Trace dropped = trace;
      dropped.events.erase(dropped.events.begin() + place);
      EXPECT_FALSE(check_trace(dropped).ok()) << seed << ": without event " << i;
      Trace doubled = trace;
      doubled.events.insert(doubled.events.begin() + place, trace.events[i]);
      EXPECT_FALSE(check_trace(doubled).ok()) << seed << ": event " << i << " twice";
      Trace swapped = trace;
      std::swap(swapped.events[i], swapped.events[i + 1]);
      EXPECT_FALSE(check_trace(swapped).ok()) << seed << ": event " << i << " after the one behind it";
    }
  }
}

}  // namespace
}  // namespace calm::programs
