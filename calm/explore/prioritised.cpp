#include "calm/explore/prioritised.hpp"

#include <algorithm>
#include <array>
#include <queue>
#include <unordered_set>
#include <utility>
#include <vector>

#include "calm/explore/execution.hpp"
#include "calm/explore/not_deterministic.hpp"
#include "calm/explore/score.hpp"

namespace calm::explore {
namespace {

/// How an execution is to begin.
struct Beginning {
  Score score;                    // of the execution it comes from
  std::uint64_t turn = 0;         // of those with the same score the last one made comes first
  std::uint64_t fingerprint = 0;  // of all steps but the last
  std::vector<Process> steps;

  bool operator<(const Beginning& other) const noexcept {
    return score != other.score ? score < other.score : turn < other.turn;
  }
};

class Prioritised {
 public:
  Prioritised(Program& program, const Options& options, Listener* listener)
      : program_(program), options_(options), tally_(options, listener) {}

  Report run() {
    line_.emplace();
    while (!line_.empty()) {
      const Beginning beginning = line_.top();
      line_.pop();
      if (!begin(beginning)) continue;
      const bool livelock = go_on();
      const ProcessSet blocked = tally_.end(program_, run_, livelock);
      if (tally_.is_enough()) return tally_.finish(false);
      if (!visited_.insert(run_.fingerprint()).second) {
        ++tally_.report().blocked;
        continue;
      }
      make_beginnings(blocked);
    }
    return tally_.finish(true);
  }

 private:
  // --- running ---

  /// Gives: false when the last step cannot run there.
  bool begin(const Beginning& beginning) {
    program_.restart();
    run_.cut_to(0);
    for (std::size_t i = 0; i < beginning.steps.size(); ++i) {
      const Process process = beginning.steps[i];
      const bool last = i + 1 == beginning.steps.size();
      if (last && run_.fingerprint() != beginning.fingerprint) {
        throw NotDeterministic(run_, process, "comes after steps that are others than before");
      }
      if (!program_.enabled().has(process)) {
        if (last) return false;
        throw NotDeterministic(run_, process, "cannot run");
      }
      take(process);
      if (!last) ++tally_.report().replayed;
    }
    return true;
  }

  /// Goes on with whoever has not run for the longest time. Gives: true when it was cut short.
  bool go_on() {
    while (!program_.failed()) {
      const ProcessSet enabled = program_.enabled();
      if (enabled.empty()) return false;
      if (run_.size() >= options_.max_steps) return true;
      take(longest_idle(enabled));
      ++tally_.report().steps;
    }
    return false;
  }

  [[nodiscard]] Process longest_idle(ProcessSet enabled) const noexcept {
    Process best = enabled.lowest();
    for (std::uint64_t left = enabled.bits(); left != 0; left &= left - 1) {
      const auto process = static_cast<Process>(std::countr_zero(left));
      if (run_.last_of(process) < run_.last_of(best)) best = process;
    }
    return best;
  }

  void take(Process process) {
    Event& event = run_.next();
    event.process = process;
    event.kind = program_.step(process, event.touched);
    run_.finish();
  }

  // --- races ---

  void make_beginnings(ProcessSet blocked) {
    const Score score = score_of(run_);
    for (std::uint64_t left = blocked.bits(); left != 0; left &= left - 1) {
      const auto process = static_cast<Process>(std::countr_zero(left));
      waiting_.clear();
      program_.pending(process, waiting_);
      reverse(score, process, StepKind::free, waiting_, run_.last_of(process), run_.size());
    }
    for (std::uint32_t at = run_.size(); at-- > 0;) {
      const Event& event = run_[at];
      reverse(score, event.process, event.kind, event.touched, event.previous, at);
    }
  }

  /// Tries the step before each event that it conflicts with and is not ordered with otherwise. A fixed one can run wherever
  /// it stands, so an event that it is in a race with hides those that happen before it.
  void reverse(const Score& score, Process process, StepKind kind, const Footprint& touched, std::uint32_t previous,
               std::uint32_t at) {
    covered_.fill(0);
    if (previous != 0) cover(previous - 1);
    for (std::uint32_t i = at; i-- > 0;) {
      const Event& other = run_[i];
      if (other.process == process || covered_[other.process] >= other.number) continue;
      if (!other.touched.conflicts(touched)) continue;
      add_beginning(score, i, at, process);
      if (kind == StepKind::fixed) cover(i);
    }
  }

  void cover(std::uint32_t i) noexcept {
    const std::uint16_t* const clock = run_.clock(i);
    for (std::uint32_t p = 0; p < run_.width(); ++p) covered_[p] = std::max(covered_[p], clock[p]);
  }

  /// All but the step at `at` that does not happen after event i, then that step.
  void add_beginning(const Score& score, std::uint32_t i, std::uint32_t at, Process process) {
    Beginning beginning{.score = score, .turn = turn_++, .fingerprint = 0, .steps = {}};
    for (std::uint32_t k = 0; k < run_.size(); ++k) {
      if (k == at || (k >= i && run_.happens_before(i, k))) continue;
      beginning.steps.push_back(run_[k].process);
      // The part of an event is the same in every execution that has what happens before it.
      beginning.fingerprint += run_[k].fingerprint - (k == 0 ? 0 : run_[k - 1].fingerprint);
    }
    beginning.steps.push_back(process);
    if (!made_.insert(beginning.fingerprint ^ (process + std::uint64_t{1}) * 0x9E3779B97F4A7C15).second) return;
    line_.push(std::move(beginning));
  }

  Program& program_;
  Options options_;
  Tally tally_;
  Execution run_;
  std::priority_queue<Beginning> line_;
  std::uint64_t turn_ = 0;
  std::unordered_set<std::uint64_t> visited_;  // fingerprints of executions
  std::unordered_set<std::uint64_t> made_;     // beginnings, by fingerprint and last process
  std::array<std::uint16_t, process_max> covered_{};
  Footprint waiting_;
};

}  // namespace

Report explore_prioritised(Program& program, const Options& options, Listener* listener) {
  return Prioritised(program, options, listener).run();
}

}  // namespace calm::explore
