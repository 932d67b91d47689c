// fiber.hpp — a function with a stack of its own that can stop in the middle and go on later, on one thread.
// Laws:    none
// Threads: a fiber is created, resumed and destroyed by one thread
// Cancel:  not applicable; a fiber destroyed in the middle is forgotten, its stack is not unwound
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace calm::interleave {

class Fiber {
 public:
  /// Needs: a body that lets no exception out.
  explicit Fiber(std::function<void()> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Needs: to be called from outside of any fiber.
  /// Gives: control to the fiber until it calls leave() or its body ends; a body that ended starts again.
  void resume();

  /// Needs: to be called inside this fiber.
  void leave();

 private:
  static void enter();
  void run();

  static constexpr std::size_t stack_bytes_ = 256UL * 1024;  // frames are large under AddressSanitizer

  std::function<void()> body_;
  std::unique_ptr<std::byte[]> stack_;
  ucontext_t inner_{};
  ucontext_t outer_{};
  // What the sanitizers want to know of both stacks.
  [[maybe_unused]] void* inner_fake_stack_ = nullptr;
  [[maybe_unused]] void* outer_fake_stack_ = nullptr;
  [[maybe_unused]] const void* outer_stack_ = nullptr;
  [[maybe_unused]] std::size_t outer_stack_bytes_ = 0;
  [[maybe_unused]] void* inner_context_ = nullptr;
  [[maybe_unused]] void* outer_context_ = nullptr;
};

}  // namespace calm::interleave
