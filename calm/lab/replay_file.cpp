#include "calm/lab/replay_file.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "calm/model/text.hpp"
#include "calm/trace/text.hpp"

namespace calm::lab {
namespace {

constexpr std::size_t quoted_max = 40;  // of a line that is wrong: it may be anything
constexpr std::uint64_t events_max = std::uint64_t{1} << 28;

std::string hex(std::uint64_t number) {
  std::array<char, 16> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number, 16).ptr;
  return {text.data(), end};
}

std::optional<std::uint64_t> number_in(std::string_view text, int base) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number, base);
  if (text.empty() || read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

/// Reads the lines of the file, one after the other, and keeps the first thing that is wrong.
class Reader {
 public:
  explicit Reader(std::string_view text) noexcept : rest_(text) {}

  [[nodiscard]] bool failed() const noexcept { return error_.has_value(); }
  [[nodiscard]] Error error() const { return error_.value_or(Error(Errc::protocol)); }

  void fail(Errc code, std::string_view what) {
    if (error_) return;
    error_.emplace(code, std::string("line ").append(std::to_string(line_)).append(": ").append(what));
  }

  /// Gives: the value of the next line, which must have this key; nothing after a failure.
  std::string_view value(std::string_view key) {
    const std::string_view line = next();
    if (failed()) return {};
    if (line.substr(0, line.find(' ')) != key || line.size() <= key.size()) {
      fail(Errc::protocol, std::string("expected ")
                               .append(key)
                               .append(" and a value, found ")
                               .append(quoted(line.substr(0, quoted_max))));
      return {};
    }
    return line.substr(key.size() + 1);
  }

  std::uint64_t number(std::string_view key, int base = 10, std::uint64_t most = UINT64_MAX) {
    const std::string_view text = value(key);
    if (failed()) return 0;
    const auto number = number_in(text, base);
    if (!number || *number > most) {
      fail(Errc::protocol, quoted(text).append(" is no number that ").append(key).append(" can have"));
      return 0;
    }
    return *number;
  }

  trace::Event event() {
    std::string_view line = next();
    if (failed()) return {};
    line = line.substr(0, line.find('#'));
    trace::EventWords words{};
    for (std::uint64_t& word : words) {
      const std::string_view text = line.substr(0, line.find(' '));
      const auto number = number_in(text, 16);
      if (!number) {
        fail(Errc::protocol, "an event has eight hexadecimal numbers");
        return {};
      }
      word = *number;
      line.remove_prefix(std::min(line.size(), text.size() + 1));
    }
    if (line.find_first_not_of(' ') != std::string_view::npos)
      fail(Errc::protocol, "an event has eight numbers, not more");
    const trace::Event event = trace::from_words(words);
    if (trace::to_words(event) != words || trace::find_event_kind(static_cast<std::uint8_t>(event.kind)) == nullptr) {
      fail(Errc::protocol, "no event has these numbers");
    }
    return event;
  }

  void end() {
    if (failed()) return;
    const std::string_view line = skip_to_line();
    if (!line.empty())
      fail(Errc::protocol,
           std::string("nothing may follow the events, found ").append(quoted(line.substr(0, quoted_max))));
  }

 private:
  std::string_view next() {
    if (failed()) return {};
    const std::string_view line = skip_to_line();
    if (line.empty()) fail(Errc::protocol, "the file ends too early");
    return line;
  }

  /// Gives: the next line that says something; an empty one at the end.
  std::string_view skip_to_line() {
    while (!rest_.empty()) {
      const std::size_t end = rest_.find('\n');
      const std::string_view line = rest_.substr(0, end);
      rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
      ++line_;
      if (!line.empty() && line.front() != '#') return line;
    }
    ++line_;
    return {};
  }

  std::string_view rest_;
  std::uint64_t line_ = 0;
  std::optional<Error> error_;
};

std::string event_line(const trace::Event& event) {
  std::string line;
  for (const std::uint64_t word : trace::to_words(event)) line.append(hex(word)).append(" ");
  return line.append(to_string(event)).append("\n");
}

}  // namespace

std::string write_recording(const LabConfig& config, const LabReport& report) {
  const kernel::Config& kernel = config.kernel;
  std::string text = "calm-replay 1\n";
  const auto add = [&](std::string_view key, const std::string& value) {
    text.append(key).append(" ").append(value).append("\n");
  };
  add("program", config.program.empty() ? "-" : config.program);
  add("max-steps", std::to_string(config.max_steps));
  add("regions", std::to_string(kernel.ceilings.regions));
  add("tasks", std::to_string(kernel.ceilings.tasks));
  add("obligations", std::to_string(kernel.ceilings.obligations));
  add("trace-capacity", std::to_string(kernel.trace_capacity));
  add("schedule", to_string(report.schedule));
  add("state-digest", hex(report.state_digest));
  add("trace-digest", hex(report.trace_digest));
  add("events", std::to_string(report.trace.events.size()));
  for (const trace::Event& event : report.trace.events) text += event_line(event);
  return text;
}

Outcome<Recording> read_recording(std::string_view text) {
  Reader reader(text);
  Recording recording;
  LabConfig& config = recording.config;
  if (const std::uint64_t form = reader.number("calm-replay"); !reader.failed() && form != 1) {
    reader.fail(Errc::unsupported, "this version reads form 1 only");
  }
  if (const std::string_view name = reader.value("program"); name != "-") config.program = name;
  config.max_steps = reader.number("max-steps");
  config.kernel.ceilings.regions = static_cast<std::uint32_t>(reader.number("regions", 10, UINT32_MAX));
  config.kernel.ceilings.tasks = static_cast<std::uint32_t>(reader.number("tasks", 10, UINT32_MAX));
  config.kernel.ceilings.obligations = static_cast<std::uint32_t>(reader.number("obligations", 10, UINT32_MAX));
  config.kernel.trace_capacity = reader.number("trace-capacity", 10, trace::ring_capacity_max);
  const std::string_view word = reader.value("schedule");
  if (!reader.failed()) {
    auto schedule = parse_schedule(word);
    if (schedule) {
      config = with_schedule(std::move(config), schedule.value());
    } else {
      reader.fail(Errc::protocol, schedule.error().message());
    }
  }
  recording.state_digest = reader.number("state-digest", 16);
  recording.trace_digest = reader.number("trace-digest", 16);
  const std::uint64_t count = reader.number("events", 10, events_max);
  for (std::uint64_t i = 0; i < count && !reader.failed(); ++i) recording.trace.events.push_back(reader.event());
  reader.end();
  if (!reader.failed() && trace::trace_digest(recording.trace) != recording.trace_digest) {
    reader.fail(Errc::protocol, "the events do not have the trace digest that the file says");
  }
  if (reader.failed()) return err(reader.error());
  return ok(std::move(recording));
}

LabReport expected_report(const Recording& recording) {
  return {.seed = recording.config.seed,
          .schedule = {.program = recording.config.program,
                       .seed = recording.config.seed,
                       .faults = recording.config.faults,
                       .choices = recording.config.choices},
          .chosen_by_seed = !recording.config.choices,
          .trace = recording.trace,
          .trace_digest = recording.trace_digest,
          .state_digest = recording.state_digest};
}

}  // namespace calm::lab
