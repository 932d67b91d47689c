#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "apps/calm/commands.hpp"
#include "apps/calm/file.hpp"
#include "apps/calm/lint/flow.hpp"
#include "apps/calm/lint/guards.hpp"
#include "apps/calm/lint/loader.hpp"
#include "apps/calm/lint/loops.hpp"
#include "apps/calm/refused.hpp"

namespace calm::tool {
namespace {

lint::Program load(const std::vector<std::string>& files) {
  lint::Program program;
  try {
    for (const std::string& file : files) lint::load_text(program, file, read_file(file));
    lint::check_calls(program);
  } catch (const lint::Problem& problem) {
    throw Refused{fmt::format("{}:{}: {}", problem.place().file, problem.place().line, problem.what())};
  }
  return program;
}

std::string counted(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

int lint_obligations(const std::vector<std::string>& files) {
  const lint::Program program = load(files);
  const std::vector<lint::Warning> warnings = lint::find_leaks(program);
  for (const lint::Warning& warning : warnings) fmt::print("{}\n", to_string(warning));
  fmt::print("{}, {}\n", counted(program.functions.size(), "function"), counted(warnings.size(), "warning"));
  return warnings.empty() ? 0 : 1;
}

/// Gives: the files, and the C++ files in the folders, by name.
std::vector<std::string> sources_in(const std::vector<std::string>& paths) {
  constexpr std::string_view extensions[] = {".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx", ".h", ".ipp"};
  std::vector<std::string> sources;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      sources.push_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      const std::string extension = entry.path().extension().string();
      const bool source = std::find(std::begin(extensions), std::end(extensions), extension) != std::end(extensions);
      if (source && entry.is_regular_file()) sources.push_back(entry.path().string());
    }
  }
  std::sort(sources.begin(), sources.end());
  if (sources.empty()) throw Refused{"there is no C++ file in these folders"};
  return sources;
}

/// Prints what `find` finds in the text of each source.
template <class Find>
int lint_sources(const std::vector<std::string>& paths, Find find) {
  const std::vector<std::string> sources = sources_in(paths);
  std::size_t count = 0;
  for (const std::string& source : sources) {
    const std::string text = read_file(source);
    for (const auto& found : find(text)) {
      fmt::print("{}\n", to_string(source, found));
      ++count;
    }
  }
  fmt::print("{}, {}\n", counted(sources.size(), "file"), counted(count, "warning"));
  return count == 0 ? 0 : 1;
}

/// Adds a command that looks for something in C++ sources.
template <class Find>
void add_source_lint(CLI::App& app, const std::string& name, const std::string& about, std::vector<std::string>& paths,
                     int& status, Find find) {
  auto* const command = app.add_subcommand(name, about);
  command->add_option("PATH", paths, "C++ files, and folders of them")->required();
  command->callback(
      [&paths, &status, find] { status = or_refused([&paths, find] { return lint_sources(paths, find); }); });
}

}  // namespace

void add_lint_guards(CLI::App& app, std::vector<std::string>& paths, int& status) {
  add_source_lint(app, "lint-guards", "find blocking locks that are held where a coroutine suspends", paths, status,
                  lint::find_held_guards);
}

void add_lint_loops(CLI::App& app, std::vector<std::string>& paths, int& status) {
  add_source_lint(app, "lint-loops", "find loops of coroutines that neither await nor come to a checkpoint", paths,
                  status, lint::find_long_loops);
}

void add_lint_obligations(CLI::App& app, std::vector<std::string>& files, int& status) {
  auto* const command = app.add_subcommand("lint-obligations", "find promises that some way through the code forgets");
  command->add_option("FILE", files, "texts of obligations; several are one program")->required();
  command->callback([&files, &status] { status = or_refused([&files] { return lint_obligations(files); }); });
}

}  // namespace calm::tool
