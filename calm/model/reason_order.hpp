// reason_order.hpp — one level of a cancellation's story, the total order between stories, and how much of one is kept.
// Laws:    CAN-2, CAN-4
// Threads: values
// Cancel:  this decides which of two requests is the stronger
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "calm/model/budget.hpp"
#include "calm/model/cancel_kind.hpp"
#include "calm/model/id.hpp"
#include "calm/model/time.hpp"

namespace calm {

/// Who cancelled, when and why: a reason without its causes. An empty message is an absent one.
struct ReasonLevel {
  CancelKind kind = CancelKind::user;
  std::uint8_t severity = 0;  ///< effective: the largest along the chain, also of causes that were dropped (CAN-2)
  RegionId region{};          ///< origin region
  TaskId task{};              ///< origin task, or none
  Time at{};
  Budget cleanup{};  ///< effective: the meet along the chain, also of causes that were dropped
  std::string_view message{};
};

inline constexpr std::size_t chain_level_max = 16;
inline constexpr std::size_t chain_byte_max = 4096;
inline constexpr std::size_t chain_level_bytes = 88;
/// The longest message a reason keeps; a longer one is cut there and the reason marked as truncated.
inline constexpr std::size_t message_byte_max = chain_byte_max - chain_level_bytes;

static_assert(sizeof(ReasonLevel) <= chain_level_bytes, "CAN-2: a level costs what the law says it costs");

/// A chain of levels, the newest first, each caused by the one after it. Borrows.
struct ReasonView {
  const ReasonLevel* levels = nullptr;
  std::size_t depth = 0;
  bool truncated = false;  ///< causes nearest the root, or the end of a message, are missing

  [[nodiscard]] constexpr const ReasonLevel* begin() const noexcept { return levels; }
  [[nodiscard]] constexpr const ReasonLevel* end() const noexcept { return levels + depth; }
};

/// Gives: what one level counts against the byte limit of its chain.
constexpr std::size_t chain_cost(const ReasonLevel& level) noexcept { return chain_level_bytes + level.message.size(); }

/// Gives: how many of the causes fit behind a level that costs `first`; those nearest the root go first (CAN-2).
constexpr std::size_t causes_kept(std::size_t first, ReasonView causes) noexcept {
  std::size_t bytes = first;
  std::size_t kept = 0;
  for (const ReasonLevel& level : causes) {
    bytes += chain_cost(level);
    if (kept + 1 == chain_level_max || bytes > chain_byte_max) break;
    ++kept;
  }
  return kept;
}

/// Gives: the message, cut to what a reason keeps and never inside a UTF-8 sequence.
constexpr std::string_view message_kept(std::string_view message) noexcept {
  if (message.size() <= message_byte_max) return message;
  std::size_t end = message_byte_max;
  while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0U) == 0x80U) --end;
  return message.substr(0, end);
}

namespace detail {

/// Order of optional things: what is present comes before what is absent, then by `order`.
constexpr std::strong_ordering present_first(bool a, bool b, std::strong_ordering order) noexcept {
  if (a != b) return a ? std::strong_ordering::less : std::strong_ordering::greater;
  return order;
}

/// The keys of CAN-4 for one level; `less` is the stronger.
constexpr std::strong_ordering compare_level(const ReasonLevel& a, const ReasonLevel& b) noexcept {
  if (auto order = b.severity <=> a.severity; order != 0) return order;
  if (auto order = a.at <=> b.at; order != 0) return order;
  if (auto order = present_first(!a.message.empty(), !b.message.empty(), a.message <=> b.message); order != 0)
    return order;
  if (auto order = a.kind <=> b.kind; order != 0) return order;
  if (auto order = present_first(bool(a.region), bool(b.region), a.region <=> b.region); order != 0) return order;
  return present_first(bool(a.task), bool(b.task), a.task <=> b.task);
}

/// Ends ties between clean-up budgets of causes, where no meet applies.
constexpr std::strong_ordering compare_budget(const Budget& a, const Budget& b) noexcept {
  if (auto order = a.deadline <=> b.deadline; order != 0) return order;
  if (auto order = a.polls <=> b.polls; order != 0) return order;
  if (auto order = a.cost <=> b.cost; order != 0) return order;
  return b.priority <=> a.priority;
}

}  // namespace detail

/// Gives: `less` when a is the stronger reason, `equal` only when both tell the same story; the clean-up budget of the
/// newest level is no key because strengthening meets it (CAN-4).
constexpr std::strong_ordering compare_strength(ReasonView a, ReasonView b) noexcept {
  const std::size_t both = a.depth < b.depth ? a.depth : b.depth;
  for (std::size_t i = 0; i < both; ++i) {
    if (auto order = detail::compare_level(a.levels[i], b.levels[i]); order != 0) return order;
  }
  if (auto order = b.depth <=> a.depth; order != 0) return order;  // a present cause comes before an absent one
  if (auto order = a.truncated <=> b.truncated; order != 0) return order;
  for (std::size_t i = 1; i < both; ++i) {
    if (auto order = detail::compare_budget(a.levels[i].cleanup, b.levels[i].cleanup); order != 0) return order;
  }
  return std::strong_ordering::equal;
}

}  // namespace calm
