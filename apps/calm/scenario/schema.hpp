// schema.hpp — every step that a scenario may take: its verb, the keys beside it, and the function that does it.
// Laws:    LAB-11, HND-2
// Threads: constants
// Cancel:  not applicable
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "apps/calm/scenario/scenario.hpp"
#include "apps/calm/scenario/words.hpp"
#include "calm/model/error_code.hpp"

namespace calm::scenario {

class World;

/// What a name stands for.
enum class NameKind : std::uint8_t { region, task, obligation, witness, value, mark, channel, place, delivery, timer };

constexpr std::string_view to_string(NameKind kind) noexcept {
  constexpr std::string_view names[] = {"region", "task",    "obligation", "witness",  "value",
                                        "mark",   "channel", "place",      "delivery", "timer"};
  return names[static_cast<std::uint8_t>(kind)];
}

enum class FieldForm : std::uint8_t {
  new_name,  ///< gives a name; see FieldType::name
  name,      ///< uses one
  record,    ///< the name of a region or a task
  records,   ///< a list of them
  names,     ///< a list of names; see FieldType::name
  holder,    ///< the name of a task, nobody, reactor or lease keeper
  flag,
  number,
  text,
  texts,
  span,  ///< a length of time, `20ms`
  time,  ///< an instant, as a length of time since zero
  word,  ///< see FieldType::words
  words,
  budget,
  limits,
  ledger,      ///< counts by obligation kind
  expression,  ///< see expression.hpp
  expressions,
};

/// What may stand behind a key.
struct FieldType {
  FieldForm form{};
  NameKind name{};
  WordSet words{};
};

struct FieldRow {
  std::string_view key;
  FieldType type{};
  bool needed = false;
};

/// Does what the kernel does; what comes back is compared with `expect`.
using Act = Status (*)(World&, const Step&);
/// Looks, or tells the host something.
using Look = void (*)(World&, const Step&);

inline constexpr std::size_t field_max = 24;

struct StepRow {
  std::string_view verb;
  FieldType subject;
  std::string_view about;
  Act act = nullptr;
  Look look = nullptr;
  std::array<FieldRow, field_max> fields{};  ///< those with a key
  std::array<Errc, 2> answers{};             ///< errors that are no refusal: the state may be another after them
  bool polls = false;                        ///< it runs in a poll of its program, which is there whatever it answers

  [[nodiscard]] const FieldRow* find(std::string_view key) const noexcept;
};

std::span<const StepRow> step_rows() noexcept;

/// Gives: the row of the verb, or nullptr.
const StepRow* find_step(std::string_view verb) noexcept;

/// Gives: what the type takes, for people: `name of a region`, `number`, `Open, Closing, ...`.
std::string describe(const FieldType& type);

}  // namespace calm::scenario
