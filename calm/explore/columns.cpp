#include "calm/explore/columns.hpp"

#include <algorithm>
#include <map>

#include "calm/explore/footprint.hpp"

namespace calm::explore {
namespace {

/// Small numbers for places, by first use.
class Places {
 public:
  /// `read x0, write x1`, or with a word for all of it `lock x1`.
  std::string text(const Footprint& touched, std::string_view word = {}) {
    std::string result;
    for (std::uint32_t i = 0; i < touched.size(); ++i) {
      const auto place = numbers_.try_emplace(touched[i].location(), numbers_.size()).first;
      if (i > 0) result += ", ";
      if (word.empty()) result += touched[i].is_write() ? "write " : "read ";
      if (i == 0 && !word.empty()) result.append(word).append(" ");
      result += "x" + std::to_string(place->second);
    }
    return result;
  }

 private:
  std::map<Location, std::size_t> numbers_;
};

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

/// How often the `period` lines from `at` on stand there, one after the other.
std::size_t count_same(const std::vector<std::string>& lines, std::size_t at, std::size_t period) {
  std::size_t end = at + period;
  while (end < lines.size() && lines[end] == lines[end - period]) ++end;
  return (end - at) / period;
}

/// Numbers the lines; those that come again and again are shown once.
std::string numbered(const std::vector<std::string>& lines) {
  constexpr std::size_t longest_period = 16;
  constexpr std::size_t enough = 4;
  std::string text;
  std::size_t shown_to = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (std::size_t period = 1; i >= shown_to && period <= longest_period && i + enough * period <= lines.size();
         ++period) {
      const std::size_t times = count_same(lines, i, period);
      if (times < enough) continue;
      for (std::size_t k = i; k < i + period; ++k) text += "\n  " + padded(std::to_string(k + 1), 6) + lines[k];
      text += "\n  " + padded("…", 8) + (period == 1 ? "this step" : "these " + std::to_string(period) + " steps") +
              " " + std::to_string(times - 1) + " more times";
      shown_to = i + times * period;
    }
    if (i >= shown_to) text += "\n  " + padded(std::to_string(i + 1), 6) + lines[i];
  }
  return text;
}

/// The steps of a schedule, and how they stand beside each other.
class Table {
 public:
  Table(Program& program, const std::vector<Process>& schedule) : who_(schedule) {
    std::sort(who_.begin(), who_.end());
    who_.erase(std::unique(who_.begin(), who_.end()), who_.end());
    for (const Process process : who_) names_.push_back(program.name_of(process));
  }

  void add(Process process, std::string text) {
    const auto column = static_cast<std::size_t>(std::find(who_.begin(), who_.end(), process) - who_.begin());
    cells_.push_back({column, std::move(text)});
  }

  [[nodiscard]] std::string text() const {
    const std::vector<std::size_t> begins = places();
    std::string head;
    for (std::size_t i = 0; i < names_.size(); ++i) head = padded(std::move(head), begins[i]) + names_[i];
    std::vector<std::string> lines;
    lines.reserve(cells_.size());
    for (const Cell& cell : cells_) lines.push_back(std::string(begins[cell.column], ' ') + cell.text);
    return "        " + head + numbered(lines);
  }

 private:
  struct Cell {
    std::size_t column = 0;
    std::string text;
  };

  /// Where each column begins: all are equally wide where that fits on a screen, else as narrow as they can be.
  [[nodiscard]] std::vector<std::size_t> places() const {
    constexpr std::size_t usual = 16;
    constexpr std::size_t screen = 96;
    std::vector<std::size_t> widths;
    widths.reserve(names_.size());
    for (const std::string& name : names_) widths.push_back(name.size() + 2);
    for (const Cell& cell : cells_) widths[cell.column] = std::max(widths[cell.column], cell.text.size() + 2);
    std::vector<std::size_t> begins(widths.size());
    for (std::size_t i = 1; i < widths.size(); ++i) {
      begins[i] = begins[i - 1] + (widths.size() * usual <= screen ? std::max(usual, widths[i - 1]) : widths[i - 1]);
    }
    return begins;
  }

  std::vector<Process> who_;
  std::vector<std::string> names_;
  std::vector<Cell> cells_;
};

}  // namespace

std::string columns(Program& program, const std::vector<Process>& schedule, const std::vector<Way>& ways) {
  program.restart();
  Table table(program, schedule);
  Places places;
  Footprint touched;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    touched.clear();
    (void)take_step(program, schedule[i], i < ways.size() ? ways[i] : Way{0}, touched);
    const std::string note = program.note();
    table.add(schedule[i], places.text(touched, program.last_step()) + (note.empty() ? "" : " (" + note + ")"));
  }
  std::string text = table.text();
  const ProcessSet blocked = program.failed() ? ProcessSet() : program.blocked();
  const ProcessSet spinning = program.spinning();
  for (std::uint64_t left = blocked.bits(); left != 0; left &= left - 1) {
    const auto process = static_cast<Process>(std::countr_zero(left));
    touched.clear();
    program.pending(process, touched);
    text += "\n  " + program.name_of(process) +
            (spinning.has(process) ? " repeats for ever: " : " waits for ever to ") + places.text(touched);
  }
  text += "\n";
  return text;
}

}  // namespace calm::explore
