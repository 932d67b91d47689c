// fiber.hpp — a function with a stack of its own that stops in the middle and goes on later, on one thread.
// Laws:    LAB-8
// Threads: made, resumed and destroyed by one thread
// Cancel:  not applicable; one that is reset in the middle is forgotten, its stack is not unwound
#pragma once

#include <cstddef>
#include <memory>

namespace calm::explore {

class Fiber {
 public:
  using Body = void (*)(void* context);

  /// Fails: std::bad_alloc.
  explicit Fiber(std::size_t stack_bytes = default_stack_bytes);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber();

  /// The next resume() begins this. Needs: it lets no exception out, and ends by finish().
  void reset(Body body, void* context) noexcept;

  /// Gives control to the fiber, until it leaves. Needs: to be called outside of it.
  void resume() noexcept;
  /// Gives control back to who resumed it. Needs: to be called inside.
  void leave() noexcept;
  /// Gives control to another one, which leaves for who resumed this one. Needs: to be called inside.
  void pass_to(Fiber& next) noexcept;
  /// The same for the last time: it is not resumed before it is reset. Without a next one it leaves.
  void finish(Fiber* next = nullptr) noexcept;

  static constexpr std::size_t default_stack_bytes = 256UL * 1024;  ///< only pages that are used take memory

 private:
  struct Switch;

  static void enter(Fiber* fiber) noexcept;
  void switch_out() noexcept;
  void switch_to(Fiber& next) noexcept;
  void arrive() noexcept;

  std::size_t stack_bytes_;
  std::byte* stack_;
  void* inner_ = nullptr;  // the stack pointer of the one that does not run
  void* outer_ = nullptr;
  Fiber* resumed_ = this;  // the one that was resumed before control was passed to this one
  Body body_ = nullptr;
  void* context_ = nullptr;
  std::unique_ptr<Switch> switch_;  // what the sanitizers, and machines without a switch of our own, want to know
};

}  // namespace calm::explore
