#include "calm/observe/story.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "calm/trace/argument.hpp"

namespace calm::observe {
namespace {

using trace::Event;
using trace::EventKind;

constexpr std::size_t none = Row::none;

/// Gives: true for events whose region is that of their task. A promise or a mark may belong to another one.
constexpr bool tells_region(EventKind kind) noexcept {
  return kind == EventKind::spawn || kind == EventKind::complete || kind == EventKind::cancel_request ||
         kind == EventKind::cancel_ack || kind == EventKind::cancel_done || kind == EventKind::finalize ||
         kind == EventKind::forced;
}

/// First half: which rows there are, and how they hang together.
class RowFinder {
 public:
  explicit RowFinder(const std::vector<Event>& events) : events_(events) {}

  std::vector<Row> find() {
    for (std::size_t i = 0; i < events_.size(); ++i) meet(events_[i], i);
    std::vector<RegionId> line;  // a stack and no recursion: regions may nest to any depth
    for (const auto& [id, row] : regions_) {
      if (!parents_.contains(id)) line.insert(line.begin(), id);
    }
    rows_.emplace_back();
    while (!line.empty()) {
      const RegionId id = line.back();
      line.pop_back();
      place_region(id);
      const auto& below = children_[id];
      line.insert(line.end(), below.rbegin(), below.rend());
    }
    place_tasks({}, none);
    return std::move(rows_);
  }

 private:
  void meet(const Event& event, std::size_t at) {
    if (event.region) regions_.try_emplace(event.region);
    if (makes_region(event)) return meet_new_region(event, at);
    if (event.task) meet_task(event, at);
    const auto move = trace::region_move_in(event.argument);
    if (event.kind == EventKind::region_move && event.region && move && move->to == RegionState::closed) {
      regions_[event.region].last = at;
    }
  }

  void meet_new_region(const Event& event, std::size_t at) {
    Row& row = regions_[event.region];
    if (row.first != none) return;
    row.first = at;
    // A region is made before its children; in a trace that says otherwise there could be a circle.
    if (children_.contains(event.region)) return;
    const auto parent = RegionId::from_bits(event.resource.bits());
    regions_.try_emplace(parent);
    parents_[event.region] = parent;
    children_[parent].push_back(event.region);
  }

  void meet_task(const Event& event, std::size_t at) {
    const auto [place, fresh] = tasks_.try_emplace(event.task);
    Row& row = place->second;
    if (fresh) order_.push_back(event.task);
    if (!row.region && tells_region(event.kind)) row.region = event.region;
    if (event.kind == EventKind::finalize) row.finalizer = true;
    if ((event.kind == EventKind::spawn || event.kind == EventKind::finalize) && row.first == none) row.first = at;
    if (event.kind == EventKind::complete) row.last = at;
  }

  void place_region(RegionId id) {
    Row row = regions_[id];
    row.type = Row::Type::region;
    row.region = id;
    const auto parent = parents_.find(id);
    row.parent = parent == parents_.end() ? none : place_of_.at(parent->second);
    row.depth = row.parent == none ? 0 : rows_[row.parent].depth + 1;
    place_of_[id] = rows_.size();
    rows_.push_back(row);
    place_tasks(id, rows_.size() - 1);
  }

  void place_tasks(RegionId region, std::size_t parent) {
    if (tasks_by_region_.empty()) {
      for (const TaskId task : order_) tasks_by_region_[tasks_[task].region].push_back(task);
    }
    for (const TaskId task : tasks_by_region_[region]) {
      Row row = tasks_[task];
      row.type = Row::Type::task;
      row.task = task;
      row.parent = parent;
      row.depth = parent == none ? 0 : rows_[parent].depth + 1;
      rows_.push_back(row);
    }
  }

