// run.hpp — runs a program with the real clock, on one worker or several, until nothing of it is left.
// Laws:    QUI-3, LAB-1 (the same kernel as in the lab), SCH-8 (an idle runtime uses no CPU)
// Threads: the calling one is the first worker; the others live as long as the run
// Cancel:  the program's own
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "calm/cx/cx.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/spawned.hpp"
#include "calm/runtime/options.hpp"

namespace calm {

namespace runtime {

/// Makes the shell of the main task.
using MakeRoot = cx::TaskRoot& (*)(cx::Port&, void*);

class Control;
class Minder;

/// Hears when a run can be reached from other threads.
class RunWatch {
 public:
  virtual void began(Control& control, Minder& minder) = 0;
  virtual void ends() = 0;

 protected:
  ~RunWatch() = default;
};

/// Runs the main task to quiescence. Fails: invalid_argument, resource_exhausted; admission_limit when the root takes no task; busy when another
/// run has the signals.
Outcome<void> run_here(RunOptions options, MakeRoot make, void* context, RunWatch* watch = nullptr);

/// The program and its result, for run_here().
template <class F>
struct Program {
  using Value = cx::TaskValue<F, Cx>;

  F function;
  mem::Ref<cx::Shell<Value>> shell{};

  static cx::TaskRoot& make(cx::Port& port, void* context) {
    auto& program = *static_cast<Program*>(context);
    program.shell = mem::Ref<cx::Shell<Value>>::adopt(new cx::Shell<Value>(port));
    program.shell->begin(cx::keep<Value>(Cx(program.shell->context()), std::move(program.function)));
    program.shell->retain();
    return *program.shell;
  }
};

}  // namespace runtime

/// Runs `program(cx)`; this thread is its first worker. Gives: how it ended, at quiescence: nothing of it is alive any more.
/// Fails: invalid_argument, resource_exhausted when there is no kernel to run it on; std::bad_alloc for its first frame.
template <class F>
auto block_on(F program, const RunOptions& options = {}) -> Outcome<cx::TaskValue<F, Cx>> {
  runtime::Program<F> root{std::move(program)};
  auto ran = runtime::run_here(options, &runtime::Program<F>::make, &root);
  if (!ran) return err(std::move(ran).error());
  return root.shell->take();
}

namespace runtime {

/// Gives: the exit status of a program that ended like this; what went wrong is told on standard error.
int exit_status(const ChildEnd& end);

/// A program with its arguments.
template <class F, class... Arguments>
struct Bound {
  F function;
  std::tuple<Arguments...> arguments;

  CALM_CORO_WRAPPER auto operator()(Cx cx) { return call(cx, std::index_sequence_for<Arguments...>()); }

 private:
  template <std::size_t... index>
  CALM_CORO_WRAPPER auto call(Cx cx, std::index_sequence<index...> /*each*/) {
    return function(cx, std::move(std::get<index>(arguments))...);
  }
};

}  // namespace runtime

/// The main function of a program: runs `program(cx, arguments...)` to quiescence.
/// Gives: its value when that is an int, else 0 for Ok; 1 for Err, 2 for Cancelled, 3 for Panicked, with the story on
///        standard error.
template <class F, class... Arguments>
int run(F program, Arguments... arguments) {
  auto end = block_on(runtime::Bound<F, Arguments...>{std::move(program), {std::move(arguments)...}});
  if constexpr (std::is_same_v<decltype(end), Outcome<int>>) {
    if (end.is_ok()) return end.value();
  }
  return runtime::exit_status(cx::without_value(end));
}

}  // namespace calm
