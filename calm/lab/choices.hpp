// choices.hpp — who decides which of the runnable tasks is next: the seed, or a list from an earlier run; and what was decided.
// Laws:    LAB-3, SCH-7, I6
// Threads: one
// Cancel:  not applicable
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "calm/model/split_mix.hpp"

namespace calm::lab {

/// The choices of a run that leave a task which could go on, or take another than the one that waits longest.
struct Switches {
  struct Switch {
    std::size_t at;  ///< the how manieth choice, from 0
    std::uint32_t choice;
  };
  std::vector<Switch> list{};  ///< ascending
  bool led = false;            ///< they lead the run; else the run fills them in

  [[nodiscard]] std::uint32_t at(std::size_t choice, std::uint32_t otherwise) const noexcept {
    for (const Switch& one : list) {
      if (one.at == choice) return one.choice;
    }
    return otherwise;
  }
};

class Choices {
 public:
  /// Needs: the list and the switches, if any, outlive this object.
  Choices(std::uint64_t seed, const std::vector<std::uint32_t>* list, Switches* switches) noexcept
      : numbers_(seed), list_(list), switches_(switches) {}

  /// Gives: a number below `count`, and remembers it. `staying` is the one that lets the task that ran last go on.
  /// Needs: a count of at least 2.
  std::uint32_t next(std::uint32_t count, std::uint32_t staying) {
    std::uint32_t choice = 0;
    if (switches_ != nullptr && switches_->led) {
      choice = switches_->at(made_.size(), staying) % count;
    } else if (list_ == nullptr) {
      choice = static_cast<std::uint32_t>(numbers_.below(count));
    } else if (made_.size() < list_->size()) {
      choice = (*list_)[made_.size()];
      if (choice >= count) {
        if (!misfit_) misfit_ = Misfit{.at = made_.size(), .choice = choice, .count = count};
        choice %= count;
      }
    }
    if (switches_ != nullptr && !switches_->led && choice != staying) switches_->list.push_back({made_.size(), choice});
    made_.push_back(choice);
    return choice;
  }

  /// Remembers a choice that somebody else made.
  void add(std::uint32_t choice) { made_.push_back(choice); }

  /// A choice of the list for which there were too few tasks: it is of another program, or of one that does not repeat
  /// itself. The choice is taken modulo their count then.
  struct Misfit {
    std::size_t at;
    std::uint32_t choice;
    std::uint32_t count;
  };
  /// Gives: the first of them.
  [[nodiscard]] const std::optional<Misfit>& misfit() const noexcept { return misfit_; }

  /// Gives: true when neither a seed nor a list made them.
  [[nodiscard]] bool are_led() const noexcept { return switches_ != nullptr && switches_->led; }

  [[nodiscard]] const std::vector<std::uint32_t>& made() const noexcept { return made_; }

 private:
  SplitMix numbers_;
  const std::vector<std::uint32_t>* list_;
  Switches* switches_;
  std::vector<std::uint32_t> made_;
  std::optional<Misfit> misfit_;
};

}  // namespace calm::lab
