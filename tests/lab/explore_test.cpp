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
#include "program_shrink.hpp"

namespace calm::programs {
namespace {

constexpr std::size_t statements_most = 24;

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
    // There are as many choices as times when several could run. Which of two reasons is the stronger may be decided by ids,
    // and these by which slot was free.
    if (event.kind == trace::EventKind::choice || event.kind == trace::EventKind::cancel_request) continue;
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

/// Gives: what is wrong, or nothing. Programs with more orders than `most` are left out; those with one do not count.
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
    if (all.executions > 1) ++done.programs;
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
    const Program program = make_program(seed);
    if (size_of(program.body) > statements_most) continue;
    if (explore_both_ways(program, explore_time, most, done).empty()) continue;
    const Program small = shrink(
        program, [&](const Program& smaller) { return !explore_both_ways(smaller, explore_time, most, done).empty(); });
    FAIL() << explore_both_ways(small, explore_time, most, done) << "\n" << to_string(small);
  }
  EXPECT_LT(done.executions, done.orders);
  testing::Test::RecordProperty("executions", std::to_string(done.executions));
  testing::Test::RecordProperty("orders", std::to_string(done.orders));
}

TEST(ExplorePrograms, LAB_5_random_programs_are_explored_once_for_each_fingerprint) {
  explore_programs(false, 100, 300);
}

TEST(ExplorePrograms, LAB_5_random_programs_are_explored_once_for_each_fingerprint_when_time_is_a_process) {
  explore_programs(true, 30, 100);
}

}  // namespace
}  // namespace calm::programs
