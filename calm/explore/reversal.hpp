// reversal.hpp — what an execution would go on with if one of its races had gone the other way.
// Laws:    LAB-5
// Threads: one
// Cancel:  not applicable
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "calm/explore/execution.hpp"
#include "calm/explore/footprint.hpp"
#include "calm/explore/program.hpp"
#include "calm/explore/wakeup_tree.hpp"

namespace calm::explore {

/// The steps after an event that do not happen after it, but for one, and then perhaps that one at its new place.
class Reversal {
 public:
  struct View {
    Process process;
    const Footprint& touched;
    Way way;
    Way ways;
  };

  void collect(const Execution& run, std::uint32_t i, std::uint32_t without) {
    run_ = &run;
    if (steps_.size() < run.size()) steps_.resize(run.size());
    std::uint32_t* next = steps_.data();
    const std::uint16_t* seen = run.clock(i) + run[i].process;
    const std::uint32_t number = run[i].number;
    for (std::uint32_t k = i + 1; k < run.size(); ++k) {
      seen += run.width();
      *next = k;
      if (k != without && *seen < number) ++next;
    }
    count_ = static_cast<std::size_t>(next - steps_.data());
    has_last_ = false;
  }
  void append(Process process, const Footprint& touched, Way ways = 0) {
    last_.process = process;
    last_.touched = touched;
    last_.way = 0;
    last_.ways = ways;
    has_last_ = true;
  }
  void set_last_way(Way way) noexcept { last_.way = way; }

  [[nodiscard]] std::size_t size() const noexcept { return count_ + (has_last_ ? 1 : 0); }
  [[nodiscard]] View operator[](std::size_t k) const noexcept {
    if (k == count_) return {last_.process, last_.touched, last_.way, last_.ways};
    const Event& event = (*run_)[steps_.data()[k]];
    return {event.process, event.touched, event.way, event.ways};
  }
  /// Gives: the place of the first step of the process; size() when there is none.
  [[nodiscard]] std::size_t first_of(Process process) const noexcept {
    std::size_t k = 0;
    while (k < size() && (*this)[k].process != process) ++k;
    return k;
  }
  /// Gives: how many events of the execution say which steps there are up to this one; 0 when it takes all of them.
  [[nodiscard]] std::uint32_t known_after(std::size_t k) const noexcept {
    return k < count_ ? steps_.data()[k] + 1 : 0;
  }

  void copy_to(std::vector<Foreseen>& sequence) const {
    sequence.clear();
    for (std::size_t k = 0; k < size(); ++k) {
      const View step = (*this)[k];
      sequence.push_back({step.process, step.touched, step.way, step.ways});
    }
  }

 private:
  const Execution* run_ = nullptr;
  std::vector<std::uint32_t> steps_;  // the first count_ of them
  std::size_t count_ = 0;
  Foreseen last_;
  bool has_last_ = false;
};

}  // namespace calm::explore
