// expect: a Task does nothing before it is awaited or spawned
#include "calm/cx/scope.hpp"

calm::Task<void> work(calm::Cx cx);

calm::Task<void> start(calm::Cx cx) {
#ifdef MUST_NOT_COMPILE
  work(cx);
  co_return;
#else
  co_await work(cx);
#endif
}
