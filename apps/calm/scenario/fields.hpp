// fields.hpp — reads one value of a step: checks its type, its words and the names it uses, and tells what is allowed.
// Laws:    LAB-11
// Threads: one
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apps/calm/scenario/node.hpp"
#include "apps/calm/scenario/scenario.hpp"
#include "apps/calm/scenario/schema.hpp"

namespace calm::scenario {

/// The names that the steps so far have given.
class Names {
 public:
  Names() { add("root", NameKind::region); }

  void add(const std::string& name, NameKind kind) { kinds_[name] = kind; }
  [[nodiscard]] bool has(std::string_view name) const { return kinds_.find(name) != kinds_.end(); }
  [[nodiscard]] bool has(std::string_view name, NameKind kind) const;
  [[nodiscard]] std::vector<std::string_view> of(NameKind kind) const;

 private:
  std::map<std::string, NameKind, std::less<>> kinds_;
};

/// Gives: the value behind `key`. Fails: Problem.
Field read_field(std::string_view key, const Node& node, const FieldType& type, const Names& names);

// Parts that the tables around the steps use as well. Fails: Problem.
const std::string& read_text(std::string_view key, const Node& node);
std::uint64_t read_number(std::string_view key, const Node& node, std::uint64_t number_max = INT64_MAX);
bool read_flag(std::string_view key, const Node& node);
Duration read_duration(std::string_view key, const Node& node);
std::uint64_t read_word(std::string_view key, const Node& node, WordSet set);
Budget read_budget(std::string_view key, const Node& node);
kernel::Limits read_limits(std::string_view key, const Node& node);

[[noreturn]] void wrong_kind(std::string_view key, const Node& node, std::string_view wanted);
[[noreturn]] void unknown_key(std::string_view where, const Key& key, const std::vector<std::string_view>& allowed);

}  // namespace calm::scenario
