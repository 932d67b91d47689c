#include "apps/calm/scenario/node.hpp"

#include <algorithm>
#include <cstddef>

namespace calm::scenario {
namespace {

/// toml++ takes some mistakes for impossible: a } where a value must stand. Its assertions then abort, or in a build without
/// assertions become assumptions of the optimiser. Here they throw this instead, in every build.
struct ParserTrap {};

[[noreturn]] void trap() { throw ParserTrap(); }

}  // namespace
}  // namespace calm::scenario

#undef NDEBUG
#define TOML_ASSERT(condition)                \
  do {                                        \
    if (!(condition)) calm::scenario::trap(); \
  } while (false)
#include <toml++/toml.h>

namespace calm::scenario {
namespace {

Place place_of(const toml::source_position& position) noexcept {
  return {static_cast<std::uint32_t>(position.line), static_cast<std::uint32_t>(position.column)};
}

Node convert(const toml::node& node);

Table convert_table(const toml::table& table) {
  Table converted;
  for (const auto& [key, value] : table) {
    converted.push_back({{std::string(key.str()), place_of(key.source().begin)}, convert(value)});
  }
  // toml++ sorts its keys; a step is told by its first one, and errors should come in the order of the file.
  std::sort(converted.begin(), converted.end(), [](const Entry& a, const Entry& b) {
    const Place x = a.key.place;
    const Place y = b.key.place;
    return x.line != y.line ? x.line < y.line : x.column < y.column;
  });
  return converted;
}

Array convert_array(const toml::array& array) {
  Array converted;
  for (const toml::node& element : array) converted.push_back(convert(element));
  return converted;
}

Node convert(const toml::node& node) {
  Node converted{false, place_of(node.source().begin), place_of(node.source().end)};
  if (const auto* flag = node.as_boolean()) {
    converted.value = flag->get();
  } else if (const auto* number = node.as_integer()) {
    converted.value = number->get();
  } else if (const auto* text = node.as_string()) {
    converted.value = text->get();
  } else if (const auto* array = node.as_array()) {
    converted.value = convert_array(*array);
  } else if (const auto* table = node.as_table()) {
    converted.value = convert_table(*table);
  } else {
    converted.value = OtherValue{node.is_floating_point() ? "a number with a fraction" : "a date or time"};
  }
  return converted;
}

// Names, keys and words are ASCII, and toml++ is not sure-footed beyond it.
void demand_ascii(std::string_view text) {
  Place place{1, 1};
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80)
      throw Problem(place, "a scenario file is plain ASCII; this character is not");
    place = c == '\n' ? Place{place.line + 1, 1} : Place{place.line, place.column + 1};
  }
}

bool traps(std::string_view text) {
  try {
    (void)toml::parse(text);
  } catch (const toml::parse_error&) {
    return false;
  } catch (const ParserTrap&) {
    return true;
  }
  return false;
}

// Gives: the line of the mistake in a text that traps: the parser goes from front to back, so it is the last line of the
// shortest beginning that traps.
std::uint32_t line_of_trap(std::string_view text) {
  std::vector<std::size_t> ends;  // of lines
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    ends.push_back(at + 1);
  ends.push_back(text.size());
  const auto first =
      std::partition_point(ends.begin(), ends.end(), [text](std::size_t end) { return !traps(text.substr(0, end)); });
  return static_cast<std::uint32_t>(first - ends.begin()) + 1;
}

}  // namespace

std::string_view kind_text(const Node& node) {
  struct Name {
    std::string_view operator()(bool) const noexcept { return "true or false"; }
    std::string_view operator()(std::int64_t) const noexcept { return "a number"; }
    std::string_view operator()(const std::string&) const noexcept { return "a text"; }
    std::string_view operator()(const Array&) const noexcept { return "an array"; }
    std::string_view operator()(const Table&) const noexcept { return "a table"; }
    std::string_view operator()(OtherValue other) const noexcept { return other.what; }
  };
  return std::visit(Name(), node.value);
}

const Node* find(const Table& table, std::string_view key) noexcept {
  for (const auto& [name, value] : table) {
    if (name.name == key) return &value;
  }
  return nullptr;
}

Node parse_toml(std::string_view text) {
  demand_ascii(text);
  try {
    return convert(toml::parse(text));
  } catch (const toml::parse_error& error) {
    throw Problem(place_of(error.source().begin), std::string("this is no TOML: ").append(error.description()));
  } catch (const ParserTrap&) {
    throw Problem({line_of_trap(text), 0},
                  "this is no TOML: a value is missing, or a bracket stands where one must be");
  }
}

}  // namespace calm::scenario
