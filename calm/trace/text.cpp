#include "calm/trace/text.hpp"

#include <charconv>
#include <cstdint>
#include <string>

#include "calm/trace/argument.hpp"

namespace calm::trace {
namespace {

std::string number_text(std::uint64_t argument) { return argument == 0 ? std::string() : std::to_string(argument); }

// Gives: the value's name, or the bare number when the value cannot exist.
template <class Value>
std::string name_or_number(const Value& value, std::uint64_t argument) {
  return value ? std::string(to_string(*value)) : number_text(argument);
}

std::string cancel_text(std::uint64_t argument) {
  const auto reason = cancel_in(argument);
  if (!reason) return number_text(argument);
  std::string text(to_string(reason->kind));
  return text.append(" severity ").append(std::to_string(reason->severity));
}

std::string region_move_text(std::uint64_t argument) {
  const auto move = region_move_in(argument);
  if (!move) return number_text(argument);
  std::string text(to_string(move->from));
  return text.append(" to ").append(to_string(move->to));
}

std::string argument_text(const EventKindRow& row, std::uint64_t argument) {
  switch (row.argument) {
    case ArgumentForm::number:
      return number_text(argument);
    case ArgumentForm::outcome:
      return name_or_number(outcome_in(argument), argument);
    case ArgumentForm::cancel:
      return cancel_text(argument);
    case ArgumentForm::obligation:
      return name_or_number(obligation_in(argument), argument);
    case ArgumentForm::resolution:
      return name_or_number(resolution_in(argument), argument);
    case ArgumentForm::region_move:
      return region_move_text(argument);
  }
  CALM_INVARIANT(LAB_2, false, static_cast<std::uint8_t>(row.argument));
  return {};
}

std::string access_text(Access access) {
  const auto number = static_cast<std::uint8_t>(access);
  return number <= static_cast<std::uint8_t>(Access::write) ? std::string(to_string(access))
                                                            : "access " + std::to_string(number);
}

// An access is told by what it did, everything else by its kind.
std::string verb(const Event& event, const EventKindRow* row) {
  if (row == nullptr) return "kind " + std::to_string(static_cast<std::uint8_t>(event.kind));
  return row->kind == EventKind::access ? access_text(event.access) : std::string(row->name);
}

// Gives: what stands in brackets, `write, cause #9`; empty when there is nothing to add.
std::string remarks(const Event& event) {
  std::string text;
  if (event.access != Access::none && event.kind != EventKind::access) text = access_text(event.access);
  if (event.cause != 0) text.append(text.empty() ? "cause #" : ", cause #").append(std::to_string(event.cause));
  return text;
}

/// Takes a number off the front of a text, without leading zeros. Gives: false when there is none up to `limit`.
bool take_number(std::string_view& text, std::uint64_t limit, std::uint64_t& number) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto size = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || number > limit || (size > 1 && text[0] == '0')) return false;
  text.remove_prefix(size);
  return true;
}

/// Takes a mark and a number behind it, if the mark is there. Gives: false for a mark without a number from 1 to `limit`.
bool take_marked(std::string_view& text, char mark, std::uint64_t limit, std::uint64_t& number) noexcept {
  if (text.empty()) return true;
  if (text[0] != mark) return false;
  text.remove_prefix(1);
  return take_number(text, limit, number) && number != 0;
}

std::optional<ResourceId> registered_in(std::string_view text) noexcept {
  std::uint64_t object = 0;
  std::uint64_t part = 0;
  if (!take_number(text, ResourceId::object_max, object) || !take_marked(text, '/', UINT32_MAX, part) ||
      !text.empty()) {
    return std::nullopt;
  }
  return ResourceId::registered(static_cast<std::uint32_t>(object), static_cast<std::uint32_t>(part));
}

}  // namespace

std::optional<ResourceId> resource_in(std::string_view text) noexcept {
  constexpr std::string_view letters = "rtowmc";  // by IdType, from 1
  if (text.empty()) return std::nullopt;
  const char letter = text[0];
  text.remove_prefix(1);
  if (letter == 'x') return registered_in(text);
  const std::size_t type = letters.find(letter);
  std::uint64_t index = 0;
  std::uint64_t generation = 0;
  if (type == std::string_view::npos || !take_number(text, UINT32_MAX, index) ||
      !take_marked(text, '.', Generation::last, generation) || !text.empty() || generation == Generation::first) {
    return std::nullopt;
  }
  if (generation == 0) generation = Generation::first;
  return ResourceId::from_bits(std::uint64_t{type + 1} << 56 | generation << 32 | index);
}

std::string digest_text(std::uint64_t digest) {
  constexpr char hex[] = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = text.size(); i != 0; --i, digest >>= 4U) text[i - 1] = hex[digest & 15U];
  return text;
}

std::string to_string(ResourceId resource) {
  if (!resource) return "none";
  if (resource.is_registered()) {
    std::string text = "x" + std::to_string(resource.object());
    if (resource.part() != 0) text.append("/").append(std::to_string(resource.part()));
    return text;
  }
  const std::uint64_t bits = resource.bits();
  switch (static_cast<IdType>(bits >> 56)) {
    case IdType::region:
      return to_string(RegionId::from_bits(bits));
    case IdType::task:
      return to_string(TaskId::from_bits(bits));
    case IdType::obligation:
      return to_string(ObligationId::from_bits(bits));
    case IdType::witness:
      return to_string(WitnessId::from_bits(bits));
    case IdType::timer:
      return to_string(TimerId::from_bits(bits));
    case IdType::channel:
      return to_string(ChannelId::from_bits(bits));
  }
  CALM_INVARIANT(HND_1, false, bits);
  return {};
}

std::string argument_text(const Event& event) {
  const EventKindRow* row = find_event_kind(static_cast<std::uint8_t>(event.kind));
  return row == nullptr ? number_text(event.argument) : argument_text(*row, event.argument);
}

std::string to_string(const Event& event) {
  const EventKindRow* row = find_event_kind(static_cast<std::uint8_t>(event.kind));
  std::string line = "#" + std::to_string(event.sequence);
  if (event.task) line.append(" ").append(to_string(event.task));
  if (event.region) line.append(" in ").append(to_string(event.region));
  line.append(" ").append(verb(event, row));
  if (event.resource) line.append(" ").append(to_string(event.resource));
  if (const std::string argument = argument_text(event); !argument.empty()) line.append(" ").append(argument);
  if (const std::string more = remarks(event); !more.empty()) line.append(" (").append(more).append(")");
  return line;
}

}  // namespace calm::trace
