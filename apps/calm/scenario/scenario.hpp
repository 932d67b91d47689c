// scenario.hpp — a scenario as it was loaded: what to do, what must come out, and where in the file each of them stands.
// Laws:    LAB-11
// Threads: values
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "apps/calm/scenario/problem.hpp"
#include "calm/clock/wheel.hpp"
#include "calm/kernel/config.hpp"
#include "calm/model/budget.hpp"

namespace calm::scenario {

struct StepRow;

/// The format that this version reads.
inline constexpr std::int64_t format_version = 1;

/// One value of a step. `text` is how the file would write it: looks compare by it.
struct Field {
  Place place;
  std::string text;
  std::variant<std::monostate, bool, std::uint64_t, Budget, kernel::Limits, std::vector<std::string>> value;
};

struct Step {
  const StepRow* row = nullptr;
  Place place;
  Field subject;
  std::map<std::string, Field, std::less<>> fields;

  [[nodiscard]] const Field* find(std::string_view key) const noexcept {
    const auto found = fields.find(key);
    return found == fields.end() ? nullptr : &found->second;
  }
  /// Gives: the text of a field, empty when the step does not have it.
  [[nodiscard]] std::string_view text(std::string_view key) const noexcept {
    const Field* field = find(key);
    return field == nullptr ? std::string_view() : std::string_view(field->text);
  }
  /// Gives: number, time, length or the number of a word.
  [[nodiscard]] std::uint64_t number(std::string_view key, std::uint64_t otherwise) const {
    const Field* field = find(key);
    return field == nullptr ? otherwise : std::get<std::uint64_t>(field->value);
  }
  template <class Enum>
  [[nodiscard]] Enum word(std::string_view key, Enum otherwise) const {
    return static_cast<Enum>(number(key, static_cast<std::uint64_t>(otherwise)));
  }
  [[nodiscard]] bool flag(std::string_view key) const {
    const Field* field = find(key);
    return field != nullptr && std::get<bool>(field->value);
  }
  template <class T>
  [[nodiscard]] T value(std::string_view key) const {
    const Field* field = find(key);
    return field == nullptr ? T() : std::get<T>(field->value);
  }
};

/// A digest that a file states, and where to write another one.
struct StatedDigest {
  std::string hex;
  Place place;  ///< of the value, quotes included
};

/// What a scenario sets beside the profile.
struct ConfigWish {
  kernel::Limits root_limits{};
  Budget root_budget{};
  kernel::LeakResponse leaks{};
  bool strict_tokens = false;
  trace::WhenFull trace_when_full = trace::WhenFull::overwrite;
  std::optional<std::uint64_t> trace_capacity;
  std::optional<std::uint32_t> regions;  ///< ceilings
  std::optional<std::uint32_t> tasks;
  std::optional<std::uint32_t> obligations;
  clock::Coalescing coalescing{};
  std::optional<std::uint64_t> timers;
};

struct Scenario {
  std::string id;
  std::string about;
  std::string spec_defect;  ///< why the law itself is in doubt; empty for most
  std::vector<std::string> laws;
  Place place;
  std::uint32_t steps_end_line = 0;  ///< where missing digests go
  ConfigWish config;
  std::vector<Step> steps;
  std::optional<StatedDigest> digest;    ///< of the final state
  std::optional<StatedDigest> semantic;  ///< of the semantic events
};

struct ScenarioFile {
  std::string path;
  std::string family;
  std::vector<Scenario> scenarios;
};

}  // namespace calm::scenario
