// lab.hpp — runs a program on one thread with virtual time and seeded choice: the same seed, the same run.
// Laws:    LAB-1, LAB-2, LAB-6, I6
// Threads: one
// Cancel:  as in any host
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "calm/cx/cx.hpp"
#include "calm/cx/port.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/spawned.hpp"
#include "calm/kernel/kernel.hpp"
#include "calm/trace/reader.hpp"

namespace calm::lab {

struct LabConfig {
  std::uint64_t seed = 1;
  std::uint64_t max_steps = 1'000'000;  ///< polls; beyond them the run is stopped and says so
  kernel::Config kernel{};
};

/// What came of a run.
struct LabReport {
  std::uint64_t seed = 0;
  std::uint64_t steps = 0;
  Time end_time{};
  ChildEnd end = ok();                  ///< of the program
  std::vector<std::string> problems{};  ///< what the oracles found; empty when all is well
  trace::Trace trace{};
  std::uint64_t trace_digest = 0;
  std::uint64_t state_digest = 0;

  [[nodiscard]] bool is_clean() const noexcept { return problems.empty(); }
};

/// Gives: the seed, the steps, how it ended, and each problem on lines of its own.
std::string to_string(const LabReport& report);

namespace detail {

/// The program with its value dropped, as the root task of the run.
class Program {
 public:
  virtual ~Program() = default;
  /// Gives: a shell that the run must let go.
  virtual cx::TaskRoot& make(cx::Port& port, RegionId region) = 0;
};

LabReport run(const LabConfig& config, Program& program);

template <class F>
class ProgramOf final : public Program {
 public:
  explicit ProgramOf(F& function) noexcept : function_(function) {}
  cx::TaskRoot& make(cx::Port& port, RegionId region) override {
    using T = cx::TaskValue<F, Cx>;
    auto* const shell = new cx::Shell<T>(port, region);
    shell->begin(cx::keep<T>(Cx(shell->context()), function_));
    return *shell;
  }

 private:
  F& function_;
};

}  // namespace detail

/// Runs `program(cx)` to quiet under this seed, with all oracles on.
/// Fails: std::bad_alloc.
template <class F>
LabReport run(const LabConfig& config, F program) {
  detail::ProgramOf<F> root(program);
  return detail::run(config, root);
}

}  // namespace calm::lab
