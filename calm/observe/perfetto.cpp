#include "calm/observe/perfetto.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "calm/observe/story.hpp"
#include "calm/observe/words.hpp"
#include "calm/trace/json_text.hpp"
#include "calm/trace/text.hpp"

namespace calm::observe {
namespace {

using trace::append_json;

class PerfettoWriter {
 public:
  PerfettoWriter(const trace::Trace& trace, const trace::Names& names, Axis axis)
      : trace_(trace), names_(names), story_(story_of(trace)), slot_ns_(axis == Axis::order ? 1000 : 10) {
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < trace.events.size(); ++i) {
      const std::uint64_t wanted = axis == Axis::order ? i * slot_ns_ : trace.events[i].time.ns();
      last = i == 0 ? wanted : std::max(wanted, last + slot_ns_);
      starts_ns_.push_back(last);
    }
  }

  std::string write() {
    for (std::size_t row = 0; row < story_.rows.size(); ++row) name_row(row);
    for (const Span& span : story_.spans) add_span(span);
    for (std::size_t i = 0; i < trace_.events.size(); ++i) add_event(i);
    std::sort(lines_.begin(), lines_.end(), [](const Line& a, const Line& b) {
      return std::tie(a.at_ns, a.rank, a.order) < std::tie(b.at_ns, b.rank, b.order);
    });
    std::string out = "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"digest\":";
    append_json(out, trace::digest_text(trace_digest(trace_)));
    append_json(out.append(",\"overwritten\":"), trace_.overwritten);
    out.append("},\"traceEvents\":[");
    for (const Line& line : lines_) out.append(out.back() == '[' ? "\n" : ",\n").append(line.text);
    return out.append("\n]}\n");
  }

 private:
  /// What ends comes before what begins at the same time, and names before all.
  enum class Rank : std::uint8_t { name, end, begin, event };
  struct Line {
    std::uint64_t at_ns;
    Rank rank;
    std::size_t order;  // of those at one time and of one rank
    std::string text;
  };

  /// A region is a process; what has none belongs to process 0.
  [[nodiscard]] std::size_t process_of(std::size_t row) const {
    const Row& it = story_.rows[row];
    if (it.type == Row::Type::region) return row;
    return it.type == Row::Type::task && it.parent != Row::none ? it.parent : 0;
  }
  [[nodiscard]] std::size_t thread_of(std::size_t row) const {
    return story_.rows[row].type == Row::Type::task ? row : 0;
  }

  [[nodiscard]] std::uint64_t begin_of(const Span& span) const {
    return span.after ? after(span.from) : starts_ns_[span.from];
  }
  [[nodiscard]] std::uint64_t end_of(const Span& span) const {
    return span.through ? after(span.to) : starts_ns_[span.to];
  }
  [[nodiscard]] std::uint64_t after(std::size_t event) const { return starts_ns_[event] + slot_ns_ * 9 / 10; }

  /// Gives: `{"ph":"B","ts":0.25,"pid":1,"tid":2,"name":"poll"`, to be continued; a time is in microseconds.
  [[nodiscard]] std::string head(std::string_view phase, std::uint64_t at_ns, std::size_t row,
                                 std::string_view name) const {
    std::string fraction = std::to_string(1000 + at_ns % 1000);
    fraction[0] = '.';
    std::string out = "{\"ph\":";
    append_json(out, phase);
    out.append(",\"ts\":").append(std::to_string(at_ns / 1000)).append(fraction);
    out.append(",\"pid\":").append(std::to_string(process_of(row)));
    out.append(",\"tid\":").append(std::to_string(thread_of(row))).append(",\"name\":");
    append_json(out, name);
    return out;
  }

  void add(Rank rank, std::uint64_t at_ns, std::string text) {
    lines_.push_back({at_ns, rank, lines_.size(), std::move(text.append("}"))});
  }

