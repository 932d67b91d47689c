#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "apps/calm/commands.hpp"
#include "apps/calm/refused.hpp"
#include "apps/calm/scenario/loader.hpp"
#include "apps/calm/scenario/report.hpp"
#include "apps/calm/scenario/runner.hpp"
#include "apps/calm/scenario/schema.hpp"
#include "apps/calm/scenario/update.hpp"
#include "calm/model/text.hpp"

namespace calm::tool {
namespace {

using scenario::DifferenceClass;
using scenario::Problem;
using scenario::Record;
using scenario::ScenarioFile;

// NOLINTBEGIN(concurrency-mt-unsafe): the tool has one thread and nobody changes its environment
std::string_view ci_variable() {
  for (const char* name : {"CI", "CALM_CI"}) {
    if (std::getenv(name) != nullptr) return name;
  }
  return {};
}
// NOLINTEND(concurrency-mt-unsafe)

const kernel::Profile& profile_named(const std::string& name) {
  if (const kernel::Profile* profile = kernel::find_profile(name)) return *profile;
  std::vector<std::string_view> names;
  for (const kernel::Profile& profile : kernel::profiles) names.push_back(profile.name);
  throw Refused{scenario::unknown_text("profile", name, names)};
}

// The files that the words name; a folder stands for the .toml files in it, by name.
std::vector<std::string> files_of(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  for (const std::string& word : words) {
    std::error_code error;
    if (!std::filesystem::is_directory(word, error)) {
      files.push_back(word);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : std::filesystem::directory_iterator(word)) {
      if (entry.path().extension() == ".toml") inside.push_back(entry.path().string());
    }
    if (inside.empty()) throw Refused{"there is no .toml file in " + word};
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

// Loads all files; of one that does not load there is a record and a line on stderr.
std::vector<ScenarioFile> load_all(const std::vector<std::string>& paths, std::vector<Record>& records) {
  std::vector<ScenarioFile> files;
  for (const std::string& path : paths) {
    try {
      files.push_back(scenario::load_file(path));
    } catch (const Problem& problem) {
      fmt::print(stderr, "calm: {}{}\n", scenario::place_text(path, problem.place()), problem.what());
      scenario::Result result;
      result.kind = DifferenceClass::harness_defect;
      result.differences.push_back({problem.place(), "file", "one that loads", problem.what()});
      records.push_back({path, path, {}, result});
    }
  }
  return files;
}

// Leaves the scenarios with these ids.
void select(std::vector<ScenarioFile>& files, const std::vector<std::string>& ids) {
  std::vector<std::string> all;
  for (const ScenarioFile& file : files) {
    for (const auto& each : file.scenarios) all.push_back(each.id);
  }
  for (const std::string& id : ids) {
    if (std::find(all.begin(), all.end(), id) == all.end()) {
      throw Refused{scenario::unknown_text("scenario", id, {all.begin(), all.end()})};
    }
  }
  if (ids.empty()) return;
  for (ScenarioFile& file : files) {
    std::erase_if(file.scenarios,
                  [&](const auto& each) { return std::find(ids.begin(), ids.end(), each.id) == ids.end(); });
  }
}

void list(const std::vector<ScenarioFile>& files) {
  for (const ScenarioFile& file : files) {
    for (const auto& each : file.scenarios) {
      fmt::print("{:<44} {} [{}]\n", each.id, each.about, fmt::join(each.laws, " "));
    }
  }
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.flush();
  if (!out) throw Refused{"cannot write " + path};
}

bool only_digests_differ(const scenario::Result& result) { return !result.digest.empty() && !result.semantic.empty(); }

// Runs the scenarios of a file; with `update` the digests that differ are written into it.
void run_file(const ScenarioFile& file, const kernel::Profile& profile, bool update, std::vector<Record>& records) {
  std::vector<scenario::NewDigests> fresh;
  for (const auto& each : file.scenarios) {
    Record record{each.id, file.path, each.laws, scenario::run(each, profile)};
    if (update && record.result.kind != DifferenceClass::none && only_digests_differ(record.result)) {
      fresh.push_back({&each, record.result.digest, record.result.semantic});
      record.result.kind = DifferenceClass::intentional;
    }
    records.push_back(std::move(record));
  }
  if (!fresh.empty()) write_file(file.path, scenario::updated_text(scenario::read_file(file.path), fresh));
}

// Prints what differs. Gives: how many scenarios failed.
std::size_t print(const std::vector<Record>& records) {
  std::size_t failed = 0;
  std::size_t defects = 0;
  for (const Record& record : records) {
    if (record.result.kind == DifferenceClass::none) continue;
    fmt::print("{}", scenario::difference_lines(record));
    if (record.result.kind == DifferenceClass::spec_defect) ++defects;
    if (record.result.kind == DifferenceClass::regression || record.result.kind == DifferenceClass::harness_defect) {
      ++failed;
    }
  }
  fmt::print("{} scenario{}, {} failed", records.size(), records.size() == 1 ? "" : "s", failed);
  if (defects != 0) fmt::print(", {} with a defect of the spec", defects);
  fmt::print("\n");
  return failed;
}

void write_report(const ScenarioOptions& options, const std::vector<Record>& records) {
  if (options.report.empty()) return;
  write_file(options.report,
             scenario::report_json(records, {options.profile, scenario::compiler_text(), scenario::commit_text()}));
}

void print_steps() {
  for (const scenario::StepRow& row : scenario::step_rows()) {
    fmt::print("{} = {}\n    {}\n", row.verb, scenario::describe(row.subject), row.about);
    for (const scenario::FieldRow& field : row.fields) {
      if (!field.key.empty())
        fmt::print("    {:<12} {}{}\n", field.key, scenario::describe(field.type), field.needed ? " (needed)" : "");
    }
  }
}

int run(const ScenarioOptions& options) {
  if (options.steps) {
    print_steps();
    return 0;
  }
  if (const std::string_view variable = ci_variable(); options.update && !variable.empty()) {
    throw Refused{
        fmt::format("--update is not for CI, and {} is set; run it where someone reads the difference", variable)};
  }
  if (options.files.empty()) throw Refused{"scenario needs a FILE or a DIR"};
  const kernel::Profile& profile = profile_named(options.profile);
  std::vector<Record> records;
  std::vector<ScenarioFile> files = load_all(files_of(options.files), records);
  if (!records.empty()) {
    write_report(options, records);
    return bad_usage;
  }
  select(files, options.only);
  if (options.list) {
    list(files);
    return 0;
  }
  for (const ScenarioFile& file : files) run_file(file, profile, options.update, records);
  write_report(options, records);
  return print(records) == 0 ? 0 : 1;
}

}  // namespace

int run_scenarios(const ScenarioOptions& options) {
  return or_refused([&] { return run(options); });
}

}  // namespace calm::tool
