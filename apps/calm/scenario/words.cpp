#include "apps/calm/scenario/words.hpp"

#include <array>
#include <cstddef>

#include "apps/calm/scenario/channel.hpp"
#include "calm/kernel/config.hpp"
#include "calm/kernel/finding.hpp"
#include "calm/kernel/kernel.hpp"
#include "calm/lockfree/wake_state.hpp"
#include "calm/model/cancel_kind.hpp"
#include "calm/model/error_code.hpp"
#include "calm/model/fold.hpp"
#include "calm/model/obligation_kind.hpp"
#include "calm/model/obligation_state.hpp"
#include "calm/model/outcome_kind.hpp"
#include "calm/model/region_state.hpp"
#include "calm/model/task_state.hpp"
#include "calm/model/witness.hpp"
#include "calm/sched/governor.hpp"
#include "calm/trace/event.hpp"

namespace calm::scenario {
namespace {

template <class Enum>
constexpr Word word(std::string_view name, Enum value) noexcept {
  return {name, static_cast<std::uint64_t>(value)};
}

// The words of values that have a to_string().
template <class Enum, std::size_t n>
constexpr std::array<Word, n> named(const Enum (&values)[n]) noexcept {
  std::array<Word, n> words{};
  for (std::size_t i = 0; i < n; ++i) words[i] = word(to_string(values[i]), values[i]);
  return words;
}

// The words of a table that has a row for each value.
template <class Row, std::size_t n>
constexpr std::array<Word, n> of_rows(const Row (&rows)[n]) noexcept {
  std::array<Word, n> words{};
  for (std::size_t i = 0; i < n; ++i) words[i] = word(rows[i].name, rows[i].kind);
  return words;
}

template <std::size_t n>
constexpr std::array<Word, n + 1> with(const std::array<Word, n>& words, Word more) noexcept {
  std::array<Word, n + 1> all{};
  for (std::size_t i = 0; i < n; ++i) all[i] = words[i];
  all[n] = more;
  return all;
}

constexpr std::array<Word, errc_count> all_errors() noexcept {
  std::array<Word, errc_count> words{};
  for (std::size_t i = 0; i < errc_count; ++i) words[i] = word(errc_table[i].name, errc_table[i].code);
  return words;
}

constexpr Word none{"none", no_value};
constexpr auto errors = all_errors();
constexpr auto answers = with(errors, {"ok", 0});
constexpr auto cancel_kinds = of_rows(cancel_kind_table);
constexpr auto reason_kinds = with(cancel_kinds, none);
constexpr auto obligation_kinds = of_rows(obligation_kind_table);
constexpr auto event_kinds = of_rows(trace::event_kind_table);
constexpr auto region_words = named(region_states);
constexpr auto task_words = named(task_states);
constexpr auto obligation_words = with(named(obligation_states), {"gone", no_value});
constexpr auto outcomes = named(outcome_kinds);
constexpr auto outcomes_or_none = with(outcomes, none);
constexpr CancelPhase all_phases[] = {CancelPhase::requested, CancelPhase::cancelling, CancelPhase::finalizing,
                                      CancelPhase::completed};
constexpr auto phases = named(all_phases);
constexpr auto phases_or_none = with(phases, none);
constexpr kernel::FindingKind all_findings[] = {kernel::FindingKind::leak,          kernel::FindingKind::dropped_token,
                                                kernel::FindingKind::mask_too_deep, kernel::FindingKind::mask_too_long,
                                                kernel::FindingKind::forced,        kernel::FindingKind::stalled,
                                                kernel::FindingKind::unresolved};
constexpr auto findings = named(all_findings);

constexpr Word poll_starts[] = {word("run", kernel::PollStart::run), word("drop", kernel::PollStart::drop),
                                word("unwind", kernel::PollStart::unwind), word("later", kernel::PollStart::later),
                                word("stale", kernel::PollStart::stale)};
constexpr Word policies[] = {word("fail fast", FoldPolicy::fail_fast), word("collect", FoldPolicy::collect),
                             word("supervised", FoldPolicy::supervised)};
constexpr Word cleanup_modes[] = {word("bounded", kernel::CleanupMode::bounded),
                                  word("soft", kernel::CleanupMode::soft)};
constexpr Word escalations[] = {word("drop", kernel::Escalation::drop), word("panic", kernel::Escalation::panic)};
constexpr Word listeners[] = {word("parent", kernel::ReportsTo::parent), word("owner", kernel::ReportsTo::owner)};
constexpr Word leak_policies[] = {word("recover", kernel::LeakPolicy::recover), word("log", kernel::LeakPolicy::log),
                                  word("panic", kernel::LeakPolicy::panic)};
constexpr Word fulls[] = {word("overwrite", trace::WhenFull::overwrite), word("refuse", trace::WhenFull::refuse)};
constexpr Word wakes[] = {word("idle", lockfree::WakeState::idle), word("queued", lockfree::WakeState::queued),
                          word("running", lockfree::WakeState::running),
                          word("running_woken", lockfree::WakeState::running_woken),
                          word("done", lockfree::WakeState::done)};
constexpr Word channel_kinds[] = {word("mpsc", ChannelKind::mpsc),
                                  word("tracked", ChannelKind::tracked),
                                  word("mpmc", ChannelKind::mpmc),
                                  word("oneshot", ChannelKind::oneshot),
                                  word("broadcast", ChannelKind::broadcast),
                                  word("watch", ChannelKind::watch),
                                  word("rendezvous", ChannelKind::rendezvous)};

// Numbers are places in sched::governors().
Words governor_words() noexcept {
  static const std::vector<Word> words = [] {
    std::vector<Word> all;
    for (const sched::Governor* const governor : sched::governors()) all.push_back({governor->name(), all.size()});
    return all;
  }();
  return words;
}

}  // namespace

Words words_of(WordSet set) noexcept {
  switch (set) {
    case WordSet::answer:
      return answers;
    case WordSet::error:
      return errors;
    case WordSet::cancel_kind:
      return cancel_kinds;
    case WordSet::reason_kind:
      return reason_kinds;
    case WordSet::obligation_kind:
      return obligation_kinds;
    case WordSet::region_state:
      return region_words;
    case WordSet::task_state:
      return task_words;
    case WordSet::obligation_state:
      return obligation_words;
    case WordSet::outcome:
      return outcomes;
    case WordSet::outcome_or_none:
      return outcomes_or_none;
    case WordSet::poll_start:
      return poll_starts;
    case WordSet::phase:
      return phases;
    case WordSet::phase_or_none:
      return phases_or_none;
    case WordSet::fold_policy:
      return policies;
    case WordSet::cleanup_mode:
      return cleanup_modes;
    case WordSet::escalation:
      return escalations;
    case WordSet::reports_to:
      return listeners;
    case WordSet::leak_policy:
      return leak_policies;
    case WordSet::when_full:
      return fulls;
    case WordSet::finding:
      return findings;
    case WordSet::event_kind:
      return event_kinds;
    case WordSet::wake_state:
      return wakes;
    case WordSet::channel_kind:
      return channel_kinds;
    case WordSet::governor:
      return governor_words();
  }
  return {};
}

const Word* find_word(WordSet set, std::string_view name) noexcept {
  for (const Word& word : words_of(set)) {
    if (word.name == name) return &word;
  }
  return nullptr;
}

std::vector<std::string_view> names_of(WordSet set) {
  std::vector<std::string_view> names;
  for (const Word& word : words_of(set)) names.push_back(word.name);
  return names;
}

}  // namespace calm::scenario