  const std::vector<Event>& events_;
  std::map<RegionId, Row> regions_;
  std::map<TaskId, Row> tasks_;
  std::vector<TaskId> order_;  // of first sight
  std::map<RegionId, std::vector<TaskId>> tasks_by_region_;
  std::map<RegionId, RegionId> parents_;
  std::map<RegionId, std::vector<RegionId>> children_;
  std::map<RegionId, std::size_t> place_of_;
  std::vector<Row> rows_;
};

/// Second half: what lasts.
class SpanFinder {
 public:
  SpanFinder(const std::vector<Event>& events, Story& story) : events_(events), story_(story) {
    for (std::size_t i = 0; i < story.rows.size(); ++i) {
      if (story.rows[i].type == Row::Type::task) task_rows_[story.rows[i].task] = i;
      if (story.rows[i].type == Row::Type::region) region_rows_[story.rows[i].region] = i;
    }
  }

  void find() {
    start_regions();
    for (std::size_t i = 0; i < events_.size(); ++i) {
      story_.row_of.push_back(row_of(events_[i]));
      story_.cause_of.push_back(cause_of(events_[i]));
      see(events_[i], i);
    }
    finish();
    std::sort(story_.spans.begin(), story_.spans.end(), [](const Span& a, const Span& b) {
      return std::tie(a.row, a.type, a.from, a.to) < std::tie(b.row, b.type, b.from, b.to);
    });
  }

 private:
  struct Polled {
    std::size_t row = none;
    std::size_t from = 0;
    std::size_t last = 0;
  };

  [[nodiscard]] std::size_t row_of(const Event& event) const {
    if (event.task && !makes_region(event)) return task_rows_.at(event.task);
    return event.region ? region_rows_.at(event.region) : 0;
  }

  [[nodiscard]] std::size_t cause_of(const Event& event) const {
    if (event.cause == 0) return none;
    const auto place = std::lower_bound(events_.begin(), events_.end(), event.cause,
                                        [](const Event& a, std::uint64_t sequence) { return a.sequence < sequence; });
    return place != events_.end() && place->sequence == event.cause ? static_cast<std::size_t>(place - events_.begin())
                                                                    : none;
  }

  void add(const Span& span) { story_.spans.push_back(span); }

  void end_wait(std::size_t row, std::size_t at, bool open) {
    const auto wait = waits_.find(row);
    if (wait == waits_.end()) return;
    add({.type = Span::Type::wait,
         .row = row,
         .from = wait->second.first,
         .to = at,
         .after = wait->second.second,
         .through = open,
         .open = open});
    waits_.erase(wait);
  }

  void see(const Event& event, std::size_t at) {
    const std::size_t row = story_.row_of[at];
    const bool turns =
        event.kind == EventKind::poll || event.kind == EventKind::choice || event.kind == EventKind::timer;
    Polled& polled = polls_[event.worker];
    if (turns) end_poll(polled);
    if (polled.row != none) polled.last = at;
    if (event.kind == EventKind::poll && event.task) begin_poll(polled, row, at);
    see_cancel(event, row, at);
    see_obligation(event, row, at);
    if (story_.rows[row].type == Row::Type::task && story_.rows[row].first == at) waits_[row] = {at, false};
    if (event.kind == EventKind::complete) end_wait(row, at, false);
    if (event.kind == EventKind::region_move && event.region) see_move(event, row, at);
  }

  void begin_poll(Polled& polled, std::size_t row, std::size_t at) {
    // Another worker may still be named as the one that polls it: its last events are its own business by now.
    for (auto& [worker, other] : polls_) {
      if (other.row == row) end_poll(other);
    }
    end_wait(row, at, false);
    polled = {row, at, at};
  }

  void end_poll(Polled& polled) {
    if (polled.row == none) return;
    add({.type = Span::Type::poll, .row = polled.row, .from = polled.from, .to = polled.last, .through = true});
    const Row& row = story_.rows[polled.row];
    if (row.last == none || row.last > polled.last) waits_[polled.row] = {polled.last, true};
    polled.row = none;
  }

