// words.hpp — the words that a scenario may use for the values of the model, written as the laws write them.
// Laws:    LAB-11
// Threads: constants
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace calm::scenario {

/// A word and the number of the enumerator it stands for.
struct Word {
  std::string_view name;
  std::uint64_t number;
};
using Words = std::span<const Word>;

/// Stands for "there is none" where a look may say so.
inline constexpr std::uint64_t no_value = UINT64_MAX;

/// Which set of words a field takes.
enum class WordSet : std::uint8_t {
  answer,  ///< ok, or the name of an error
  error,
  cancel_kind,
  reason_kind,  ///< or none
  obligation_kind,
  region_state,
  task_state,
  obligation_state,  ///< or gone: the record is no longer there
  outcome,
  outcome_or_none,
  poll_start,
  phase,
  phase_or_none,
  fold_policy,
  cleanup_mode,
  escalation,
  reports_to,
  leak_policy,
  when_full,
  finding,
  event_kind,
  wake_state,
  channel_kind,
  governor,
};

Words words_of(WordSet set) noexcept;

/// Gives: the word, or nullptr.
const Word* find_word(WordSet set, std::string_view name) noexcept;

/// Gives: all words of the set, for error texts.
std::vector<std::string_view> names_of(WordSet set);

}  // namespace calm::scenario
