#include "calm/lab/schedule.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

#include "calm/model/text.hpp"
#include "calm/trace/hash.hpp"

namespace calm::lab {
namespace {

constexpr std::string_view digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view form = "calm1";
constexpr std::size_t choices_max = std::size_t{1} << 26;  // a word from anywhere must not take all memory

std::uint32_t checksum(std::string_view text) noexcept {
  return static_cast<std::uint32_t>(trace::xxh64(std::as_bytes(std::span(text.data(), text.size()))));
}

std::string number_text(std::uint64_t number) {
  std::string text;
  do {
    text.insert(text.begin(), digits[number % digits.size()]);
    number /= digits.size();
  } while (number != 0);
  return text;
}

std::string hex_text(std::uint32_t number) {
  std::string text;
  for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[number >> shift & 0xF];
  return text;
}

std::optional<std::uint64_t> read_number(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : text) {
    const std::size_t digit = digits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    if (number > (std::numeric_limits<std::uint64_t>::max() - digit) / digits.size()) return std::nullopt;
    number = number * digits.size() + digit;
  }
  return number;
}

std::optional<std::uint32_t> read_hex(std::string_view text) {
  constexpr std::string_view hex = "0123456789abcdef";
  if (text.size() != 8) return std::nullopt;
  std::uint32_t number = 0;
  for (const char c : text) {
    const std::size_t digit = hex.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    number = number << 4U | static_cast<std::uint32_t>(digit);
  }
  return number;
}

Error bad(std::string_view what, std::string_view part) {
  return {Errc::invalid_argument, std::string("a schedule: ").append(what).append(" in ").append(quoted(part))};
}

/// Reads a run or a large choice: what stands between two marks. Gives: the position after it.
std::optional<std::size_t> between(std::string_view text, std::size_t at, char mark, std::uint64_t& number) {
  const std::size_t end = text.find(mark, at + 1);
  if (end == std::string_view::npos) return std::nullopt;
  const auto read = read_number(text.substr(at + 1, end - at - 1));
  if (!read) return std::nullopt;
  number = *read;
  return end + 1;
}

void add_part(std::string& word, char key, std::uint64_t number) {
  if (number != 0) word.append("-").append(1, key).append(number_text(number));
}

/// Gives: false when there is no such part, or its number is too large for it.
bool set_part(Schedule& schedule, char key, std::uint64_t number) {
  switch (key) {
    case 's':
      schedule.seed = number;
      return true;
    case 'p':
      schedule.faults.cancel_task_at = number;
      return true;
    case 'q':
      schedule.faults.cancel_scope_at = number;
      return true;
    case 'a':
      schedule.faults.fail_allocation = number;
      return true;
    case 'w':
      schedule.faults.spurious_wakes = static_cast<std::uint16_t>(number);
      return number <= 1000;
    case 'j':
      schedule.faults.clock_jumps = static_cast<std::uint16_t>(number);
      return number <= 1000;
    case 't':
      schedule.explore_time = number == 1;
      return number <= 1;
    case 'm':
      if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return false;
      schedule.faults.jump_max = Duration::nanoseconds(static_cast<std::int64_t>(number));
      return true;
    default:
      return false;
  }
}

Status read_part(Schedule& schedule, std::string_view part, std::string& why) {
  const auto refuse = [&](std::string_view what) {
    why = bad(what, part).message();
    return Status(Errc::invalid_argument);
  };
  if (part.empty()) return refuse("an empty part");
  const std::string_view rest = part.substr(1);
  if (part[0] == 'c') {
    auto choices = decode_choices(rest);
    if (!choices) return refuse("choices that cannot be read");
    schedule.choices = std::move(choices).value();
    return {};
  }
  if (part[0] == 'n') {
    const auto hash = read_hex(rest);
    if (!hash) return refuse("no hash of a program");
    schedule.program_hash = *hash;
    return {};
  }
  const auto number = read_number(rest);
  if (!number) return refuse("no number");
  if (!set_part(schedule, part[0], *number)) return refuse("an unknown part or a number that is too large");
  return {};
}

}  // namespace

