#include "calm/explore/schedule_word.hpp"

#include <charconv>
#include <utility>

#include "calm/model/text.hpp"

namespace calm::explore {
namespace {

constexpr std::string_view checksum_mark = "-z";

std::uint32_t checksum_of(const Execution& run) noexcept {
  return static_cast<std::uint32_t>(run.fingerprint() ^ run.fingerprint() >> 32U);
}

std::string hex_text(std::uint32_t number) {
  std::string text(8, '0');
  for (std::size_t i = text.size(); i-- > 0; number >>= 4U) text[i] = "0123456789abcdef"[number & 0xFU];
  return text;
}

Error wrong(std::string_view what, std::string_view part) {
  return {Errc::invalid_argument, std::string("a schedule: ").append(what).append(" in ").append(quoted(part))};
}

/// Gives: the number that the whole text is; none when it is not one, or larger than `most`.
std::optional<std::uint32_t> number_in(std::string_view text, int base, std::uint32_t most) {
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc() || rest != end || number > most) return std::nullopt;
  return number;
}

/// `0x3`: a process and how many steps it takes. Gives: what is wrong with it, if anything.
std::optional<Error> add_run(std::string_view part, std::vector<Process>& schedule) {
  const std::size_t times = part.find('x');
  const auto process = number_in(part.substr(0, times), 10, process_max - 1);
  if (!process) return wrong("no number of a process", part);
  const auto steps = times == std::string_view::npos ? 1 : number_in(part.substr(times + 1), 10, word_steps_max);
  if (!steps || *steps == 0) return wrong("no number of steps", part);
  if (schedule.size() + *steps > word_steps_max) return wrong("too many steps", part);
  schedule.insert(schedule.end(), *steps, static_cast<Process>(*process));
  return std::nullopt;
}

}  // namespace

std::string to_word(const Execution& run) {
  std::string word;
  for (std::uint32_t i = 0; i < run.size();) {
    std::uint32_t end = i;
    while (end < run.size() && run[end].process == run[i].process) ++end;
    if (i != 0) word += '.';
    word += std::to_string(run[i].process);
    if (end - i > 1) word += "x" + std::to_string(end - i);
    i = end;
  }
  return word.append(checksum_mark).append(hex_text(checksum_of(run)));
}

Outcome<ScheduleWord> from_word(std::string_view word) {
  ScheduleWord result;
  std::string_view runs = word;
  if (const std::size_t mark = word.find(checksum_mark); mark != std::string_view::npos) {
    runs = word.substr(0, mark);
    result.checksum = number_in(word.substr(mark + checksum_mark.size()), 16, UINT32_MAX);
    if (!result.checksum) return wrong("no checksum", word.substr(mark));
  }
  while (!runs.empty()) {
    const std::size_t dot = runs.find('.');
    if (auto error = add_run(runs.substr(0, dot), result.schedule)) return *std::move(error);
    if (dot == std::string_view::npos) break;
    runs.remove_prefix(dot + 1);
    if (runs.empty()) return wrong("nothing after the last dot", word);
  }
  return result;
}

Outcome<Rerun> run_again(Program& program, const ScheduleWord& word) {
  Rerun rerun;
  program.restart();
  for (const Process process : word.schedule) {
    if (program.failed() || !program.enabled().has(process)) {
      return Error(Errc::invalid_argument, "the schedule is not one of this program: " + program.name_of(process) +
                                               " cannot take step " + std::to_string(rerun.run.size() + 1) +
                                               " [LAB-3]");
    }
    Event& event = rerun.run.next();
    event.process = process;
    event.kind = program.step(process, event.touched);
    rerun.run.finish();
  }
  if (word.checksum && *word.checksum != checksum_of(rerun.run)) {
    return Error(Errc::invalid_argument, "the schedule led to other steps than it did before, checksum " +
                                             hex_text(checksum_of(rerun.run)) + " and not " + hex_text(*word.checksum) +
                                             " [LAB-3]");
  }
  rerun.ended = program.failed() || program.enabled().empty();
  if (rerun.ended) rerun.problem = program.problem(!program.failed() && !program.blocked().empty());
  return rerun;
}

}  // namespace calm::explore
