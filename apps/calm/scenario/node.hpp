// node.hpp — a TOML document as a tree of values that know their places, tables in the order in which they were written.
// Laws:    LAB-11
// Threads: values
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "apps/calm/scenario/problem.hpp"

namespace calm::scenario {

struct Node;
struct Entry;

struct Key {
  std::string name;
  Place place;
};
using Table = std::vector<Entry>;
using Array = std::vector<Node>;

/// What a scenario file has no use for: floats, dates and times.
struct OtherValue {
  std::string_view what;
};

struct Node {
  std::variant<bool, std::int64_t, std::string, Array, Table, OtherValue> value;
  Place begin;
  Place end;  ///< one past the last character

  template <class T>
  [[nodiscard]] const T* as() const noexcept {
    return std::get_if<T>(&value);
  }
};

/// A key of a table and its value.
struct Entry {
  Key key;
  Node value;
};

/// Gives: `a text`, `a table`, ...: what the node is, for error texts.
std::string_view kind_text(const Node& node);

/// Gives: the value of the key, or nullptr.
const Node* find(const Table& table, std::string_view key) noexcept;

/// Gives: the document as a table. Fails: Problem, with the place where it stops being TOML.
Node parse_toml(std::string_view text);

}  // namespace calm::scenario
