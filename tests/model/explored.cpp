#include "tests/model/explored.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <exception>

#include "calm/check/report.hpp"
#include "calm/explore/columns.hpp"
#include "calm/explore/optimal.hpp"
#include "calm/explore/strategies.hpp"

namespace calm::explored {
namespace detail {
namespace {

/// A program that remembers how it was led, for a failed check of the library, which ends the process.
class Remembered final : public explore::Program {
 public:
  explicit Remembered(Threads& threads) : threads_(threads) {
    set_branches(threads.branches());
    current = this;
  }
  ~Remembered() override { current = nullptr; }
  Remembered(const Remembered&) = delete;
  Remembered& operator=(const Remembered&) = delete;

  void restart() override {
    steps_.clear();
    threads_.restart();
  }
  explore::ProcessSet enabled() override { return threads_.enabled(); }
  explore::StepKind step(explore::Process process, explore::Footprint& touched) override {
    steps_ += ' ' + threads_.name_of(process);
    return threads_.step(process, touched);
  }
  explore::Way ways(explore::Process process) override { return threads_.ways(process); }
  void choose(explore::Process process, explore::Way way) override { threads_.choose(process, way); }
  explore::ProcessSet blocked() override { return threads_.blocked(); }
  void pending(explore::Process process, explore::Footprint& touched) override { threads_.pending(process, touched); }
  bool failed() override { return threads_.failed(); }
  std::string problem(bool deadlock) override { return threads_.problem(deadlock); }
  std::string name_of(explore::Process process) override { return threads_.name_of(process); }

  static void show(const check::Report& report) {
    std::fprintf(stderr, "%.*s  schedule:%s\n", static_cast<int>(report.text().size()), report.text().data(),
                 current->steps_.c_str());
  }

 private:
  static thread_local Remembered* current;
  Threads& threads_;
  std::string steps_;
};

thread_local Remembered* Remembered::current = nullptr;

/// What an EXPECT said since `first`.
std::string failures_since(const testing::TestPartResultArray& expectations, int first) {
  std::string text;
  for (int i = first; i < expectations.size(); ++i) {
    if (expectations.GetTestPartResult(i).failed()) text += expectations.GetTestPartResult(i).summary();
  }
  return text;
}

explore::Report run(explore::Program& program, const Options& options) {
  explore::Options how;
  how.max_executions = options.max_executions;
  how.max_steps = options.max_steps;
  how.stop_at_first_problem = true;
  return options.max_preemptions == unbounded ? explore::explore_optimal(program, how)
                                              : explore::explore_all(program, how, options.max_preemptions);
}

}  // namespace

Report explore(const Setup& setup, const Options& options) {
  testing::TestPartResultArray expectations;
  Report result;
  {
    const testing::ScopedFakeTestPartResultReporter collect(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &expectations);
    Threads threads(
        [&](Threads& program) {
          const int before = expectations.size();
          const std::function<void()> check = setup(program);
          program.at_end([&program, &expectations, check, before] {
            if (failures_since(expectations, before).empty()) check();
            const std::string said = failures_since(expectations, before);
            program.check(said.empty(), said);
          });
        },
        {.memory = options.memory, .spurious_failures = options.max_spurious});
    Remembered program(threads);
    const check::ScopedHandler handler(&Remembered::show);
    try {
      const explore::Report report = run(program, options);
      result.executions = report.executions;
      result.exhausted = report.exhausted && report.blocked == 0;
      if (!report.ok()) {
        result.failure = report.failures[0].problem;
        result.steps = columns(program, report.failures[0].schedule, report.failures[0].ways);
      }
    } catch (const std::exception& error) {
      result.failure = error.what();
    }
  }
  return result;
}

}  // namespace detail

std::ostream& operator<<(std::ostream& out, const Report& report) {
  if (report.failure.empty()) {
    return out << report.executions << " executions" << (report.exhausted ? "" : ", not exhausted");
  }
  return out << "calm: execution " << report.executions << " failed: " << report.failure << "\n" << report.steps;
}

void expect_exhausted(const Report& report) {
  EXPECT_TRUE(report.ok()) << report;
  testing::Test::RecordProperty("executions", std::to_string(report.executions));
}

}  // namespace calm::explored
