// choices.hpp — who decides which of the runnable tasks is next: the seed, or a list from an earlier run; and what was decided.
// Laws:    LAB-3, SCH-7, I6
// Threads: one
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "calm/lab/random.hpp"

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
        if (!impossible_) impossible_ = made_.size();
        choice %= count;
      }
    }
    made_.push_back(choice);
    return choice;
  }

  [[nodiscard]] std::vector<std::uint32_t> take() noexcept { return std::move(made_); }
  /// Gives: the place in the list of the first choice that there were too few tasks for: another program, or one that
  ///        does not repeat itself.
  [[nodiscard]] std::optional<std::size_t> impossible() const noexcept { return impossible_; }

 private:
  SplitMix numbers_;
  const std::vector<std::uint32_t>* list_;
  std::vector<std::uint32_t> made_;
  std::optional<std::size_t> impossible_;
};

}  // namespace calm::lab
