// this_worker.hpp — which worker the calling thread is.
// Laws:    SHD-6
// Threads: each has its own answer
// Cancel:  not applicable
#pragma once

#include "calm/kernel/worker.hpp"

namespace calm::runtime {

class Engine;

/// Gives: the worker whose thread calls; nullptr on a thread that is none.
[[nodiscard]] kernel::Worker*& worker_of_this_thread() noexcept;
/// Gives: the run that it is a worker of.
[[nodiscard]] Engine*& engine_of_this_thread() noexcept;

}  // namespace calm::runtime
