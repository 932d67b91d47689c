#include "calm/lab/report.hpp"

namespace calm::lab {
namespace {

constexpr std::size_t choices_in_a_word = 256;

consteval bool oracles_are_in_order() {
  for (std::size_t i = 0; i < std::size(oracle_table); ++i) {
    if (static_cast<std::uint8_t>(oracle_table[i].oracle) != i) return false;
  }
  return static_cast<std::uint8_t>(Oracle::determinism) + 1 == std::size(oracle_table);
}
static_assert(oracles_are_in_order(), "LAB-6: every oracle has its row");

}  // namespace

std::string LabReport::replay_word() const {
  if (!chosen_by_seed || !schedule.choices || schedule.choices->size() <= choices_in_a_word) return to_string(schedule);
  Schedule shorter = schedule;
  shorter.choices.reset();
  return to_string(shorter);
}

std::string to_string(const LabReport& report) {
  std::string text = "calm lab: seed " + std::to_string(report.seed) + ", " + std::to_string(report.steps) +
                     " steps, " + to_string(report.end_time) + ": " + std::string(to_string(report.end.kind()));
  for (const Problem& problem : report.problems) text += "\n" + problem.text;
  if (!report.is_clean() && !report.followed) text += "\ncalm lab: the schedule is " + report.replay_word();
  return text;
}

}  // namespace calm::lab