  void name_row(std::size_t row) {
    const Row& it = story_.rows[row];
    const bool process = it.type != Row::Type::task;
    const auto names = [&](std::string_view what, std::string_view key, std::string_view value, bool number) {
      std::string text = head("M", 0, row, what);
      append_json(text.append(",\"args\":{"), key);
      text.append(":");
      if (number) {
        text.append(value);
      } else {
        append_json(text, value);
      }
      add(Rank::name, 0, text.append("}"));
    };
    const std::string title = it.type == Row::Type::region ? "region " + title_of(it, names_) : title_of(it, names_);
    names(process ? "process_name" : "thread_name", "name", title, false);
    if (it.type == Row::Type::region) names("thread_name", "name", "state", false);
    names(process ? "process_sort_index" : "thread_sort_index", "sort_index", std::to_string(row), true);
    if (process && it.parent != Row::none) {
      names("process_labels", "labels", "in " + title_of(story_.rows[it.parent], names_), false);
    }
  }

  void add_span(const Span& span) {
    const trace::Event& first = trace_.events[span.from];
    switch (span.type) {
      case Span::Type::poll:
        return add_slice(span, "poll");
      case Span::Type::wait:
        return add_slice(span, "wait");
      case Span::Type::state:
        return add_slice(span, to_string(span.state));
      case Span::Type::cancel:
        return add_asynchronous(span, "cancel", "cancel " + trace::argument_text(first));
      case Span::Type::obligation:
        return add_asynchronous(span, "obligation", to_string(first.resource) + " " + trace::argument_text(first));
    }
  }

  void add_slice(const Span& span, std::string_view name) {
    add(Rank::begin, begin_of(span), head("B", begin_of(span), span.row, name));
    add(Rank::end, end_of(span), head("E", end_of(span), span.row, name));
  }

  void add_asynchronous(const Span& span, std::string_view category, const std::string& name) {
    const auto with_id = [&](std::string text) {
      append_json(text.append(",\"cat\":"), category);
      append_json(text.append(",\"id\":"), std::to_string(trace_.events[span.from].sequence));
      return text;
    };
    add(Rank::begin, begin_of(span), with_id(head("b", begin_of(span), span.row, name)));
    add(Rank::end, end_of(span), with_id(head("e", end_of(span), span.row, name)));
  }

  void add_event(std::size_t at) {
    const trace::Event& event = trace_.events[at];
    const std::size_t row = story_.row_of[at];
    if (story_.rows[row].type == Row::Type::runtime) {  // a slice, so that a flow can begin there
      add(Rank::begin, starts_ns_[at], head("B", starts_ns_[at], row, to_string(event.kind)));
      add(Rank::end, after(at), head("E", after(at), row, to_string(event.kind)));
    }
    std::string text = head("i", starts_ns_[at], row, to_string(event.kind));
    append_json(text.append(",\"s\":\"t\",\"args\":{\"sequence\":"), event.sequence);
    append_json(text.append(",\"says\":"), sentence_of(event, names_));
    append_json(text.append(",\"time\":"), to_string(event.time));
    append_json(text.append(",\"worker\":"), std::uint64_t{event.worker});
    if (event.resource) append_json(text.append(",\"resource\":"), to_string(event.resource));
    if (event.cause != 0) append_json(text.append(",\"cause\":"), event.cause);
    append_json(text.append(",\"laws\":"), lore_of(event.kind).laws);
    add(Rank::event, starts_ns_[at], text.append("}"));
    if (story_.cause_of[at] != Row::none) add_flow(story_.cause_of[at], at);
  }

  void add_flow(std::size_t from, std::size_t to) {
    const auto flow = [&](std::string_view phase, std::size_t at) {
      std::string text = head(phase, starts_ns_[at], story_.row_of[at], "causes");
      append_json(text.append(",\"cat\":\"cause\",\"id\":"), std::to_string(trace_.events[to].sequence));
      if (phase == "f") text.append(",\"bp\":\"e\"");
      add(Rank::event, starts_ns_[at], text);
    };
    flow("s", from);
    flow("f", to);
  }

  const trace::Trace& trace_;
  const trace::Names& names_;
  Story story_;
  std::uint64_t slot_ns_;
  std::vector<std::uint64_t> starts_ns_;
  std::vector<Line> lines_;
};

}  // namespace

std::string to_perfetto(const trace::Trace& trace, const trace::Names& names, Axis axis) {
  return PerfettoWriter(trace, names, axis).write();
}

}  // namespace calm::observe
