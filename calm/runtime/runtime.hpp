// runtime.hpp — a runtime with options, for those who need more than run(): it can be stopped and looked at from outside.
// Laws:    QUI-2, QUI-3, OBS-1
// Threads: block_on() by one thread at a time; the rest anywhere but on workers
// Cancel:  shut_down() cancels the program with Shutdown
//
//   calm::Runtime runtime({.workers = 4, .signals = true});
//   std::thread stopper([&] { wait_for_the_admin(); runtime.shut_down(5s); });
//   calm::Outcome<void> end = runtime.block_on(serve);
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "calm/runtime/options.hpp"
#include "calm/runtime/run.hpp"

namespace calm {

class Runtime {
 public:
  explicit Runtime(RunOptions options = {});
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

  /// Runs `program(cx)` to quiescence; this thread is its first worker.
  /// Fails: as calm::block_on(); busy when another thread runs a program on it, or another run has the signals.
  template <class F>
  auto block_on(F program) -> Outcome<cx::TaskValue<F, Cx>> {
    runtime::Program<F> root{std::move(program)};
    auto ran = run(&runtime::Program<F>::make, &root);
    if (!ran) return err(std::move(ran).error());
    return root.shell->take();
  }

  /// Asks the program to stop; when it has not after so long, what keeps it is told on standard error, and OnStall::abort
  /// ends the process. Returns at once. Gives: false when nothing runs.
  bool shut_down(Duration within);
  bool shut_down();

  /// Gives: the regions, tasks and promises of the program, who waits for whom, and what its workers have done; nothing
  ///        when nothing runs. The workers stand still for a moment. When each of them is in a poll that does not end, who
  ///        that is and where.
  [[nodiscard]] std::string inspect();

 private:
  struct Parts;
  Outcome<void> run(runtime::MakeRoot make, void* context);

  std::unique_ptr<Parts> parts_;
};

}  // namespace calm
