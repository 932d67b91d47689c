#include "calm/explore/tally.hpp"

#include <string>
#include <utility>

#include "calm/explore/repetition.hpp"

namespace calm::explore {
namespace {

constexpr std::size_t failures_kept = 8;

/// What an execution of too many steps does at its end.
std::string endless(Program& program, const Execution& run) {
  std::string text = "step limit: no end after " + std::to_string(run.size()) + " steps";
  const Repetition last = repetition_at_end(run.size(), 64, [&run](std::size_t i, std::size_t k) {
    const Event& a = run[static_cast<std::uint32_t>(i)];
    const Event& b = run[static_cast<std::uint32_t>(k)];
    return a.process == b.process && a.touched == b.touched;
  });
  if (last.period == 0) return text + ", and nothing that repeats";
  text += last.period == 1 ? "; the last one" : "; the last " + std::to_string(last.period);
  text += " came " + std::to_string(last.times) + " times:";
  std::string who;
  for (auto i = static_cast<std::uint32_t>(run.size() - last.period); i < run.size(); ++i) {
    const std::string name = program.name_of(run[i].process);
    if (name != who) text += (who.empty() ? " " : ", ") + name;
    who = name;
  }
  return text;
}

}  // namespace

ProcessSet Tally::end(Program& program, const Execution& run, bool cut_short) {
  const ProcessSet blocked = cut_short || program.failed() ? ProcessSet() : program.blocked();
  ++report_.executions;
  if (cut_short) ++report_.cut_short;
  if (!blocked.empty()) ++(program.spinning().empty() ? report_.deadlocks : report_.lassos);
  count_fingerprint(run.fingerprint());
  std::string problem = cut_short ? endless(program, run) : program.problem(!blocked.empty());
  if (!problem.empty()) {
    ++report_.buggy;
    if (report_.failures.size() < failures_kept) {
      report_.failures.push_back({std::move(problem), report_.executions, run.schedule(), run.ways()});
    }
  }
  if (listener_ != nullptr) listener_->ended(run, !blocked.empty());
  return blocked;
}

void Tally::count_fingerprint(std::uint64_t fingerprint) {
  if (!report_.fingerprints_known) return;
  if (!seen_.insert(fingerprint) || seen_.size() <= options_.max_fingerprints) return;
  report_.fingerprints_known = false;
  seen_ = {};
}

void Tally::restore(const Report& report, const std::vector<std::uint64_t>& fingerprints) {
  report_ = report;
  seen_ = {};
  for (const std::uint64_t fingerprint : fingerprints) (void)seen_.insert(fingerprint);
}

Report Tally::finish(bool exhausted) noexcept {
  report_.exhausted = exhausted;
  report_.fingerprints = seen_.size();
  return std::move(report_);
}

}  // namespace calm::explore
