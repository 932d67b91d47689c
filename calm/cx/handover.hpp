// handover.hpp — how control goes from one frame of a task to the next.
// Laws:    TSK-5
// Threads: by whoever polls the task
// Cancel:  not applicable
#pragma once

#include <coroutine>
#include <utility>

namespace calm::cx {

/// How control goes from one frame to the next. Where symmetric transfer is a tail call in every build, frames hand over to
/// each other; elsewhere (g++ at low optimisation or with sanitizers, and no macro tells) each suspends and a loop goes on.
class Handover {
 public:
  /// Gives: what await_suspend gives for control to go there.
  auto to(std::coroutine_handle<> frame) noexcept {
#if defined(__clang__)
    return frame;
#else
    next_ = frame;
#endif
  }

  /// Resumes this frame and those that control goes to from there.
  void run(std::coroutine_handle<> frame) noexcept {
    frame.resume();
#if !defined(__clang__)
    while (next_) std::exchange(next_, {}).resume();
#endif
  }

 private:
#if !defined(__clang__)
  std::coroutine_handle<> next_;
#endif
};

}  // namespace calm::cx
