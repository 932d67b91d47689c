// reversal.hpp — what an execution would go on with if one of its races had gone the other way.
// Laws:    LAB-5
// Threads: one
// Cancel:  not applicable
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "calm/explore/execution.hpp"
#include "calm/explore/footprint.hpp"
#include "calm/explore/program.hpp"
#include "calm/explore/wakeup_tree.hpp"

namespace calm::explore {

/// So many events of the execution say that something is so: while they stay what they are, so does that.
using Settled = std::uint32_t;
inline constexpr Settled never_settled = UINT32_MAX;

/// The steps after an event that do not happen after it, and the later one of the race at its new place.
class Reversal {
 public:
  /// Of the race of event i with the fixed step at `with`, which stands where it stood: what follows it there commutes with it.
  void collect(const Execution& run, std::uint32_t i, std::uint32_t with) {
    run_ = &run;
    after_ = i;
    with_ = with;
    has_last_ = false;
    dropped_.clear();
    if (steps_.size() < run.size()) steps_.resize(run.size());
    std::uint32_t* next = steps_.data();
    const std::uint16_t* seen = run.clock(i) + run[i].process;
    const std::uint32_t number = run[i].number;
    for (std::uint32_t k = i + 1; k < run.size(); ++k) {
      seen += run.width();
      *next = k;
      if (k == with || *seen < number) ++next;
    }
    count_ = static_cast<std::size_t>(next - steps_.data());
  }
  /// Of a race of event i with a free step: that one is appended when it is known what it touches there.
  void collect(const Execution& run, std::uint32_t i) { collect(run, i, run.size()); }
  void append(Process process, const Footprint& touched, Way ways) {
    last_.process = process;
    last_.touched = touched;
    last_.way = 0;
    last_.ways = ways;
    has_last_ = true;
  }
  void set_last_way(Way way) noexcept { last_.way = way; }

  [[nodiscard]] std::size_t size() const noexcept { return count_ + (has_last_ ? 1 : 0); }
  struct View {
    Process process;
    const Footprint& touched;
    Way way;
    Way ways;
  };
  [[nodiscard]] View operator[](std::size_t k) const noexcept {
    if (k == count_) return {last_.process, last_.touched, last_.way, last_.ways};
    const Event& event = (*run_)[steps_.data()[k]];
    return {event.process, event.touched, event.way, event.ways};
  }
  /// Gives: the place of the first step of the process; size() when there is none.
  [[nodiscard]] std::size_t first_of(Process process) const noexcept {
    for (std::size_t k = 0; k < count_; ++k) {
      if (run_->brief(steps_.data()[k]).process == process) return k;
    }
    return has_last_ && last_.process == process ? count_ : size();
  }

  struct Answer {
    bool yes;
    Settled settled;
  };
  /// Gives: as is_weak_initial() of these steps.
  [[nodiscard]] Answer is_weak_initial(Process process, Way way, const Footprint& next) const noexcept {
    const std::size_t first = first_of(process);
    const bool is_here = first < size();
    if (is_here && (*this)[first].way != way) return {false, settled_at(first)};
    const Footprint& touched = is_here ? (*this)[first].touched : next;
    for (std::size_t k = 0; k < first; ++k) {
      if (!(*this)[k].touched.conflicts(touched)) continue;
      return {false, is_here ? settled_at(first) : std::max(settled_without(process), settled_at(k))};
    }
    return {true, is_here ? settled_at(first) : never_settled};
  }

  /// Takes out the first step of the process, if there is one.
  void drop_first_of(Process process) {
    const std::size_t k = first_of(process);
    if (k == size()) return;
    if (k == count_) {
      has_last_ = false;
      dropped_.push_back({k, with_});
      return;
    }
    dropped_.push_back({k, steps_[k]});
    std::copy(steps_.data() + k + 1, steps_.data() + count_, steps_.data() + k);
    --count_;
  }
  /// Puts all that was dropped where it was.
  void take_back() noexcept {
    for (; !dropped_.empty(); dropped_.pop_back()) {
      const Dropped& one = dropped_.back();
      if (one.index == run_->size()) {
        has_last_ = true;
        continue;
      }
      std::copy_backward(steps_.data() + one.place, steps_.data() + count_, steps_.data() + count_ + 1);
      steps_[one.place] = one.index;
      ++count_;
    }
  }

  /// The later step of the race comes last.
  void copy_to(std::vector<Foreseen>& sequence) const {
    sequence.clear();
    for (std::size_t k = 0; k < count_; ++k) {
      if (steps_[k] != with_) sequence.push_back(foreseen((*run_)[steps_[k]]));
    }
    sequence.push_back(has_last_ ? last_ : foreseen((*run_)[with_]));
  }

 private:
  struct Dropped {
    std::size_t place;
    std::uint32_t index;
  };

  [[nodiscard]] static Foreseen foreseen(const Event& event) {
    return {event.process, event.touched, event.way, event.ways};
  }
  /// What the free step touches at its new place may depend on everything.
  [[nodiscard]] Settled settled_at(std::size_t k) const noexcept {
    return k < count_ ? steps_.data()[k] + 1 : never_settled;
  }
  /// Who has no step here has none as long as its next event of the execution, which happens after event i, is the same.
  [[nodiscard]] Settled settled_without(Process process) const noexcept {
    std::uint32_t k = after_ + 1;
    for (const Dropped& one : dropped_) {
      if (one.index < run_->size() && run_->brief(one.index).process == process) k = std::max(k, one.index + 1);
    }
    while (k < run_->size() && run_->brief(k).process != process) ++k;
    return k < run_->size() ? k + 1 : never_settled;
  }

  const Execution* run_ = nullptr;
  std::uint32_t after_ = 0;
  std::uint32_t with_ = 0;            // the later step of the race; size() of the execution when it is free
  std::vector<std::uint32_t> steps_;  // the first count_ of them
  std::vector<Dropped> dropped_;
  std::size_t count_ = 0;
  Foreseen last_;
  bool has_last_ = false;
};

}  // namespace calm::explore
