// engine.hpp — what can be asked of a run that goes on, by a worker of it.
// Laws:    QUI-2, OBS-1, SCH-6
// Threads: by workers of the run; what says so, anywhere
// Cancel:  shut_down() is one
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "calm/cx/gateway.hpp"
#include "calm/kernel/worker.hpp"
#include "calm/mem/ref.hpp"
#include "calm/runtime/poll_watch.hpp"

namespace calm::runtime {

class Engine {
 public:
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Cancels the root with Shutdown.
  virtual void shut_down(kernel::Worker& worker) = 0;
  /// Gives: the regions and tasks as a tree, who waits for whom, and what the workers have done. The others stand still
  ///        meanwhile, between two polls; one whose poll takes longer than a moment is not waited for, and its task shows as
  ///        being polled.
  [[nodiscard]] virtual std::string inspect(kernel::Worker& worker) = 0;
  /// Gives: what keeps the run from its end, as kernel::diagnose() says it; the others stand still as above.
  [[nodiscard]] virtual std::string stragglers(kernel::Worker& worker) = 0;

  /// Gives: the task that this worker polls, and its frames, as cx::backtrace() does, for a process that is about to end. Needs: it
  ///        polls one; its own thread.
  [[nodiscard]] virtual std::string describe_running(const kernel::Worker& worker) const = 0;

  /// By the one who minds the workers: this one is in a poll, the one with this number, that does not end. Another one takes
  /// over what waits there.
  virtual void rescue(std::size_t worker, std::uint64_t round) noexcept = 0;

  /// Anywhere: what each worker polls.
  [[nodiscard]] virtual std::vector<const PollWatch*> poll_watches() const = 0;

  /// Anywhere.
  [[nodiscard]] virtual const mem::Ref<cx::Gateway>& gateway() const noexcept = 0;

 protected:
  Engine() noexcept = default;
  ~Engine() = default;
};

}  // namespace calm::runtime
