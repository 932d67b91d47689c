#include "calm/explore/saved.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <utility>

#include "calm/trace/hash.hpp"
#include "calm/trace/text.hpp"

namespace calm::explore {
namespace {

constexpr std::string_view first_line = "calm exploration 1";

// --- writing ---

void append(std::string& text, std::uint64_t number) { text.append(" ").append(std::to_string(number)); }

void append(std::string& text, const Foreseen& step) {
  append(text, step.process);
  append(text, step.way);
  append(text, step.ways);
  append(text, step.touched.size());
  for (std::uint32_t i = 0; i < step.touched.size(); ++i) append(text, step.touched[i].bits());
}

std::string digest_of(std::string_view text) {
  return trace::digest_text(trace::xxh64(std::as_bytes(std::span(text.data(), text.size()))));
}

// --- reading ---

/// The words of a line, one after the other.
class Words {
 public:
  explicit Words(std::string_view line) noexcept : rest_(line) {}

  std::string_view word() noexcept {
    const std::size_t end = rest_.find(' ');
    const std::string_view found = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
    return found;
  }
  template <class Number>
  bool take(Number& number) noexcept {
    const std::string_view text = word();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return !text.empty() && error == std::errc() && end == text.data() + text.size();
  }
  bool take(Foreseen& step) {
    std::uint32_t touches = 0;
    if (!take(step.process) || step.process >= process_max) return false;
    if (!take(step.way) || !take(step.ways) || !take(touches)) return false;
    for (std::uint32_t i = 0; i < touches; ++i) {
      std::uint32_t bits = 0;
      if (!take(bits)) return false;
      step.touched.add(Touch::from_bits(bits));
    }
    return true;
  }
  [[nodiscard]] std::string_view rest() const noexcept { return rest_; }
  [[nodiscard]] bool is_end() const noexcept { return rest_.empty(); }

 private:
  std::string_view rest_;
};

class Reader {
 public:
  /// Gives: what is wrong with the line, or nothing.
  std::optional<std::string> read(std::string_view line) {
    Words words(line);
    const std::string_view what = words.word();
    if (what == "program") {
      saved.program = words.rest();
      return std::nullopt;
    }
    if (what == "problem") return problem(words);
    if (!take(what, words) || !words.is_end())
      return "'" + std::string(what) + "' is not followed by what belongs there";
    return std::nullopt;
  }

  Saved saved;

 private:
  bool take(std::string_view what, Words& words) {
    if (what == "report") {
      Report& report = saved.report;
      std::uint32_t known = 0;
      const bool read = words.take(report.executions) && words.take(report.deadlocks) && words.take(report.lassos) &&
                        words.take(report.cut_short) && words.take(report.buggy) && words.take(report.steps) &&
                        words.take(report.replayed) && words.take(known);
      report.fingerprints_known = known != 0;
      return read;
    }
    if (what == "fingerprint") return words.take(saved.fingerprints.emplace_back());
    if (what == "step") return words.take(saved.points.emplace_back().taken);
    if (saved.points.empty()) return false;
    SavedPoint& point = saved.points.back();
    if (what == "tried") return words.take(point.tried.emplace_back());
    if (what != "pending") return false;
    const std::uint32_t deepest = point.pending.empty() ? 0 : point.pending.back().depth + 1;
    SavedNode& node = point.pending.emplace_back();
    return words.take(node.depth) && node.depth <= deepest && words.take(node.step);
  }

  std::optional<std::string> problem(Words& words) {
    Failure& failure = saved.report.failures.emplace_back();
    std::uint32_t steps = 0;
    if (!words.take(failure.execution) || !words.take(steps)) return "a problem without its schedule";
    for (std::uint32_t i = 0; i < steps; ++i) {
      if (!words.take(failure.schedule.emplace_back())) return "a problem without its schedule";
      if (!words.take(failure.ways.emplace_back())) return "a problem without its schedule";
    }
    if (std::all_of(failure.ways.begin(), failure.ways.end(), [](Way way) { return way == 0; })) failure.ways.clear();
    failure.problem = words.rest();
    return std::nullopt;
  }
};

}  // namespace

std::string to_text(const Saved& saved) {
  std::string text = std::string(first_line) + "\nprogram " + saved.program + "\nreport";
  const Report& report = saved.report;
  for (const std::uint64_t number :
       {report.executions, report.deadlocks, report.lassos, report.cut_short, report.buggy, report.steps,
        report.replayed, std::uint64_t{report.fingerprints_known ? 1U : 0U}}) {
    append(text, number);
  }
  text += "\n";
  for (const Failure& failure : report.failures) {
    text += "problem";
    append(text, failure.execution);
    append(text, failure.schedule.size());
    for (std::size_t i = 0; i < failure.schedule.size(); ++i) {
      append(text, failure.schedule[i]);
      append(text, failure.ways.empty() ? 0U : failure.ways[i]);
    }
    text.append(" ").append(failure.problem.substr(0, failure.problem.find('\n'))).append("\n");
  }
  for (const SavedPoint& point : saved.points) {
    text += "step";
    append(text, point.taken);
    text += "\n";
    for (const Foreseen& tried : point.tried) {
      text += "tried";
      append(text, tried);
      text += "\n";
    }
    for (const SavedNode& node : point.pending) {
      text += "pending";
      append(text, node.depth);
      append(text, node.step);
      text += "\n";
    }
  }
  for (const std::uint64_t fingerprint : saved.fingerprints)
    text += "fingerprint " + std::to_string(fingerprint) + "\n";
  return text + "digest " + digest_of(text) + "\n";
}

Outcome<Saved> saved_in(std::string_view text) {
  Reader reader;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    ++number;
    const auto refuse = [number](const std::string& what) {
      return err(Errc::protocol, "line " + std::to_string(number) + ": " + what);
    };
    if (number == 1 && line != first_line) return refuse("this is no exploration that was saved");
    if (line.starts_with("digest ")) {
      if (line.substr(7) != digest_of(text.substr(0, at))) return refuse("the digest is another: the text was changed");
      return ok(std::move(reader.saved));
    }
    if (number != 1) {
      if (const auto wrong = reader.read(line)) return refuse(*wrong);
    }
    at = end + 1;
  }
  return err(Errc::protocol, "line " + std::to_string(number + 1) + ": the end is missing");
}

}  // namespace calm::explore
