#include "calm/sched/recorded_run.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "calm/model/text.hpp"

namespace calm::sched {
namespace {

constexpr std::size_t quoted_part = 40;  // of a line that is wrong: it may be anything
constexpr std::uint16_t recorded_workers_max = 1024;

std::span<const std::byte> bytes_of(std::string_view text) noexcept { return std::as_bytes(std::span(text)); }

std::string hex_text(std::uint64_t number) {
  std::array<char, 16> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number, 16).ptr;
  return {text.data(), end};
}

std::optional<std::uint64_t> read_number(std::string_view text, int base) noexcept {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number, base);
  if (text.empty() || read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

/// The words of a line, from the left.
class Words {
 public:
  explicit Words(std::string_view line) noexcept : rest_(line) {}

  [[nodiscard]] bool empty() const noexcept { return rest_.empty(); }
  [[nodiscard]] std::string_view rest() const noexcept { return rest_; }
  std::string_view next() noexcept {
    const std::string_view word = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(std::min(rest_.size(), word.size() + 1));
    return word;
  }

 private:
  std::string_view rest_;
};

/// Reads line by line and keeps the first thing that is wrong.
class RunReader {
 public:
  RunReader(std::string_view text, Cut cut) noexcept : text_(text), cut_(cut) {}

  Outcome<RecordedRun> read() {
    read_header();
    while (!error_ && !over_) read_line();
    if (!error_ && !next_line().empty()) fail(Errc::protocol, "nothing may follow the end");
    if (error_) return err(*std::move(error_));
    return ok(std::move(run_));
  }

 private:
  void fail(Errc code, std::string_view what) {
    if (error_) return;
    error_.emplace(code, std::string("line ").append(std::to_string(line_)).append(": ").append(what));
  }
  void fail_at(std::string_view what, std::string_view line) {
    fail(Errc::protocol, std::string(what).append(", found ").append(quoted(line.substr(0, quoted_part))));
  }

  /// Gives: the next line that says something; an empty one at the end. A last line without a newline was cut off.
  std::string_view next_line() {
    while (at_ < text_.size()) {
      const std::size_t end = text_.find('\n', at_);
      whole_ = end != std::string_view::npos;
      const std::string_view line = text_.substr(at_, whole_ ? end - at_ : end);
      at_ = whole_ ? end + 1 : text_.size();
      ++line_;
      if (!line.empty() && line.front() != '#') return line;
    }
    ++line_;
    return {};
  }

  // --- the header ---

  /// Gives: the words behind this key.
  Words header(std::string_view key) {
    const std::string_view line = error_ ? std::string_view() : next_line();
    Words words(line);
    if (words.next() == key && !words.empty() && whole_) return words;
    if (line.empty()) {
      fail(Errc::protocol, std::string("the file ends before it says ").append(key));
    } else if (run_begun_) {
      fail_at(std::string("expected ").append(key).append(" and a value"), line);
    } else {
      fail_at("this is no recording of a run: expected calm-recording 1", line);
    }
    return Words({});
  }
  template <std::size_t count>
  std::array<std::uint64_t, count> numbers(std::string_view key, int base = 10) {
    std::array<std::uint64_t, count> values{};
    Words words = header(key);
    for (std::uint64_t& value : values) value = number(words, base);
    expect_no_more(words);
    return values;
  }
  std::uint64_t number(Words& words, int base = 10, std::uint64_t most = UINT64_MAX) {
    if (error_) return 0;
    const std::string_view word = words.next();
    const auto value = read_number(word, base);
    if (value && *value <= most) return *value;
    fail_at("expected a number that may stand here", word);
    return 0;
  }
  void expect_no_more(const Words& words) {
    if (!words.empty()) fail(Errc::protocol, "the line says too much");
  }

  void read_header() {
    const std::uint64_t form = numbers<1>("calm-recording")[0];
    if (!error_ && form != 1) fail(Errc::unsupported, "this version reads form 1 only");
    run_begun_ = true;
    Words name = header("program");
    if (const std::string_view program = name.next(); program != "-") run_.program = program;
    expect_no_more(name);
    const std::uint64_t workers = numbers<1>("workers")[0];
    if (!error_ && (workers == 0 || workers > recorded_workers_max)) fail(Errc::protocol, "no run has so many workers");
    run_.workers = static_cast<std::uint16_t>(workers);
    run_.several = numbers<1>("several")[0] != 0;
    run_.seed = numbers<1>("seed", 16)[0];
    read_config();
  }
  void read_config() {
    kernel::Config& kernel = run_.kernel;
    const auto ceilings = numbers<3>("ceilings");
    kernel.ceilings = {narrow(ceilings[0]), narrow(ceilings[1]), narrow(ceilings[2])};
    const auto limits = numbers<4>("limits");
    kernel.root_limits = {narrow(limits[0]), narrow(limits[1]), narrow(limits[2]), limits[3]};
    const auto budget = numbers<4>("budget");
    kernel.root_budget = {.deadline = Deadline::from_raw(budget[0]),
                          .polls = Quota::from_raw(budget[1]),
                          .cost = Quota::from_raw(budget[2]),
                          .priority = static_cast<std::uint8_t>(narrow(budget[3], UINT8_MAX))};
    const auto leaks = numbers<4>("leaks");
    constexpr auto strictest = static_cast<std::uint64_t>(kernel::LeakPolicy::panic);
    kernel.leaks = {.policy = static_cast<kernel::LeakPolicy>(narrow(leaks[0], strictest)),
                    .threshold = leaks[1],
                    .then = static_cast<kernel::LeakPolicy>(narrow(leaks[2], strictest))};
    kernel.strict_tokens = leaks[3] != 0;
  }
  std::uint32_t narrow(std::uint64_t value, std::uint64_t most = UINT32_MAX) {
    if (value > most) fail(Errc::protocol, "a number is too large");
    return static_cast<std::uint32_t>(value);
  }

  // --- what happened ---

  void read_line() {
    const std::string_view line = next_line();
    if (line.empty() || !whole_) return cut_off();
    Words words(line);
    const std::string_view key = words.next();
    if (key == "task") {
      run_.tasks.emplace_back(words.next());
    } else if (key == "end") {
      read_end(words);
    } else if (!read_step(key, words) && !read_input(key, words)) {
      fail_at("no recording has such a line", line);
    }
    expect_no_more(words);
  }
  void cut_off() {
    over_ = true;
    run_.cut = true;
    if (cut_ == Cut::accept) return;
    fail(Errc::protocol,
         std::string("the file ends after ")
             .append(std::to_string(run_.steps.size()))
             .append(" steps without the line `end`: it was cut off, or its run did not come to an end"));
  }
  bool read_step(std::string_view key, Words& words) {
    const auto* const name = std::find(std::begin(step_kind_names), std::end(step_kind_names), key);
    if (name == std::end(step_kind_names)) return false;
    RecordedStep step{.kind = static_cast<StepKind>(name - std::begin(step_kind_names))};
    step.worker = static_cast<std::uint16_t>(number(words, 10, std::uint64_t{run_.workers} - 1));
    step.at = time(words);
    if (has_task(step.kind)) {
      if (run_.tasks.empty()) fail(Errc::protocol, "no task has a number yet");
      step.task = static_cast<std::uint32_t>(number(words, 10, run_.tasks.size() - 1));
    }
    run_.steps.push_back(std::move(step));
    return true;
  }
  bool read_input(std::string_view key, Words& words) {
    if (key == "result") return read_result(words);
    const bool known = key == "clock" || key == "refused" || key == "withdrawn" || key == "ended";
    if (!known) return false;
    if (run_.steps.empty() || run_.steps.back().kind != StepKind::poll || run_.steps.back().ended) {
      fail(Errc::protocol, std::string(key).append(" stands in no poll"));
      return true;
    }
    RecordedStep& poll = run_.steps.back();
    if (key == "ended") {
      poll.ended = true;
    } else if (key == "clock") {
      poll.inputs.push_back({InputKind::clock, time(words).ns()});
    } else if (key == "refused") {
      poll.inputs.push_back({InputKind::refused, 0});
    } else {
      poll.inputs.push_back({InputKind::withdrawn, number(words, 10, 1)});
    }
    return true;
  }
  bool read_result(Words& words) {
    if (run_.steps.empty() || run_.steps.back().kind != StepKind::blocking || run_.steps.back().result) {
      fail(Errc::protocol, "result belongs to no call that blocks");
      return true;
    }
    std::string_view digits = words.next();
    if (digits == "-") digits = {};
    std::string bytes;
    for (; !digits.empty(); digits.remove_prefix(std::min<std::size_t>(2, digits.size()))) {
      const auto byte = read_number(digits.substr(0, 2), 16);
      if (!byte || digits.size() < 2) {
        fail(Errc::protocol, "a result is two hexadecimal digits for each byte");
        return true;
      }
      bytes += static_cast<char>(*byte);
    }
    run_.steps.back().result = std::move(bytes);
    return true;
  }
  Time time(Words& words) {
    now_ns_ += number(words, 10, UINT64_MAX - now_ns_);
    return Time::at_ns(now_ns_);
  }
  void read_end(Words& words) {
    over_ = true;
    run_.end = static_cast<OutcomeKind>(number(words, 10, static_cast<std::uint64_t>(OutcomeKind::panicked)));
    if (number(words) != run_.steps.size()) fail(Errc::protocol, "it does not have as many steps as it says");
    const auto before = static_cast<std::size_t>(words.rest().data() - text_.data());
    if (number(words, 16) != trace::xxh64(bytes_of(text_.substr(0, before)))) {
      fail(Errc::protocol, "the checksum is wrong: something was changed since it was written");
    }
  }

  std::string_view text_;
  Cut cut_;
  std::size_t at_ = 0;
  bool whole_ = true;  // it ended with a newline
  bool run_begun_ = false;
  bool over_ = false;
  std::uint64_t line_ = 0;
  std::uint64_t now_ns_ = 0;
  RecordedRun run_;
  std::optional<Error> error_;
};

}  // namespace

// --- writing ---

void RunText::number(std::uint64_t value) {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  text_.append(1, ' ').append(digits.data(), end);
}

/// Times go on: each is read from the clock in its turn.
std::uint64_t RunText::since_last(std::uint64_t ns) noexcept {
  const std::uint64_t since = ns > last_ns_ ? ns - last_ns_ : 0;
  last_ns_ += since;
  return since;
}

void RunText::begin(const RecordedRun& header) {
  const kernel::Config& kernel = header.kernel;
  const auto line = [this](std::string_view key, std::initializer_list<std::uint64_t> values) {
    text_.append(key);
    for (const std::uint64_t value : values) number(value);
    text_.append(1, '\n');
  };
  line("calm-recording", {1});
  text_.append("program ").append(header.program.empty() ? "-" : header.program).append(1, '\n');
  line("workers", {header.workers});
  line("several", {header.several ? 1U : 0U});
  text_.append("seed ").append(hex_text(header.seed)).append(1, '\n');
  line("ceilings", {kernel.ceilings.regions, kernel.ceilings.tasks, kernel.ceilings.obligations});
  line("limits", {kernel.root_limits.tasks, kernel.root_limits.regions, kernel.root_limits.obligations,
                  kernel.root_limits.heap_bytes});
  line("budget", {kernel.root_budget.deadline.raw(), kernel.root_budget.polls.raw(), kernel.root_budget.cost.raw(),
                  kernel.root_budget.priority});
  line("leaks", {static_cast<std::uint64_t>(kernel.leaks.policy), kernel.leaks.threshold,
                 static_cast<std::uint64_t>(kernel.leaks.then), kernel.strict_tokens ? 1U : 0U});
}

void RunText::task(std::string_view path) { text_.append("task ").append(path).append(1, '\n'); }

void RunText::step(StepKind kind, std::uint16_t worker, Time at, std::uint32_t task) {
  ++steps_;
  text_.append(step_kind_names[static_cast<std::uint8_t>(kind)]);
  number(worker);
  number(since_last(at.ns()));
  if (has_task(kind)) number(task);
  text_.append(1, '\n');
}

void RunText::input(InputKind kind, std::uint64_t value) {
  switch (kind) {
    case InputKind::clock:
      text_.append("clock");
      number(since_last(value));
      break;
    case InputKind::refused:
      text_.append("refused");
      break;
    case InputKind::withdrawn:
      text_.append("withdrawn");
      number(value);
      break;
  }
  text_.append(1, '\n');
}

void RunText::result(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  text_.append("result ");
  for (const char byte : bytes) {
    const auto number = static_cast<unsigned char>(byte);
    text_.append(1, digits[number >> 4U]).append(1, digits[number & 15U]);
  }
  text_.append(bytes.empty() ? "-\n" : "\n");
}

void RunText::ended() { text_.append("ended\n"); }

void RunText::taken() {
  hash_.add(bytes_of(text_));
  text_.clear();
}

void RunText::end(OutcomeKind kind) {
  text_.append("end");
  number(static_cast<std::uint64_t>(kind));
  number(steps_);
  text_.append(1, ' ');
  trace::Hasher all = hash_;
  all.add(bytes_of(text_));
  text_.append(hex_text(all.digest())).append(1, '\n');
}

std::string write_run(const RecordedRun& run) {
  RunText text;
  text.begin(run);
  for (const std::string& path : run.tasks) text.task(path);
  for (const RecordedStep& step : run.steps) {
    text.step(step.kind, step.worker, step.at, step.task);
    for (const RecordedInput& input : step.inputs) text.input(input.kind, input.value);
    if (step.ended) text.ended();
    if (step.result) text.result(*step.result);
  }
  text.end(run.end);
  return std::string(text.text());
}

Outcome<RecordedRun> read_run(std::string_view text, Cut cut) { return RunReader(text, cut).read(); }

}  // namespace calm::sched
