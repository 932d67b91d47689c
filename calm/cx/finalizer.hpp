// finalizer.hpp — the task of a finalizer: its callable, its arguments and its frame are there from the registration on.
// Laws:    HND-3 (the memory of clean-up tasks is taken at `defer`), CTX-4, TSK-5, I2
// Threads: touched by whoever polls the task
// Cancel:  masked by the kernel
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>

#include "calm/cx/context.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/task_root.hpp"
#include "calm/mem/frame_pool.hpp"

namespace calm::cx {

/// Nobody joins a finalizer: the kernel's side is its only owner.
template <class C, class F, class... Arguments>
class FinalizerShell final : public RootOf<void> {
 public:
  FinalizerShell(Port& port, F callable, Arguments... arguments)
      : RootOf<void>(port), given_(std::in_place, std::move(callable), std::move(arguments)...) {}

  static void* operator new(std::size_t bytes) { return mem::FramePool::take(bytes); }
  static void operator delete(void* block, std::size_t bytes) noexcept { mem::FramePool::give_back(block, bytes); }

  /// Makes the frame that the callable runs in. Once. Fails: std::bad_alloc, and what copies of the arguments throw.
  void begin() { start_with(call(std::index_sequence_for<Arguments...>()).leave().promise()); }

  /// What it was given is gone before the kernel hears of its end: then the region may be Closed at once, and on another worker
  /// the scope has returned (I2, TSK-5).
  [[nodiscard]] bool about_to_end() noexcept override {
    given_.reset();
    return false;
  }

 private:
  void end_shell() noexcept override { delete this; }

  template <std::size_t... index>
  CALM_CORO_WRAPPER Task<void> call(std::index_sequence<index...> /*each*/) {
    return given_->callable(C(context()), std::move(std::get<index>(given_->arguments))...);
  }

  struct Given {
    explicit Given(F&& its_callable, Arguments&&... its_arguments)
        : callable(std::move(its_callable)), arguments(std::move(its_arguments)...) {}

    F callable;
    std::tuple<Arguments...> arguments;
  };

  std::optional<Given> given_;
};

}  // namespace calm::cx
