// program.hpp — random programs: trees of statements that mean something wherever they stand.
// Laws:    I1..I6 (what they are run for), LAB-3 (a failing one is printed so that a person can read it)
// Threads: values
// Cancel:  cancels of scopes and tasks are among the statements
//
// A statement names nothing. It says "the third of the handles there are" and takes the number modulo how many there
// are; with none it does nothing. So a program still runs when statements are taken out of it. The generator is
// splitmix64 and its own arithmetic: a seed gives the same program everywhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "calm/lab/schedule.hpp"
#include "calm/model/budget.hpp"
#include "calm/model/split_mix.hpp"
#include "calm/model/time.hpp"

namespace calm::programs {

enum class Do : std::uint8_t {
  mark,
  yield,  ///< `a` times
  checkpoint,
  sleep,  ///< duration_of(a)
  spend,  ///< cost three times `a`
  entropy,
  join,          ///< handle `a`; `b` odd: look at its outcome, even: let its failure through
  cancel_task,   ///< handle `a`
  drop_handle,   ///< handle `a`
  cancel_scope,  ///< the scope `a` levels out
  defer,
  reserve,        ///< a promise of kind `a`
  commit,         ///< promise `a`
  abort,          ///< promise `a`
  drop_token,     ///< promise `a`
  fail,           ///< with error `a`
  panic,          ///< throws
  scope,          ///< `a` odd: collect, even: fail fast; `b`: budget_of(b)
  spawn,          ///< `a` odd: into the scope that this task is in; `b`: budget_of(b), and whether it gets a promise
  fiber,          ///< the same
  defer_async,    ///< its body runs when the scope ends
  bracket,        ///< its body uses the resource; acquire takes `a` yields, release `b`
  mask,           ///< its body is masked
  section,        ///< its body is a commit section
  attempt,        ///< its body's outcome is looked at
  call,           ///< its body is a coroutine of its own
  catch_panic,    ///< its body stands in a try block
  with_deadline,  ///< its body has duration_of(a)
  with_budget,    ///< its body has budget_of(a)
};
inline constexpr std::size_t do_count = static_cast<std::size_t>(Do::with_budget) + 1;

std::string_view to_string(Do what) noexcept;
/// Gives: true for what may suspend.
bool waits(Do what) noexcept;

struct Statement {
  Do what = Do::mark;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::vector<Statement> body{};

  friend bool operator==(const Statement&, const Statement&) = default;
};
using Block = std::vector<Statement>;

struct Program {
  std::uint64_t seed = 0;  ///< of its making, and of the choices in its run
  Block body{};
  lab::Faults faults{};

  friend bool operator==(const Program&, const Program&) = default;
};

/// Gives: the program of a seed. Every program has its own mixture: some statements often, some never.
Program make_program(std::uint64_t seed);

/// Gives: the same with a fault: the task or the scope at some await point is cancelled, tasks are woken for nothing, an
/// allocation fails, or the clock jumps.
Program with_trouble(Program program);

/// Gives: how many statements there are, bodies included.
std::size_t size_of(const Block& block) noexcept;

/// Gives: one of ten, from nothing to longer than the default time for clean-up.
Duration duration_of(std::uint32_t number) noexcept;

/// Gives: one of eight, most of them without a bound. A deadline counts from now.
Budget budget_of(std::uint32_t number, Time now) noexcept;

/// Gives: the program as lines, a body between braces.
std::string to_string(const Program& program);

/// Numbers for a program, from its seed.
class Random : public SplitMix {
 public:
  using SplitMix::SplitMix;
  /// Gives: a number below `end`. Needs: above 0.
  std::uint32_t below(std::uint32_t end) noexcept { return static_cast<std::uint32_t>(next() % end); }
};

}  // namespace calm::programs
