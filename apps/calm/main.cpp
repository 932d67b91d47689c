// main.cpp — the calm command line tool.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "apps/calm/commands.hpp"
#include "calm/model/text.hpp"
#include "calm/version.hpp"

namespace {

void add_scenario(CLI::App& app, calm::tool::ScenarioOptions& options, int& status) {
  auto* scenario = app.add_subcommand("scenario", "run scenario files and compare what comes out");
  scenario->add_option("FILE", options.files, "scenario files, or folders of them");
  scenario->add_option("--only", options.only, "id of a scenario; again for more")->take_all()->allow_extra_args(false);
  scenario->add_option("--profile", options.profile, "server, embedded or tiny");
  scenario->add_option("--report", options.report, "write a JSON record per scenario to this file");
  scenario->add_flag("--update", options.update, "write the digests that differ into the files; never in CI");
  scenario->add_flag("--list", options.list, "list the scenarios and their laws");
  scenario->add_flag("--steps", options.steps, "list the steps that a scenario may take");
  scenario->callback([&options, &status] { status = calm::tool::run_scenarios(options); });
}

bool is_command(const CLI::App& app, const std::string& word) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == word) return true;
  }
  return false;
}

int run(int argc, char** argv) {
  CLI::App app("calm: structured concurrency for C++ with lawful cancellation", "calm");
  app.set_version_flag("--version", "calm " CALM_VERSION);
  app.require_subcommand(1);

  int status = 0;
  std::string which;
  calm::tool::ScenarioOptions scenario_options;
  calm::tool::RunExampleOptions run_options;
  calm::tool::ExploreOptions explore_options;
  std::string recording;
  std::vector<std::string> obligation_files;
  std::vector<std::string> guard_paths;
  std::vector<std::string> loop_paths;
  calm::tool::TraceOptions trace_options;
  app.add_subcommand("tour", "show what calm can do")->callback([&] { status = calm::tool::tour(); });
  auto* error = app.add_subcommand("error", "explain an error, or list all of them");
  error->add_option("NAME", which, "name or number of the error, for example region_not_open or 2");
  error->callback([&] { status = calm::tool::explain_error(which); });
  add_scenario(app, scenario_options, status);
  calm::tool::add_run(app, run_options, status);
  calm::tool::add_replay(app, recording, status);
  calm::tool::add_explore(app, explore_options, status);
  calm::tool::add_lint_guards(app, guard_paths, status);
  calm::tool::add_lint_loops(app, loop_paths, status);
  calm::tool::add_lint_obligations(app, obligation_files, status);
  calm::tool::add_trace(app, trace_options, status);
  app.add_subcommand("version", "print the version")->callback([] { fmt::print("calm {}\n", CALM_VERSION); });
  app.add_subcommand("help", "print this text")->callback([&] {
    // app.help() would be that of the command that runs, this one
    fmt::print("{}", app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal));
  });

  // CLI11 would say that a subcommand is required; a user who mistyped one wants to hear which word is not known.
  if (argc > 1 && argv[1][0] != '-' && !is_command(app, argv[1])) {
    fmt::print(stderr, "calm: unknown command {}; calm help lists them\n", calm::quoted(argv[1]));
    return calm::tool::bad_usage;
  }
  if (argc > 1 && argv[1][0] == '-' && app.get_option_no_throw(argv[1]) == nullptr) {
    fmt::print(stderr, "calm: unknown option {}; calm help lists the commands\n", calm::quoted(argv[1]));
    return calm::tool::bad_usage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    return app.exit(help_or_version);
  } catch (const CLI::ParseError& mistake) {
    const std::string text = argc > 1 ? mistake.what() : "a command is missing";
    fmt::print(stderr, "calm: {}; calm help lists the commands\n", text.substr(0, text.find('\n')));
    return calm::tool::bad_usage;
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "calm: %s\n", exception.what());
    return 1;
  }
}
