// Random programs of statements, small ones, explored in two ways: optimally, and in every order.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

#include "calm/cx/task.hpp"
#include "calm/explore/optimal.hpp"
#include "calm/explore/strategies.hpp"
#include "calm/lab/explore.hpp"
#include "calm/lab/task_program.hpp"
#include "interpreter.hpp"
#include "journal.hpp"
#include "program.hpp"

namespace calm::programs {
namespace {

constexpr std::size_t statements_most = 14;

/// The program as an exploration takes it: each run has a journal of its own.
struct Explored {
  const Program* program;

  Task<void> operator()(Cx cx) const {
    Journal journal;
    (void)co_await outcome(interpret(cx, *program, journal));
    if (!journal.problems().empty()) throw std::logic_error(journal.problems().front());
  }
};

/// What executions of the same fingerprint must agree in.
struct Facts {
  std::array<std::uint64_t, trace::event_kind_count + 1> events{};
  std::array<std::uint64_t, 4> ends{};
  Time time{};
  OutcomeKind end = OutcomeKind::ok;

  friend bool operator==(const Facts&, const Facts&) = default;
};

Facts facts_of(const lab::LabReport& report) {
  Facts facts{.time = report.end_time, .end = report.end.kind()};
  for (const trace::Event& event : report.trace.events) {
    if (event.kind == trace::EventKind::choice) continue;  // as many as there were times with a choice
    ++facts.events[static_cast<std::size_t>(event.kind)];
    if (event.kind == trace::EventKind::complete) ++facts.ends[event.argument & 0x3];
  }
  return facts;
}

class Compare final : public explore::Listener {
 public:
  explicit Compare(const lab::TaskProgram& program) noexcept : program_(program) {}

  void ended(const explore::Execution& execution, bool /*deadlock*/) override {
    const Facts facts = facts_of(program_.report());
    const auto [known, added] = facts_.try_emplace(execution.fingerprint(), facts);
    if (!added && !(known->second == facts)) ++differences_;
  }

  [[nodiscard]] std::uint64_t differences() const noexcept { return differences_; }

 private:
  const lab::TaskProgram& program_;
  std::map<std::uint64_t, Facts> facts_;
  std::uint64_t differences_ = 0;
};

struct Explorations {
  std::uint64_t programs = 0;
  std::uint64_t executions = 0;
  std::uint64_t orders = 0;
};

/// Gives: what is wrong, or nothing. Programs with more orders than `most` are left out.
std::string explore_both_ways(const Program& program, bool explore_time, std::uint64_t most, Explorations& done) {
  const lab::LabConfig config{.kernel = lab::explored_kernel(), .explore_time = explore_time};
  const Explored function{&program};
  lab::ProgramOf<Explored> root(function);
  explore::Options options;
  options.max_executions = most;
  options.max_steps = 1000;
  try {
    lab::TaskProgram tasks(config, root);
    Compare compare(tasks);
    const explore::Report all = explore::explore_all(tasks, options, UINT32_MAX, &compare);
    if (!all.exhausted) return {};
    const explore::Report report = explore::explore_optimal(tasks, options);
    ++done.programs;
    done.executions += report.executions;
    done.orders += all.executions;
    if (compare.differences() != 0) return "executions of one fingerprint differ";
    if (report.blocked != 0) return "an execution was blocked";
    if (report.executions != all.fingerprints) {
      return std::to_string(report.executions) + " executions were explored, " + std::to_string(all.fingerprints) +
             " differ among " + std::to_string(all.executions) + " orders";
    }
  } catch (const std::runtime_error& error) {
    return error.what();
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return {};
}

/// As many programs as are small enough.
void explore_programs(bool explore_time, std::uint64_t count, std::uint64_t most) {
  Explorations done;
  for (std::uint64_t seed = 1; done.programs < count; ++seed) {
    Program program = make_program(seed);
    if (size_of(program.body) > statements_most) continue;
    const std::string problem = explore_both_ways(program, explore_time, most, done);
    ASSERT_EQ(problem, "") << to_string(program);
  }
  EXPECT_LT(done.executions, done.orders);
  RecordProperty("executions", static_cast<int>(done.executions));
  RecordProperty("orders", static_cast<int>(done.orders));
}

TEST(ExplorePrograms, LAB_5_random_programs_are_explored_once_for_each_fingerprint) {
  explore_programs(false, 200, 1000);
}

TEST(ExplorePrograms, LAB_5_random_programs_are_explored_once_for_each_fingerprint_when_time_is_a_process) {
  explore_programs(true, 100, 1000);
}

}  // namespace
}  // namespace calm::programs
