// errand.hpp — what a thread that is no worker asks of a runtime: done by a worker between two polls.
// Laws:    SHD-6 (only workers call the kernel), I7, REG-7, HND-3 (an errand is its own place in the queue)
// Threads: made and handed in anywhere; done once, by a worker, or by the runtime when it has ended
// Cancel:  an errand for a runtime that has ended is told so
#pragma once

#include "calm/kernel/worker.hpp"

namespace calm::cx {

/// It belongs to the runtime from Port::hand_in() until run() is called, and to whom run() says after that.
class Errand {
 public:
  Errand(const Errand&) = delete;
  Errand& operator=(const Errand&) = delete;

  /// Does it. `worker` is nullptr when the runtime has ended: there is nobody left to do it for.
  virtual void run(kernel::Worker* worker) noexcept = 0;

  Errand* next = nullptr;  ///< the queue's

 protected:
  Errand() noexcept = default;
  ~Errand() = default;
};

}  // namespace calm::cx
