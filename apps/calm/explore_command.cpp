#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/calm/commands.hpp"
#include "apps/calm/zoo/zoo.hpp"
#include "calm/explore/columns.hpp"
#include "calm/explore/not_deterministic.hpp"
#include "calm/explore/optimal.hpp"
#include "calm/explore/strategies.hpp"
#include "calm/model/text.hpp"

namespace calm::tool {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<bool> interrupted{false};

/// While it lives, Ctrl-C ends the exploration and not the program: what was found by then is shown.
class Interruptible {
 public:
  Interruptible() noexcept : before_(std::signal(SIGINT, [](int) { interrupted.store(true); })) {}
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  ~Interruptible() { (void)std::signal(SIGINT, before_); }

 private:
  void (*before_)(int);
};

/// Tells on standard error how far it has come, once a second.
class Progress final : public explore::Listener {
 public:
  explicit Progress(std::uint64_t known) noexcept : known_(known) {}

  void ended(const explore::Execution& /*execution*/, bool /*deadlock*/) override {
    if (++count_ % 1024 != 0) return;
    const auto now = Clock::now();
    if (now - told_ < std::chrono::seconds(1)) return;
    told_ = now;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const double rate = static_cast<double>(count_) / seconds;
    if (known_ > count_) {
      fmt::print(stderr, "{} of {} executions, {:.0f}/s, about {:.0f} s left\n", count_, known_, rate,
                 static_cast<double>(known_ - count_) / rate);
    } else {
      fmt::print(stderr, "{} executions, {:.0f}/s\n", count_, rate);
    }
  }

