// never.hpp — work that does not end by itself.
// Laws:    COM-3 (it changes nothing in a race)
// Threads: by the task that awaits it, in its own poll
// Cancel:  ends it; nothing else does
#pragma once

#include <exception>
#include <type_traits>
#include <utility>

#include "calm/cx/cx.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"

namespace calm {
namespace combinator {

template <class T>
class NeverWait : public cx::Wait {
 public:
  explicit NeverWait(const cx::Context* context) noexcept : Wait(context) {}
  cx::WaitState step(cx::TaskRoot& /*root*/, ChildEnd& /*end*/) noexcept override { return cx::WaitState::pending; }
  [[noreturn]] static T result() noexcept { std::terminate(); }  // it is never ready

 protected:
  ~NeverWait() = default;
};

}  // namespace combinator

/// Waits until it is cancelled, and ends so.
template <class T = void>
Task<T> never(CxOf<> cx) {
  cx::WaitFor<combinator::NeverWait<T>, const cx::Context*> wait(&cx::context_of(cx));
  if constexpr (std::is_void_v<T>) {
    co_await std::move(wait);
  } else {
    co_return co_await std::move(wait);
  }
}

}  // namespace calm
