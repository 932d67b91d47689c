#include "apps/calm/scenario/fields.hpp"

#include <cstddef>

#include "apps/calm/scenario/expression.hpp"
#include "apps/calm/scenario/time_text.hpp"
#include "calm/model/text.hpp"

namespace calm::scenario {
namespace {

constexpr std::string_view holders[] = {"nobody", "reactor", "lease keeper"};

const std::string& read_name(std::string_view key, const Node& node, NameKind kind, const Names& names) {
  const std::string& name = read_text(key, node);
  if (!names.has(name, kind)) throw Problem(node.begin, unknown_text(to_string(kind), name, names.of(kind)));
  return name;
}

const std::string& read_record(std::string_view key, const Node& node, const Names& names) {
  const std::string& name = read_text(key, node);
  if (!names.has(name, NameKind::region) && !names.has(name, NameKind::task)) {
    std::vector<std::string_view> known = names.of(NameKind::region);
    for (const std::string_view task : names.of(NameKind::task)) known.push_back(task);
    throw Problem(node.begin, unknown_text("region or task", name, known));
  }
  return name;
}

const std::string& read_holder(std::string_view key, const Node& node, const Names& names) {
  const std::string& name = read_text(key, node);
  for (const std::string_view holder : holders) {
    if (name == holder) return name;
  }
  if (names.has(name, NameKind::task)) return name;
  std::vector<std::string_view> known = names.of(NameKind::task);
  known.insert(known.end(), std::begin(holders), std::end(holders));
  throw Problem(node.begin, unknown_text("holder", name, known));
}

const std::string& read_new_name(std::string_view key, const Node& node, const Names& names) {
  const std::string& name = read_text(key, node);
  if (name.empty() || name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos ||
      (name[0] >= '0' && name[0] <= '9')) {
    throw Problem(node.begin,
                  "a name is made of small letters, digits and _ and begins with no digit; found " + quoted(name));
  }
  for (const std::string_view holder : holders) {
    if (name == holder) throw Problem(node.begin, quoted(name) + " is no name for a record: it is a holder");
  }
  if (names.has(name)) throw Problem(node.begin, "the name " + quoted(name) + " is taken");
  return name;
}

const Array& read_array(std::string_view key, const Node& node) {
  const Array* array = node.as<Array>();
  if (array == nullptr) wrong_kind(key, node, "an array");
  return *array;
}

// Gives: the field for a list whose elements are read one by one.
template <class ReadOne>
Field list_field(std::string_view key, const Node& node, ReadOne read_one) {
  std::vector<std::string> texts;
  std::string text;
  for (const Node& element : read_array(key, node)) {
    texts.push_back(read_one(element));
    text.append(text.empty() ? "" : ", ").append(texts.back());
  }
  return {node.begin, text.empty() ? "(none)" : text, texts};
}

Field ledger_field(std::string_view key, const Node& node) {
  const Table* table = node.as<Table>();
  if (table == nullptr) wrong_kind(key, node, "a table");
  std::uint64_t counts[16]{};
  for (const auto& [name, value] : *table) {
    const Word* kind = find_word(WordSet::obligation_kind, name.name);
    if (kind == nullptr) unknown_key(key, name, names_of(WordSet::obligation_kind));
    counts[kind->number] = read_number(name.name, value);
  }
  std::string text;
  for (const Word& kind : words_of(WordSet::obligation_kind)) {
    if (counts[kind.number] == 0) continue;
    text.append(text.empty() ? "" : ", ").append(kind.name).append(" ").append(std::to_string(counts[kind.number]));
  }
  return {node.begin, text.empty() ? "(none)" : text, {}};
}

}  // namespace

bool Names::has(std::string_view name, NameKind kind) const {
  const auto found = kinds_.find(name);
  return found != kinds_.end() && found->second == kind;
}

std::vector<std::string_view> Names::of(NameKind kind) const {
  std::vector<std::string_view> names;
  for (const auto& [name, its_kind] : kinds_) {
    if (its_kind == kind) names.push_back(name);
  }
  return names;
}

void wrong_kind(std::string_view key, const Node& node, std::string_view wanted) {
  throw Problem(node.begin, quoted(key).append(" takes ").append(wanted).append(", found ").append(kind_text(node)));
}

void unknown_key(std::string_view where, const Key& key, const std::vector<std::string_view>& allowed) {
  throw Problem(key.place, unknown_text(std::string("key of ").append(where), key.name, allowed));
}

const std::string& read_text(std::string_view key, const Node& node) {
  const std::string* text = node.as<std::string>();
  if (text == nullptr) wrong_kind(key, node, "a text");
  return *text;
}

std::uint64_t read_number(std::string_view key, const Node& node, std::uint64_t number_max) {
  const std::int64_t* number = node.as<std::int64_t>();
  if (number == nullptr) wrong_kind(key, node, "a number");
  if (*number < 0 || static_cast<std::uint64_t>(*number) > number_max) {
    throw Problem(node.begin, quoted(key) + " takes a number from 0 to " + std::to_string(number_max) + ", found " +
                                  std::to_string(*number));
  }
  return static_cast<std::uint64_t>(*number);
}

bool read_flag(std::string_view key, const Node& node) {
  const bool* flag = node.as<bool>();
  if (flag == nullptr) wrong_kind(key, node, "true or false");
  return *flag;
}

Duration read_duration(std::string_view key, const Node& node) {
  const auto length = duration_in(read_text(key, node));
  if (!length) {
    throw Problem(node.begin, quoted(key) + " takes a length of time such as \"20ms\" or \"5s\", found " +
                                  quoted(*node.as<std::string>()));
  }
  return *length;
}

std::uint64_t read_word(std::string_view key, const Node& node, WordSet set) {
  const std::string& name = read_text(key, node);
  const Word* word = find_word(set, name);
  if (word == nullptr)
    throw Problem(node.begin, unknown_text(std::string("value of ").append(key), name, names_of(set)));
  return word->number;
}

Budget read_budget(std::string_view key, const Node& node) {
  if (const std::string* name = node.as<std::string>()) {
    if (*name == "infinite") return Budget::infinite();
    if (*name == "zero") return Budget::zero();
    throw Problem(node.begin, unknown_text(std::string("value of ").append(key), *name, {"infinite", "zero"}));
  }
  const Table* table = node.as<Table>();
  if (table == nullptr) wrong_kind(key, node, "\"infinite\", \"zero\" or a table");
  Budget budget;
  for (const auto& [name, value] : *table) {
    if (name.name == "deadline") {
      budget.deadline = Time() + read_duration(name.name, value);
    } else if (name.name == "polls") {
      budget.polls = Quota(read_number(name.name, value));
    } else if (name.name == "cost") {
      budget.cost = Quota(read_number(name.name, value));
    } else if (name.name == "priority") {
      budget.priority = static_cast<std::uint8_t>(read_number(name.name, value, UINT8_MAX));
    } else {
      unknown_key(key, name, {"deadline", "polls", "cost", "priority"});
    }
  }
  return budget;
}

kernel::Limits read_limits(std::string_view key, const Node& node) {
  const Table* table = node.as<Table>();
  if (table == nullptr) wrong_kind(key, node, "a table");
  kernel::Limits limits;
  for (const auto& [name, value] : *table) {
    if (name.name == "tasks") {
      limits.tasks = static_cast<std::uint32_t>(read_number(name.name, value, UINT32_MAX));
    } else if (name.name == "regions") {
      limits.regions = static_cast<std::uint32_t>(read_number(name.name, value, UINT32_MAX));
    } else if (name.name == "obligations") {
      limits.obligations = static_cast<std::uint32_t>(read_number(name.name, value, UINT32_MAX));
    } else if (name.name == "heap_bytes") {
      limits.heap_bytes = read_number(name.name, value);
    } else {
      unknown_key(key, name, {"tasks", "regions", "obligations", "heap_bytes"});
    }
  }
  return limits;
}

Field read_field(std::string_view key, const Node& node, const FieldType& type, const Names& names) {
  switch (type.form) {
    case FieldForm::new_name:
      return {node.begin, read_new_name(key, node, names), {}};
    case FieldForm::name:
      return {node.begin, read_name(key, node, type.name, names), {}};
    case FieldForm::record:
      return {node.begin, read_record(key, node, names), {}};
    case FieldForm::records:
      return list_field(key, node, [&](const Node& one) { return read_record(key, one, names); });
    case FieldForm::names:
      return list_field(key, node, [&](const Node& one) { return read_name(key, one, type.name, names); });
    case FieldForm::holder:
      return {node.begin, read_holder(key, node, names), {}};
    case FieldForm::flag: {
      const bool flag = read_flag(key, node);
      return {node.begin, flag ? "true" : "false", flag};
    }
    case FieldForm::number: {
      const std::uint64_t number = read_number(key, node);
      return {node.begin, std::to_string(number), number};
    }
    case FieldForm::text:
      return {node.begin, read_text(key, node), {}};
    case FieldForm::texts:
      return list_field(key, node, [&](const Node& one) { return read_text(key, one); });
    case FieldForm::span: {
      const Duration length = read_duration(key, node);
      return {node.begin, calm::to_string(length), static_cast<std::uint64_t>(length.ns())};
    }
    case FieldForm::time: {
      const Time time = Time() + read_duration(key, node);
      return {node.begin, calm::to_string(time), time.ns()};
    }
    case FieldForm::word: {
      const std::uint64_t number = read_word(key, node, type.words);
      return {node.begin, *node.as<std::string>(), number};
    }
    case FieldForm::words:
      return list_field(key, node, [&](const Node& one) {
        read_word(key, one, type.words);
        return *one.as<std::string>();
      });
    case FieldForm::budget: {
      const Budget budget = read_budget(key, node);
      return {node.begin, calm::to_string(budget), budget};
    }
    case FieldForm::limits:
      return {node.begin, {}, read_limits(key, node)};
    case FieldForm::ledger:
      return ledger_field(key, node);
    case FieldForm::expression: {
      const std::string& text = read_text(key, node);
      check_expression(text, node.begin, names.of(NameKind::value));
      return {node.begin, text, {}};
    }
    case FieldForm::expressions:
      return list_field(key, node, [&](const Node& one) {
        const std::string& text = read_text(key, one);
        check_expression(text, one.begin, names.of(NameKind::value));
        return text;
      });
  }
  return {};
}

}  // namespace calm::scenario
