// errand.hpp — what a thread that is no worker asks of a runtime: done by a worker between two polls.
// Laws:    SHD-6 (only workers call the kernel), I7, REG-7, HND-3 (an errand is its own place in the queue)
// Threads: made and handed in anywhere; done once, by a worker, or by the runtime when it has ended
// Cancel:  an errand for a runtime that has ended is told so
#pragma once

#include <cstdint>

#include "calm/kernel/worker.hpp"
#include "calm/model/id.hpp"

namespace calm::cx {

/// It belongs to the runtime from Port::hand_in() until run() is called, and to whom run() says after that.
class Errand {
 public:
  Errand(const Errand&) = delete;
  Errand& operator=(const Errand&) = delete;

  /// Does it. `worker` is nullptr when the runtime has ended: there is nobody left to do it for.
  virtual void run(kernel::Worker* worker) noexcept = 0;

  enum class Kind : std::uint8_t {
    question,  ///< from who controls the run; what that changes is recorded where it is done
    outside,   ///< a task is spawned
    blocking,  ///< a call that blocks has ended, and its task is woken
  };
  struct About {
    Kind kind = Kind::question;
    TaskId task{};  ///< who is woken
  };
  /// Gives: what it does, for who records a run (SCH-9).
  [[nodiscard]] virtual About about() const noexcept { return {}; }

  Errand* next = nullptr;  ///< the queue's

 protected:
  Errand() noexcept = default;
  ~Errand() = default;
};

}  // namespace calm::cx
