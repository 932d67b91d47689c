// tally.hpp — keeps the report of an exploration while it goes on: the same for every strategy.
// Laws:    LAB-5, LAB-6
// Threads: one
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <vector>

#include "calm/explore/execution.hpp"
#include "calm/explore/fingerprint_set.hpp"
#include "calm/explore/program.hpp"
#include "calm/explore/report.hpp"

namespace calm::explore {

/// Hears of every execution when it has come to its end.
class Listener {
 public:
  virtual void ended(const Execution& execution, bool deadlock) = 0;
  /// Hears now and then how many executions there may be in all; only optimal exploration can tell.
  virtual void expects(double /*executions*/) {}

 protected:
  ~Listener() = default;
};

class Tally {
 public:
  Tally(const Options& options, Listener* listener) noexcept : options_(options), listener_(listener) {}

  [[nodiscard]] Report& report() noexcept { return report_; }

  /// The program stands at the end of this execution, or where it was `cut_short`.
  /// Gives: the processes that are blocked for ever.
  ProcessSet end(Program& program, const Execution& run, bool cut_short);

  /// Gives: true when an option says that this is enough.
  [[nodiscard]] bool is_enough() const noexcept {
    return report_.executions >= options_.max_executions || report_.cut_short != 0 ||
           (options_.stop_at_first_problem && !report_.ok()) ||
           (options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed));
  }

  [[nodiscard]] Report finish(bool exhausted) noexcept;

  /// What a tally that goes on needs to know.
  [[nodiscard]] std::vector<std::uint64_t> fingerprints() const { return seen_.all(); }
  void restore(const Report& report, const std::vector<std::uint64_t>& fingerprints);

 private:
  void count_fingerprint(std::uint64_t fingerprint);

  Options options_;
  Listener* listener_;
  Report report_;
  FingerprintSet seen_;
};

}  // namespace calm::explore