 private:
  std::uint64_t known_;
  std::uint64_t count_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point told_ = start_;
};

int refuse(const std::string& what, const std::string& next) {
  fmt::print(stderr, "calm: {}\n  next: {}\n", what, next);
  return bad_usage;
}

std::string parameter_text(std::string_view name, const zoo::Range& range) {
  return range.last == 0 ? std::string() : fmt::format(" --{} {}..{}", name, range.first, range.last);
}

int list_programs() {
  for (const zoo::Species& species : zoo::species()) {
    fmt::print("{:<16}{}{}{}\n", species.name, species.what, parameter_text("n", species.n),
               parameter_text("m", species.m));
  }
  return 0;
}

/// Gives: the value to use; nothing, with the error told, when the one given is out of range.
std::optional<std::uint32_t> parameter(std::string_view program, std::string_view name, const zoo::Range& range,
                                       const std::optional<std::uint32_t>& given) {
  if (!given) return range.standard;
  if (range.last == 0) {
    refuse(fmt::format("{} takes no --{}", program, name), "leave it out; calm explore --list shows what each takes");
    return std::nullopt;
  }
  if (*given < range.first || *given > range.last) {
    refuse(fmt::format("--{} {} is out of range for {}", name, *given, program),
           fmt::format("give one from {} to {}", range.first, range.last));
    return std::nullopt;
  }
  return given;
}

std::optional<explore::Report> explore_by(const ExploreOptions& asked, explore::Program& program,
                                          const explore::Options& options, explore::Listener& listener) {
  if (asked.strategy == "optimal") return explore::explore_optimal(program, options, &listener);
  if (asked.strategy == "all") return explore::explore_all(program, options, UINT32_MAX, &listener);
  if (asked.strategy == "bounded") return explore::explore_all(program, options, asked.preemptions, &listener);
  explore::Options limited = options;
  if (limited.max_executions == UINT64_MAX) limited.max_executions = 10'000;
  if (asked.strategy == "random") return explore::explore_random(program, limited, asked.seed, &listener);
  if (asked.strategy == "pct") return explore::explore_pct(program, limited, asked.seed, asked.depth, &listener);
  return std::nullopt;
}

void print_json(const ExploreOptions& asked, std::uint32_t n, std::uint32_t m, const explore::Report& report,
                double seconds) {
  fmt::print(
      "{{\"program\": \"{}\", \"n\": {}, \"m\": {}, \"strategy\": \"{}\", \"executions\": {}, \"blocked\": {}, "
      "\"fingerprints\": {}, \"deadlocks\": {}, \"buggy\": {}, \"exhausted\": {}, \"seconds\": {:.6f}}}\n",
      asked.program, n, m, asked.strategy, report.executions, report.blocked,
      report.fingerprints_known ? std::to_string(report.fingerprints) : "null", report.deadlocks, report.buggy,
      report.exhausted, seconds);
}

void print_failure(explore::Program& program, const explore::Report& report, const explore::Options& options) {
  const explore::Failure& failure = report.failures.front();
  fmt::print("\nThe first problem came with execution {}: {}\n", failure.execution, failure.problem);
  explore::Options bounded = options;
  bounded.max_executions = 100'000;
  const auto shortest = explore::fewest_preemptions(program, bounded, 4);
  if (shortest) {
    fmt::print("It needs {} preemption{}:\n", shortest->preemptions, shortest->preemptions == 1 ? "" : "s");
  }
  fmt::print("{}", explore::columns(program, shortest ? shortest->failure.schedule : failure.schedule));
}

void print_text(const ExploreOptions& asked, const explore::Report& report, std::uint64_t known, double seconds) {
  fmt::print("{}: {} execution{}", asked.program, report.executions, report.executions == 1 ? "" : "s");
  fmt::print("{}\n", report.exhausted ? ", and there are no more" : ", and there may be more");
  fmt::print("  known         {}\n", known);
  fmt::print("  different     {}\n",
             report.fingerprints_known ? std::to_string(report.fingerprints) : "too many to keep");
  fmt::print("  blocked       {}\n  deadlocks     {}\n  with problems {}\n", report.blocked, report.deadlocks,
             report.buggy);
  fmt::print("  steps         {} and {} to come back to a branch\n", report.steps, report.replayed);
  fmt::print("  time          {:.3f} s, {:.0f} executions/s\n", seconds,
             static_cast<double>(report.executions) / (seconds > 0 ? seconds : 1e-9));
}

int explore_program(const ExploreOptions& asked) {
  if (asked.list) return list_programs();
  const zoo::Species* const species = zoo::find(asked.program);
  if (species == nullptr) {
    return refuse(
        asked.program.empty() ? "explore needs a program" : "no program is called " + calm::quoted(asked.program),
        "calm explore --list shows them");
  }
  const auto n = parameter(asked.program, "n", species->n, asked.n);
  if (!n) return bad_usage;
  const auto m = parameter(asked.program, "m", species->m, asked.m);
  if (!m) return bad_usage;
  if (asked.strategy == "pct" && asked.depth == 0) return refuse("--depth 0 finds nothing", "give 1 or more");

  explore::Threads program(species->make(*n, *m));
  explore::Options options;
  options.max_executions = asked.max_executions;
  options.stop = &interrupted;
  const std::uint64_t known = species->count(*n, *m);
  Progress progress(asked.strategy == "optimal" ? known : 0);
  const Interruptible interruptible;
  const auto start = Clock::now();
  std::optional<explore::Report> report;
  try {
    report = explore_by(asked, program, options, progress);
  } catch (const explore::NotDeterministic& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  if (!report) {
    return refuse("no strategy is called " + calm::quoted(asked.strategy), "take optimal, all, bounded, random or pct");
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (asked.json) {
    print_json(asked, *n, *m, *report, seconds);
  } else {
    print_text(asked, *report, known, seconds);
    if (!report->failures.empty()) print_failure(program, *report, options);
  }
  const bool as_known =
      asked.strategy != "optimal" || !report->exhausted || (report->executions == known && report->blocked == 0);
  if (!as_known)
    fmt::print(stderr, "calm: {} executions are known, {} were explored [LAB-5]\n", known, report->executions);
  return as_known ? 0 : 1;
}

}  // namespace

void add_explore(CLI::App& app, ExploreOptions& options, int& status) {
  auto* explore = app.add_subcommand("explore", "visit every execution of a small concurrent program once");
  explore->add_option("PROGRAM", options.program, "its name; --list shows them");
  explore->add_flag("--list", options.list, "list the programs and what they take");
  explore->add_option("--n", options.n, "how many threads, as the program says");
  explore->add_option("--m", options.m, "how many rounds, as the program says");
  explore->add_option("--strategy", options.strategy, "optimal (default), all, bounded, random or pct");
  explore->add_option("--seed", options.seed, "for random and pct");
  explore->add_option("--depth", options.depth, "for pct: of the bug that is looked for");
  explore->add_option("--preemptions", options.preemptions, "for bounded: how many an execution may have");
  explore->add_option("--max-executions", options.max_executions, "stop after so many");
  explore->add_flag("--json", options.json, "print one JSON record");
  explore->callback([&options, &status] { status = explore_program(options); });
}

}  // namespace calm::tool
