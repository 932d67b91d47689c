#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "apps/calm/commands.hpp"
#include "apps/calm/file.hpp"
#include "apps/calm/lint/flow.hpp"
#include "apps/calm/lint/loader.hpp"
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

}  // namespace

void add_lint_obligations(CLI::App& app, std::vector<std::string>& files, int& status) {
  auto* const command = app.add_subcommand("lint-obligations", "find promises that some way through the code forgets");
  command->add_option("FILE", files, "texts of obligations; several are one program")->required();
  command->callback([&files, &status] { status = or_refused([&files] { return lint_obligations(files); }); });
}

}  // namespace calm::tool