  void see_cancel(const Event& event, std::size_t row, std::size_t at) {
    if (!event.task) return;
    if (event.kind == EventKind::cancel_request) cancels_.try_emplace(row, at);
    const auto cancel = cancels_.find(row);
    if (cancel == cancels_.end()) return;
    if (event.kind == EventKind::complete) {
      add({.type = Span::Type::cancel, .row = row, .from = cancel->second, .to = at, .through = true});
      cancels_.erase(cancel);
    }
  }

  void see_obligation(const Event& event, std::size_t row, std::size_t at) {
    if (event.kind == EventKind::reserve) promises_.try_emplace(event.resource, row, at);
    if (event.kind != EventKind::resolve) return;
    const auto promise = promises_.find(event.resource);
    if (promise == promises_.end()) return;
    add({.type = Span::Type::obligation,
         .row = promise->second.first,
         .from = promise->second.second,
         .to = at,
         .through = true});
    promises_.erase(promise);
  }

  /// A region that was not made in the trace is in the state which its first move leaves, from the start of the trace on.
  void start_regions() {
    std::map<std::size_t, RegionState> before;
    for (const Event& event : events_) {
      const auto move = trace::region_move_in(event.argument);
      if (event.kind != EventKind::region_move || !event.region || !move) continue;
      before.try_emplace(region_rows_.at(event.region), move->from);
    }
    for (const auto& [region, row] : region_rows_) {
      const std::size_t first = story_.rows[row].first;
      const auto state = before.find(row);
      states_[row] = {first == none ? 0 : first, state == before.end() ? RegionState::open : state->second};
    }
  }

  void see_move(const Event& event, std::size_t row, std::size_t at) {
    const auto move = trace::region_move_in(event.argument);
    if (!move) return;
    auto& [from, state] = states_.at(row);
    if (from < at) add({.type = Span::Type::state, .row = row, .from = from, .to = at, .state = state});
    from = at;
    state = move->to;
  }

  void finish() {
    if (events_.empty()) return;
    const std::size_t end = events_.size() - 1;
    for (auto& [worker, polled] : polls_) end_poll(polled);
    while (!waits_.empty()) end_wait(waits_.begin()->first, end, true);
    for (const auto& [row, from] : cancels_) add(open_span(Span::Type::cancel, row, from));
    for (const auto& [id, promise] : promises_) {
      add(open_span(Span::Type::obligation, promise.first, promise.second));
    }
    for (const auto& [row, present] : states_) {
      Span span = open_span(Span::Type::state, row, present.first);
      span.state = present.second;
      span.open = span.state != RegionState::closed;
      if (!span.open) span.to = span.from;
      add(span);
    }
  }

  [[nodiscard]] Span open_span(Span::Type type, std::size_t row, std::size_t from) const {
    return {.type = type, .row = row, .from = from, .to = events_.size() - 1, .through = true, .open = true};
  }

  const std::vector<Event>& events_;
  Story& story_;
  std::map<TaskId, std::size_t> task_rows_;
  std::map<RegionId, std::size_t> region_rows_;
  std::map<std::uint16_t, Polled> polls_;                      // by worker
  std::map<std::size_t, std::pair<std::size_t, bool>> waits_;  // by row, since when, and whether after that event
  std::map<std::size_t, std::size_t> cancels_;
  std::map<trace::ResourceId, std::pair<std::size_t, std::size_t>> promises_;
  std::map<std::size_t, std::pair<std::size_t, RegionState>> states_;
};

}  // namespace

Story story_of(const trace::Trace& trace) {
  Story story;
  story.rows = RowFinder(trace.events).find();
  SpanFinder(trace.events, story).find();
  return story;
}

std::string title_of(const Row& row, const trace::Names& names) {
  if (row.type == Row::Type::runtime) return "runtime";
  if (row.type == Row::Type::region) {
    const auto name = names.resources.find(row.region);
    return to_string(row.region) + (name == names.resources.end() ? "" : " " + name->second);
  }
  const auto name = names.tasks.find(row.task);
  return to_string(row.task) + (name == names.tasks.end() || name->second.name.empty() ? "" : " " + name->second.name);
}

}  // namespace calm::observe
