#include "apps/calm/scenario/loader.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "apps/calm/scenario/fields.hpp"
#include "apps/calm/scenario/node.hpp"
#include "calm/model/text.hpp"

namespace calm::scenario {
namespace {

constexpr std::array<std::string_view, 10> families{"region", "task",         "obligation", "cancel", "outcome",
                                                    "budget", "finalization", "channel",    "timer",  "scheduler"};
constexpr std::size_t digest_digits = 16;

const Table& read_table(std::string_view key, const Node& node) {
  const Table* table = node.as<Table>();
  if (table == nullptr) wrong_kind(key, node, "a table");
  return *table;
}

std::vector<std::string_view> keys_of(const StepRow& row) {
  std::vector<std::string_view> keys;
  for (const FieldRow& field : row.fields) {
    if (!field.key.empty()) keys.push_back(field.key);
  }
  if (row.act != nullptr) {
    keys.push_back("expect");
    keys.push_back("times");
  }
  return keys;
}

std::vector<std::string_view> verbs() {
  std::vector<std::string_view> verbs;
  for (const StepRow& row : step_rows()) verbs.push_back(row.verb);
  return verbs;
}

void demand_fields(const Step& step) {
  for (const FieldRow& field : step.row->fields) {
    if (!field.needed || step.find(field.key) != nullptr) continue;
    throw Problem(step.place, "step " + std::string(step.row->verb) + " needs the key " + quoted(field.key) + ": " +
                                  describe(field.type));
  }
}

// What a step gives a name to is there afterwards unless the step is to be refused; a task that waits may get it later.
void add_names(const Step& step, Names& names) {
  const auto answer = step.word("expect", Errc{});
  if (step.row->subject.form != FieldForm::new_name || (answer != Errc{} && answer != Errc::would_block)) return;
  if (step.find("times") == nullptr) {
    names.add(step.subject.text, step.row->subject.name);
    return;
  }
  for (std::uint64_t i = 1; i <= step.number("times", 1); ++i) {
    const std::string name = step.subject.text + std::to_string(i);
    if (names.has(name)) throw Problem(step.subject.place, "the name " + quoted(name) + " is taken");
    names.add(name, step.row->subject.name);
  }
}

Step read_step(const Node& node, Names& names) {
  const Table& table = read_table("steps", node);
  if (table.empty()) throw Problem(node.begin, "a step is empty; its first key is its verb");
  const auto& [verb, subject] = table.front();
  Step step;
  step.place = node.begin;
  step.row = find_step(verb.name);
  if (step.row == nullptr) throw Problem(verb.place, unknown_text("step", verb.name, verbs()));
  step.subject = read_field(verb.name, subject, step.row->subject, names);
  for (const auto& [key, value] : table) {
    if (&key == &verb) continue;
    const FieldRow* field = step.row->find(key.name);
    if (field == nullptr) unknown_key("step " + std::string(verb.name), key, keys_of(*step.row));
    if (key.name == "times") read_number(key.name, value, times_max);
    step.fields.emplace(key.name, read_field(key.name, value, field->type, names));
  }
  demand_fields(step);
  add_names(step, names);
  return step;
}

StatedDigest read_digest(std::string_view key, const Node& node) {
  const std::string& hex = read_text(key, node);
  if (hex.size() != digest_digits || hex.find_first_not_of("0123456789abcdef") != std::string::npos) {
    throw Problem(node.begin, quoted(key) + " takes 16 digits of 0-9a-f, found " + quoted(hex));
  }
  return {hex, node.begin};
}

void read_ceiling(std::optional<std::uint32_t>& ceiling, const Key& key, const Node& node) {
  ceiling = static_cast<std::uint32_t>(read_number(key.name, node, UINT32_MAX));
}

ConfigWish read_config(const Node& node) {
  ConfigWish config;
  for (const auto& [key, value] : read_table("config", node)) {
    if (key.name == "limits") {
      config.root_limits = read_limits(key.name, value);
    } else if (key.name == "budget") {
      config.root_budget = read_budget(key.name, value);
    } else if (key.name == "leak_policy") {
      config.leaks.policy = static_cast<kernel::LeakPolicy>(read_word(key.name, value, WordSet::leak_policy));
    } else if (key.name == "leak_threshold") {
      config.leaks.threshold = read_number(key.name, value);
    } else if (key.name == "leak_then") {
      config.leaks.then = static_cast<kernel::LeakPolicy>(read_word(key.name, value, WordSet::leak_policy));
    } else if (key.name == "strict_tokens") {
      config.strict_tokens = read_flag(key.name, value);
    } else if (key.name == "trace_capacity") {
      config.trace_capacity = read_number(key.name, value);
    } else if (key.name == "trace_when_full") {
      config.trace_when_full = static_cast<trace::WhenFull>(read_word(key.name, value, WordSet::when_full));
    } else if (key.name == "region_ceiling") {
      read_ceiling(config.regions, key, value);
    } else if (key.name == "task_ceiling") {
      read_ceiling(config.tasks, key, value);
    } else if (key.name == "obligation_ceiling") {
      read_ceiling(config.obligations, key, value);
    } else if (key.name == "coalescing_window") {
      config.coalescing.window = read_duration(key.name, value);
    } else if (key.name == "coalescing_group") {
      config.coalescing.group_min = read_number(key.name, value);
    } else if (key.name == "timer_limit") {
      config.timers = read_number(key.name, value);
    } else {
      unknown_key("config", key,
                  {"limits", "budget", "leak_policy", "leak_threshold", "leak_then", "strict_tokens", "trace_capacity",
                   "trace_when_full", "region_ceiling", "task_ceiling", "obligation_ceiling", "coalescing_window",
                   "coalescing_group", "timer_limit"});
    }
  }
  return config;
}

// Gives: true for `CAN-4` and for the promises `I1` to `I7`.
bool is_law(std::string_view text) noexcept {
  const std::size_t dash = text.find('-');
  const std::string_view prefix = dash == std::string_view::npos ? text.substr(0, 1) : text.substr(0, dash);
  const std::string_view number = text.substr(dash == std::string_view::npos ? prefix.size() : dash + 1);
  if (number.empty() || number.find_first_not_of("0123456789") != std::string_view::npos) return false;
  if (dash == std::string_view::npos) return prefix == "I";
  return (prefix.size() == 2 || prefix.size() == 3) &&
         prefix.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string_view::npos;
}

std::vector<std::string> read_laws(const Node& node) {
  const Array* array = node.as<Array>();
  if (array == nullptr) wrong_kind("law", node, "an array of law ids");
  if (array->empty()) throw Problem(node.begin, "\"law\" is empty; a scenario shows at least one law");
  std::vector<std::string> laws;
  for (const Node& element : *array) {
    laws.push_back(read_text("law", element));
    if (!is_law(laws.back()))
      throw Problem(element.begin, quoted(laws.back()) + " is no law id such as \"CAN-4\" or \"I2\"");
  }
  return laws;
}

std::string read_id(const Node& node) {
  const std::string& id = read_text("id", node);
  if (id.empty() || id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") != std::string::npos) {
    throw Problem(node.begin, "an id is made of small letters, digits, _ and dots; found " + quoted(id));
  }
  return id;
}

void read_steps(const Node& node, Scenario& scenario) {
  const Array* array = node.as<Array>();
  if (array == nullptr) wrong_kind("steps", node, "an array of tables");
  if (array->empty()) throw Problem(node.begin, "a scenario without steps shows nothing");
  Names names;
  for (const Node& element : *array) scenario.steps.push_back(read_step(element, names));
  scenario.steps_end_line = node.end.line;
}

void demand(const Scenario& scenario, std::string_view key, bool there) {
  if (!there) throw Problem(scenario.place, "a scenario needs the key " + quoted(key));
}

Scenario read_scenario(const Node& node) {
  Scenario scenario;
  scenario.place = node.begin;
  for (const auto& [key, value] : read_table("scenario", node)) {
    if (key.name == "id") {
      scenario.id = read_id(value);
    } else if (key.name == "law") {
      scenario.laws = read_laws(value);
    } else if (key.name == "about") {
      scenario.about = read_text(key.name, value);
    } else if (key.name == "spec_defect") {
      scenario.spec_defect = read_text(key.name, value);
    } else if (key.name == "config") {
      scenario.config = read_config(value);
    } else if (key.name == "steps") {
      read_steps(value, scenario);
    } else if (key.name == "digest") {
      scenario.digest = read_digest(key.name, value);
    } else if (key.name == "semantic") {
      scenario.semantic = read_digest(key.name, value);
    } else {
      unknown_key("scenario", key, {"id", "law", "about", "spec_defect", "config", "steps", "digest", "semantic"});
    }
  }
  demand(scenario, "id", !scenario.id.empty());
  demand(scenario, "law", !scenario.laws.empty());
  demand(scenario, "about", !scenario.about.empty());
  demand(scenario, "steps", !scenario.steps.empty());
  return scenario;
}

void read_format(const Node& node) {
  if (read_number("format", node) == static_cast<std::uint64_t>(format_version)) return;
  throw Problem(node.begin, "format " + std::to_string(*node.as<std::int64_t>()) +
                                " is not known; this version reads " + std::to_string(format_version));
}

std::string read_family(const Node& node) {
  const std::string& family = read_text("family", node);
  for (const std::string_view known : families) {
    if (family == known) return family;
  }
  throw Problem(node.begin, unknown_text("family", family, {families.begin(), families.end()}));
}

void read_scenarios(const Node& node, ScenarioFile& file) {
  const Array* array = node.as<Array>();
  if (array == nullptr) wrong_kind("scenario", node, "[[scenario]] tables");
  std::set<std::string, std::less<>> ids;
  for (const Node& element : *array) {
    file.scenarios.push_back(read_scenario(element));
    const Scenario& scenario = file.scenarios.back();
    if (!ids.insert(scenario.id).second) {
      throw Problem(scenario.place, "the id " + quoted(scenario.id) + " stands twice in this file");
    }
  }
}

}  // namespace

ScenarioFile load_text(std::string path, std::string_view text) {
  const Node document = parse_toml(text);
  ScenarioFile file;
  file.path = std::move(path);
  bool has_format = false;
  for (const auto& [key, value] : read_table("file", document)) {
    if (key.name == "format") {
      read_format(value);
      has_format = true;
    } else if (key.name == "family") {
      file.family = read_family(value);
    } else if (key.name == "scenario") {
      read_scenarios(value, file);
    } else {
      unknown_key("file", key, {"format", "family", "scenario"});
    }
  }
  if (!has_format) throw Problem({}, "the file does not say its format; it begins with format = 1");
  if (file.family.empty()) throw Problem({}, "the file does not say its family");
  if (file.scenarios.empty()) throw Problem({}, "there is no [[scenario]] in it");
  return file;
}

std::string read_file(const std::string& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw Problem({},
                  std::string("cannot be read: ") + std::strerror(errno));  // NOLINT(concurrency-mt-unsafe): one thread
  std::string text;
  text.resize(file_bytes_max + 1);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() || (in.fail() && !in.eof())) throw Problem({}, "cannot be read: it is no file, or reading failed");
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > file_bytes_max) throw Problem({}, "is larger than 4 MiB, which no scenario file is");
  return text;
}

ScenarioFile load_file(const std::string& path) { return load_text(path, read_file(path)); }

}  // namespace calm::scenario
