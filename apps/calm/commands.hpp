// commands.hpp — the commands of the calm tool; each prints to standard output and gives the exit status.
// Laws:    none
// Threads: the main thread
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the name that CLI11 has
class App;
}

namespace calm::tool {

/// Exit status of a call whose words are off.
inline constexpr int bad_usage = 2;

/// Shows what calm can do, one stop after the other.
int tour();

/// Explains one error by name or number, or lists all of them when `which` is empty.
int explain_error(const std::string& which);

/// What `calm scenario` was asked for.
struct ScenarioOptions {
  std::vector<std::string> files;  ///< files, and folders of them
  std::vector<std::string> only;   ///< ids; all of them when it is empty
  std::string profile = "server";
  std::string report;   ///< where the JSON records go; empty for nowhere
  bool update = false;  ///< write the digests that differ into the files
  bool list = false;    ///< only say which scenarios there are
  bool steps = false;   ///< only say which steps a scenario may take
};

/// Runs scenario files. Gives: 0; 1 when one came out otherwise; bad_usage when a file does not load.
int run_scenarios(const ScenarioOptions& options);

/// What `calm run` was asked for.
struct RunExampleOptions {
  std::string example;
  bool list = false;  ///< only say which examples there are
  bool lab = false;   ///< else on this thread, with the real clock
  std::uint64_t seed = 1;
  std::uint64_t seeds = 0;  ///< how many, from seed on; 0 for that one alone
  std::string record;       ///< where the recording goes; empty for nowhere
  std::string trace;        ///< where the trace goes; empty for nowhere, JSON with names if it ends in .json
  std::string governor;     ///< lanes choose under this one; empty: the seed does
};

/// Adds `calm run`. On this thread it gives what the example's own main() would; in the lab 0 when each run ended well and no
/// oracle found anything, else 1. Needs: options and status outlive the app.
void add_run(CLI::App& app, RunExampleOptions& options, int& status);

/// Adds `calm replay`. It gives 0 when the run of the file happened again, event for event, and 1 when it did not.
/// Needs: as add_run.
void add_replay(CLI::App& app, std::string& file, int& status);

/// What `calm explore` was asked for.
struct ExploreOptions {
  std::string program;
  bool list = false;     ///< only say which programs there are
  bool gallery = false;  ///< only show what is found in all programs with a known bug
  std::optional<std::uint32_t> n;
  std::optional<std::uint32_t> m;
  std::string strategy = "optimal";
  std::uint64_t seed = 1;
  std::uint32_t depth = 3;
  std::uint32_t preemptions = 2;
  std::uint64_t max_executions = UINT64_MAX;
  bool explore_time = false;         ///< for an example
  bool declared = false;             ///< an example's tasks share nothing that they do not declare
  std::uint32_t max_steps = 10'000;  ///< of one execution
  std::string replay;                ///< a schedule to run alone; empty for none
  std::string html;                  ///< where the timeline of a failure goes; empty for nowhere
  std::string save;                  ///< where what is left goes when it is stopped; empty for nowhere
  std::string resume;                ///< what to go on with; empty for the beginning
  bool progress = false;             ///< tell how far it is, also when standard error is no terminal
  bool json = false;
};

/// Adds `calm explore`. It gives 0 when no bug was found; 1 when one was, or the program does not repeat itself. A program
/// whose number of executions is known is there to be counted: it gives 0 when that is the number, whatever was found in it.
/// Needs: as add_run.
void add_explore(CLI::App& app, ExploreOptions& options, int& status);

/// Adds `calm lint-obligations`. It gives 0 when there is nothing to warn of, 1 when there is, bad_usage when a file cannot be read
/// or is no text of obligations. Needs: files and status outlive the app.
void add_lint_obligations(CLI::App& app, std::vector<std::string>& files, int& status);

/// Adds `calm lint-guards`, which looks for guards of std::mutex and its like that are alive at a co_await. It gives 0 when there is
/// none, 1 when there is one, bad_usage when a file cannot be read. Needs: paths and status outlive the app.
void add_lint_guards(CLI::App& app, std::vector<std::string>& paths, int& status);

/// Adds `calm lint-loops`, which looks for loops of coroutines that neither await nor come to a checkpoint. It gives 0 when there is
/// none, 1 when there is one, bad_usage when a file cannot be read. Needs: paths and status outlive the app.
void add_lint_loops(CLI::App& app, std::vector<std::string>& paths, int& status);

/// What a command of `calm trace` was asked for.
struct TraceOptions {
  std::string file;
  std::string other;   ///< of diff
  std::string output;  ///< where the result goes; empty for standard output
  std::string format = "html";
  std::string axis = "order";  ///< of perfetto
  std::string of;              ///< task or region to show alone; empty for all
  std::uint64_t event = 0;     ///< sequence of the event to explain; 0 for none
};

/// Adds `calm trace` with its commands. They give 0; 1 when a check found something, or two traces differ; bad_usage when a file cannot be read, is
/// no trace or cannot be written. Needs: options and status outlive the app.
void add_trace(CLI::App& app, TraceOptions& options, int& status);

// The stops of the tour.
void show_lab();
void show_cancel_chain();
void show_budget_meet();
void show_outcome_lattice();
void show_state_tables();
void show_kernel();

}  // namespace calm::tool
