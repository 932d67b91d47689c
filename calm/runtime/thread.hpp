// thread.hpp — a thread with a name, a stack of a size and a core of its own, where the options ask for that.
// Laws:    SHD-1 (configuration is immutable after start)
// Threads: made and joined by one thread
// Cancel:  not applicable
#pragma once

#include <pthread.h>

#include <cstdint>

#include "calm/model/error_code.hpp"
#include "calm/runtime/options.hpp"

namespace calm::runtime {

class Thread {
 public:
  Thread() noexcept = default;
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
  /// Needs: joined, or never started.
  ~Thread();

  /// Runs `body(context)` as worker `number`. Fails: resource_exhausted; invalid_argument for the size of the stack.
  Status start(const RunOptions& options, std::uint16_t number, void (*body)(void*), void* context) noexcept;
  void join() noexcept;

  /// The calling thread goes to the n-th core after the first of those that it may use, counted around.
  static void go_to_core(std::uint16_t number) noexcept;

 private:
  static void* run(void* thread) noexcept;

  pthread_t handle_{};
  bool started_ = false;
  void (*body_)(void*) = nullptr;
  void* context_ = nullptr;
};

}  // namespace calm::runtime
