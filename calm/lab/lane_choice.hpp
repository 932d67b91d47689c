// lane_choice.hpp — who is next in a run of the lab when lanes under a governor choose, as a worker does, and not a seed.
// Laws:    SCH-1..4 (the order and its bounds), SCH-3 (decisions stand in the trace), SCH-7 (ties), LAB-1
// Threads: one
// Cancel:  not applicable
//
// Every decision of the governor is a row of marks in the trace, each a name and a number:
//   governor suggestion, governor constraint                          numbers of the enumerators
//   governor potential of tasks | obligations | finalizers | deadlines
//   governor candidate none | meet-deadlines | drain-obligations | drain-regions     if candidates were compared
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "calm/kernel/kernel.hpp"
#include "calm/lab/evidence.hpp"
#include "calm/lab/host.hpp"
#include "calm/sched/seeded_ties.hpp"
#include "calm/sched/steering.hpp"
#include "calm/trace/reader.hpp"

namespace calm::lab {

class LaneChoice {
 public:
  /// The first three outlive this. Without ties who came first is first among equals.
  LaneChoice(const sched::Governor& governor, kernel::LocalKernel& kernel, LabPort& port,
             std::optional<sched::SeededTies> ties) noexcept
      : steering_(governor), ties_(ties), kernel_(kernel), port_(port) {}

  /// Gives: the place in `ready` of the task to dispatch; that entry is taken out before the next call, new ones stand
  ///        behind the others. Needs: not empty.
  [[nodiscard]] std::uint32_t next(const std::deque<Ready>& ready);

  /// Nothing is runnable: time goes on.
  void parked() noexcept { lanes_.parked(); }

  /// Gives: every dispatch up to now, for the oracle of fairness.
  [[nodiscard]] std::vector<LaneDispatch> take_dispatches() noexcept { return std::move(dispatches_); }
  [[nodiscard]] sched::Certificate certificate() const noexcept { return lanes_.certificate(); }

 private:
  struct Waiting {
    sched::Lane lane;
    std::uint64_t since;  // dispatches when it came
    std::uint64_t bound;  // of dispatches until it must be served, in the ready lane
  };

  void let_in(const std::deque<Ready>& ready);
  void record(const sched::Decision& decision);
  void mark(std::string_view name, std::uint64_t value);

  sched::Lanes<lockfree::LocalAtomics> lanes_;
  sched::Steering steering_;
  std::optional<sched::SeededTies> ties_;
  kernel::LocalKernel& kernel_;
  LabPort& port_;
  std::size_t known_ = 0;  // entries of the list that are in the lanes
  std::map<TaskId, Waiting> waiting_;
  std::vector<LaneDispatch> dispatches_;
};

/// Gives: the decisions of a governor that stand in the trace, in order.
[[nodiscard]] std::vector<sched::Decision> decisions_of(const trace::Trace& trace);

}  // namespace calm::lab
