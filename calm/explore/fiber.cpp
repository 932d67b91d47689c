#include "calm/explore/fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>
#include <utility>

#if defined(__has_feature)
#define CALM_HAS_FEATURE_(name) __has_feature(name)
#else
#define CALM_HAS_FEATURE_(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || CALM_HAS_FEATURE_(address_sanitizer)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define CALM_ASAN_(call) call
#else
#define CALM_ASAN_(call) static_cast<void>(0)
#endif
#if defined(__SANITIZE_THREAD__) || CALM_HAS_FEATURE_(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#define CALM_TSAN_(call) call
#else
#define CALM_TSAN_(call) static_cast<void>(0)
#endif
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#if defined(__x86_64__)
// calm_explore_switch(save, load): keeps what a callee must keep on the old stack, and takes it from the new one.
asm(R"(
.text
.p2align 4
.type calm_explore_switch,@function
calm_explore_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size calm_explore_switch,.-calm_explore_switch
.p2align 4
.type calm_explore_begin,@function
calm_explore_begin:
  subq $8, %rsp
  movq %r12, %rdi
  callq *%r13
  ud2
.size calm_explore_begin,.-calm_explore_begin
)");
extern "C" {
void calm_explore_switch(void** save, void* load) noexcept;
void calm_explore_begin() noexcept;
}
#endif

