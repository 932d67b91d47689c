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

class Choices {
 public:
  /// Needs: the list, if any, outlives this object.
  Choices(std::uint64_t seed, const std::vector<std::uint32_t>* list) noexcept : numbers_(seed), list_(list) {}

  /// Gives: a number below `count`, and remembers it. Needs: a count of at least 2.
  std::uint32_t next(std::uint32_t count) {
    std::uint32_t choice = 0;
    if (list_ == nullptr) {
      choice = static_cast<std::uint32_t>(numbers_.below(count));
    } else if (made_.size() < list_->size()) {
      choice = (*list_)[made_.size()];
      if (choice >= count) {
        if (!misfit_) misfit_ = Misfit{.at = made_.size(), .choice = choice, .count = count};
        choice %= count;
      }
    }
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

  [[nodiscard]] const std::vector<std::uint32_t>& made() const noexcept { return made_; }

 private:
  SplitMix numbers_;
  const std::vector<std::uint32_t>* list_;
  std::vector<std::uint32_t> made_;
  std::optional<Misfit> misfit_;
};

}  // namespace calm::lab
