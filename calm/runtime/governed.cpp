#include "calm/runtime/governed.hpp"

#include "calm/kernel/view_text.hpp"

namespace calm::runtime {

void Governed::note(const sched::Decision& decision) {
  said_[static_cast<std::uint8_t>(decision.suggestion)].add();
  const std::lock_guard hold(mutex_);
  // What changes nothing does not hide what did.
  if (decision.suggestion == sched::Suggestion::none && notable_.suggestion != sched::Suggestion::none) return;
  notable_ = decision;
}

std::uint64_t Governed::asked() const noexcept {
  std::uint64_t sum = 0;
  for (const Counter& counter : said_) sum += counter.get();
  return sum;
}

sched::Decision Governed::notable() const {
  const std::lock_guard hold(mutex_);
  return notable_;
}

std::string to_string(const Governed& governed) {
  const std::uint64_t asked = governed.asked();
  std::string text = "governor ";
  text.append(governed.governor().name()).append(", asked ").append(kernel::counted_noun(asked, "time"));
  const char* before = ": ";
  for (const sched::SuggestionRow& row : sched::suggestion_table) {
    const std::uint64_t said = governed.said(row.suggestion);
    if (said == 0) continue;
    text.append(before).append(std::to_string(said)).append(" ").append(row.name);
    before = ", ";
  }
  if (asked != 0) text.append("; one of them ").append(to_string(governed.notable()));
  return text;
}

}  // namespace calm::runtime
