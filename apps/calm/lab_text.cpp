#include "apps/calm/lab_text.hpp"

#include <fmt/format.h>

#include <iostream>

#include "calm/model/time.hpp"

namespace calm::tool {

CapturedOutput::CapturedOutput() : before_(std::cout.rdbuf(kept_.rdbuf())) {}
CapturedOutput::~CapturedOutput() { std::cout.rdbuf(before_); }

std::string digest_text(std::uint64_t digest) { return fmt::format("{:016x}", digest); }

std::string again_line(std::string_view example, std::uint64_t seed) {
  return fmt::format("again     calm run {} --lab --seed {}", example, seed);
}

bool went_well(const lab::LabReport& report) noexcept { return report.is_clean() && report.end.is_ok(); }

std::string describe(const lab::LabReport& report, const std::vector<std::string>& more) {
  std::string text = fmt::format("lab: seed {}, {} steps, {} of virtual time\n", report.seed, report.steps,
                                 to_string(report.end_time - Time()));
  text += fmt::format("  ended as  {}\n", report.end.is_ok() ? "Ok" : report.end.explain());
  text +=
      fmt::format("  trace     {} events, digest {}\n", report.trace.events.size(), digest_text(report.trace_digest));
  for (const std::string& line : more) text += "  " + line + "\n";
  if (report.is_clean()) return text + fmt::format("  oracles   all {} found nothing\n", std::size(lab::oracle_table));
  std::vector<std::string_view> names;
  names.reserve(report.problems.size());
  for (const lab::Problem& problem : report.problems) names.push_back(lab::describe(problem.oracle).name);
  text += fmt::format("  oracles   found something: {}\n", fmt::join(names, ", "));
  for (const lab::Problem& problem : report.problems) text += problem.text + "\n";
  return text;
}

}  // namespace calm::tool
