// expect: calm: a task may run on another thread, so its arguments are values
#include "calm/channel/permit.hpp"
#include "calm/cx/scope.hpp"

calm::Task<void> send(calm::Cx cx, calm::channel::Permit<int> permit);

calm::Task<void> body(calm::Scope& scope, calm::channel::Permit<int> permit) {
#ifdef MUST_NOT_COMPILE
  auto child = co_await scope.spawn(send, std::move(permit));
  co_await std::move(child).join(scope.cx());
#else
  co_await send(scope.cx(), std::move(permit));
#endif
}