std::uint32_t program_hash(std::string_view name) noexcept {
  if (name.empty()) return 0;
  const std::uint32_t hash = checksum(name);
  return hash == 0 ? 1 : hash;
}

std::string encode_choices(const std::vector<std::uint32_t>& choices) {
  std::size_t size = choices.size();
  while (size != 0 && choices[size - 1] == 0) --size;
  std::string text;
  for (std::size_t at = 0; at < size;) {
    std::size_t run = at + 1;
    while (run < size && choices[run] == choices[at]) ++run;
    std::string one = choices[at] < digits.size() ? std::string(1, digits[choices[at]])
                                                  : std::string("_").append(number_text(choices[at])).append("_");
    const std::size_t count = run - at;
    const std::string many = one + "." + number_text(count) + ".";
    if (count * one.size() <= many.size()) {
      for (std::size_t i = 0; i < count; ++i) text += one;
    } else {
      text += many;
    }
    at = run;
  }
  return text;
}

Outcome<std::vector<std::uint32_t>> decode_choices(std::string_view text) {
  std::vector<std::uint32_t> choices;
  for (std::size_t at = 0; at < text.size();) {
    std::uint64_t number = 0;
    if (text[at] == '.') {
      const auto next = between(text, at, '.', number);
      if (!next || choices.empty() || number == 0 || number > choices_max - choices.size()) {
        return err(bad("a run that cannot be", text.substr(at, 12)));
      }
      choices.insert(choices.end(), number - 1, choices.back());
      at = *next;
      continue;
    }
    if (text[at] == '_') {
      const auto next = between(text, at, '_', number);
      if (!next || number > std::numeric_limits<std::uint32_t>::max()) {
        return err(bad("a choice that cannot be", text.substr(at, 12)));
      }
      at = *next;
    } else {
      number = digits.find(text[at]);
      if (number >= digits.size()) return err(bad("a character that is no choice", text.substr(at, 1)));
      ++at;
    }
    if (choices.size() == choices_max) return err(bad("too many choices", "c"));
    choices.push_back(static_cast<std::uint32_t>(number));
  }
  return ok(std::move(choices));
}

std::string to_string(const Schedule& schedule) {
  std::string word(form);
  const std::uint32_t hash = schedule.program.empty() ? schedule.program_hash : program_hash(schedule.program);
  if (hash != 0) word.append("-n").append(hex_text(hash));
  word.append("-s").append(number_text(schedule.seed));
  const Faults& faults = schedule.faults;
  add_part(word, 'p', faults.cancel_task_at);
  add_part(word, 'q', faults.cancel_scope_at);
  add_part(word, 'a', faults.fail_allocation);
  add_part(word, 'w', faults.spurious_wakes);
  add_part(word, 'j', faults.clock_jumps);
  if (faults.jump_max != Faults().jump_max) add_part(word, 'm', static_cast<std::uint64_t>(faults.jump_max.ns()));
  add_part(word, 't', schedule.explore_time ? 1 : 0);
  if (schedule.choices) word.append("-c").append(encode_choices(*schedule.choices));
  const std::string sum = hex_text(checksum(word));
  return word.append("-z").append(sum);
}

Outcome<Schedule> parse_schedule(std::string_view word) {
  const std::size_t last = word.rfind('-');
  if (last == std::string_view::npos || word.substr(0, word.find('-')) != form) {
    return err(bad("no word that begins with calm1-", word.substr(0, 16)));
  }
  const std::string_view end = word.substr(last + 1);
  const auto sum = end.starts_with('z') ? read_hex(end.substr(1)) : std::nullopt;
  if (!sum) return err(bad("no checksum at the end", end));
  if (*sum != checksum(word.substr(0, last))) return err(bad("a checksum that does not fit", end));
  Schedule schedule;
  std::string_view rest = word.substr(0, last);
  rest.remove_prefix(form.size());
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view part = rest.substr(0, rest.find('-'));
    std::string why;
    if (const Status read = read_part(schedule, part, why); !read) return err(Error(read.error(), why));
    rest.remove_prefix(part.size());
  }
  return ok(std::move(schedule));
}

}  // namespace calm::lab
