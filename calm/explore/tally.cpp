#include "calm/explore/tally.hpp"

#include <string>
#include <utility>

namespace calm::explore {
namespace {

constexpr std::size_t failures_kept = 8;

}  // namespace

ProcessSet Tally::end(Program& program, const Execution& run, bool livelock) {
  const ProcessSet blocked = livelock || program.failed() ? ProcessSet() : program.blocked();
  ++report_.executions;
  if (!blocked.empty()) ++report_.deadlocks;
  count_fingerprint(run.fingerprint());
  std::string problem = livelock ? "it takes more than " + std::to_string(options_.max_steps) + " steps"
                                 : program.problem(!blocked.empty());
  if (!problem.empty()) {
    ++report_.buggy;
    if (report_.failures.size() < failures_kept) {
      report_.failures.push_back({std::move(problem), report_.executions, run.schedule()});
    }
  }
  if (listener_ != nullptr) listener_->ended(run, !blocked.empty());
  return blocked;
}

void Tally::count_fingerprint(std::uint64_t fingerprint) {
  if (!report_.fingerprints_known || seen_.contains(fingerprint)) return;
  if (seen_.size() < options_.max_fingerprints) {
    seen_.insert(fingerprint);
    return;
  }
  report_.fingerprints_known = false;
  seen_ = {};
}

Report Tally::finish(bool exhausted) noexcept {
  report_.exhausted = exhausted;
  report_.fingerprints = seen_.size();
  return std::move(report_);
}

}  // namespace calm::explore
