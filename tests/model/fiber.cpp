#include "tests/model/fiber.hpp"

#include <utility>

#if defined(__has_feature)
#define CALM_HAS_FEATURE_(name) __has_feature(name)
#else
#define CALM_HAS_FEATURE_(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || CALM_HAS_FEATURE_(address_sanitizer)
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

namespace calm::interleave {
namespace {

thread_local Fiber* entering = nullptr;  // makecontext passes no pointers

}  // namespace

Fiber::Fiber(std::function<void()> body)
    : body_(std::move(body)), stack_(std::make_unique_for_overwrite<std::byte[]>(stack_bytes_)) {
  getcontext(&inner_);
  inner_.uc_stack.ss_sp = stack_.get();
  inner_.uc_stack.ss_size = stack_bytes_;
  makecontext(&inner_, &Fiber::enter, 0);
  CALM_TSAN_(inner_context_ = __tsan_create_fiber(0));
}

Fiber::~Fiber() { CALM_TSAN_(__tsan_destroy_fiber(inner_context_)); }

void Fiber::resume() {
  entering = this;
  CALM_ASAN_(__sanitizer_start_switch_fiber(&outer_fake_stack_, stack_.get(), stack_bytes_));
  CALM_TSAN_(outer_context_ = __tsan_get_current_fiber());
  CALM_TSAN_(__tsan_switch_to_fiber(inner_context_, 0));
  swapcontext(&outer_, &inner_);
  CALM_ASAN_(__sanitizer_finish_switch_fiber(outer_fake_stack_, nullptr, nullptr));
}

void Fiber::leave() {
  CALM_ASAN_(__sanitizer_start_switch_fiber(&inner_fake_stack_, outer_stack_, outer_stack_bytes_));
  CALM_TSAN_(__tsan_switch_to_fiber(outer_context_, 0));
  swapcontext(&inner_, &outer_);
  CALM_ASAN_(__sanitizer_finish_switch_fiber(inner_fake_stack_, &outer_stack_, &outer_stack_bytes_));
}

void Fiber::enter() { entering->run(); }

void Fiber::run() {
  CALM_ASAN_(__sanitizer_finish_switch_fiber(nullptr, &outer_stack_, &outer_stack_bytes_));
  for (;;) {
    body_();
    leave();
  }
}

}  // namespace calm::interleave