namespace calm::explore {

struct Fiber::Switch {
  [[maybe_unused]] void* inner_fake_stack = nullptr;
  [[maybe_unused]] void* outer_fake_stack = nullptr;
  [[maybe_unused]] const void* outer_stack = nullptr;
  [[maybe_unused]] std::size_t outer_stack_bytes = 0;
  [[maybe_unused]] void* inner_context = nullptr;
  [[maybe_unused]] void* outer_context = nullptr;
  [[maybe_unused]] const void* from_stack = nullptr;  // the one that control came from
  [[maybe_unused]] std::size_t from_stack_bytes = 0;
  [[maybe_unused]] bool from_outside = false;  // control came by resume(), and has not arrived yet
#if !defined(__x86_64__)
  ucontext_t inner{};
  ucontext_t outer{};
#endif
};

Fiber::Fiber(std::size_t stack_bytes) : stack_bytes_(stack_bytes), switch_(std::make_unique<Switch>()) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const memory = ::mmap(nullptr, stack_bytes + page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  (void)::mprotect(memory, page, PROT_NONE);  // one that grows too far stops the program instead of writing elsewhere
  stack_ = static_cast<std::byte*>(memory) + page;
}

Fiber::~Fiber() {
  CALM_TSAN_(if (switch_->inner_context != nullptr) __tsan_destroy_fiber(switch_->inner_context));
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  (void)::munmap(stack_ - page, stack_bytes_ + page);
}

void Fiber::reset(Body body, void* context) noexcept {
  body_ = body;
  context_ = context;
  switch_->inner_fake_stack = nullptr;
  CALM_ASAN_(__asan_unpoison_memory_region(stack_, stack_bytes_));  // of frames that were left and never ended
  CALM_TSAN_(if (switch_->inner_context != nullptr) __tsan_destroy_fiber(switch_->inner_context));
  CALM_TSAN_(switch_->inner_context = __tsan_create_fiber(0));
#if defined(__x86_64__)
  // What calm_explore_switch takes off: six registers, and where to go. The stack is aligned as after a call.
  auto* const top = reinterpret_cast<std::uint64_t*>(stack_ + stack_bytes_) - 8;
  top[0] = 0;                                        // r15
  top[1] = 0;                                        // r14
  top[2] = reinterpret_cast<std::uint64_t>(&enter);  // r13
  top[3] = reinterpret_cast<std::uint64_t>(this);    // r12
  top[4] = 0;                                        // rbx
  top[5] = 0;                                        // rbp
  top[6] = reinterpret_cast<std::uint64_t>(&calm_explore_begin);
  top[7] = 0;
  inner_ = top;
#else
  getcontext(&switch_->inner);
  switch_->inner.uc_stack.ss_sp = stack_;
  switch_->inner.uc_stack.ss_size = stack_bytes_;
  inner_ = this;
  // makecontext passes ints: the pointer goes in two halves.
  const auto bits = reinterpret_cast<std::uint64_t>(this);
  makecontext(&switch_->inner, reinterpret_cast<void (*)()>(+[](std::uint32_t high, std::uint32_t low) {
    enter(reinterpret_cast<Fiber*>(std::uint64_t{high} << 32U | low));
  }),
              2, static_cast<std::uint32_t>(bits >> 32U), static_cast<std::uint32_t>(bits));
#endif
}

void Fiber::resume() noexcept {
  resumed_ = this;
  CALM_ASAN_(switch_->from_outside = true);
  CALM_ASAN_(__sanitizer_start_switch_fiber(&switch_->outer_fake_stack, stack_, stack_bytes_));
  CALM_TSAN_(switch_->outer_context = __tsan_get_current_fiber());
  CALM_TSAN_(__tsan_switch_to_fiber(switch_->inner_context, 0));
#if defined(__x86_64__)
  calm_explore_switch(&outer_, inner_);
#else
  swapcontext(&switch_->outer, &switch_->inner);
#endif
  CALM_ASAN_(__sanitizer_finish_switch_fiber(switch_->outer_fake_stack, nullptr, nullptr));
}

void Fiber::leave() noexcept {
  CALM_ASAN_(__sanitizer_start_switch_fiber(&switch_->inner_fake_stack, resumed_->switch_->outer_stack,
                                            resumed_->switch_->outer_stack_bytes));
  switch_out();
  CALM_ASAN_(arrive());
}

void Fiber::pass_to(Fiber& next) noexcept {
  CALM_ASAN_(__sanitizer_start_switch_fiber(&switch_->inner_fake_stack, next.stack_, next.stack_bytes_));
  switch_to(next);
  CALM_ASAN_(arrive());
}

void Fiber::finish(Fiber* next) noexcept {
  // Without a place to keep it AddressSanitizer gives the fake stack back.
  if (next == nullptr) {
    CALM_ASAN_(
        __sanitizer_start_switch_fiber(nullptr, resumed_->switch_->outer_stack, resumed_->switch_->outer_stack_bytes));
    return switch_out();
  }
  CALM_ASAN_(__sanitizer_start_switch_fiber(nullptr, next->stack_, next->stack_bytes_));
  switch_to(*next);
}

void Fiber::switch_out() noexcept {
  CALM_TSAN_(__tsan_switch_to_fiber(resumed_->switch_->outer_context, 0));
#if defined(__x86_64__)
  calm_explore_switch(&inner_, resumed_->outer_);
#else
  swapcontext(&switch_->inner, &resumed_->switch_->outer);
#endif
}

void Fiber::switch_to(Fiber& next) noexcept {
  next.resumed_ = resumed_;
  CALM_TSAN_(__tsan_switch_to_fiber(next.switch_->inner_context, 0));
#if defined(__x86_64__)
  calm_explore_switch(&inner_, next.inner_);
#else
  swapcontext(&switch_->inner, &next.switch_->inner);
#endif
}

/// Control has come to the fiber: AddressSanitizer says from which stack.
void Fiber::arrive() noexcept {
  CALM_ASAN_(
      __sanitizer_finish_switch_fiber(switch_->inner_fake_stack, &switch_->from_stack, &switch_->from_stack_bytes));
  if (!std::exchange(switch_->from_outside, false)) return;
  switch_->outer_stack = switch_->from_stack;
  switch_->outer_stack_bytes = switch_->from_stack_bytes;
}

void Fiber::enter(Fiber* fiber) noexcept {
  CALM_ASAN_(fiber->arrive());
  fiber->body_(fiber->context_);
  __builtin_trap();  // the body has left for good
}

}  // namespace calm::explore
