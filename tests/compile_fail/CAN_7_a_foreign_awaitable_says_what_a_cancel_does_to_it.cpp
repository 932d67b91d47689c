// expect: calm: a Task awaits Tasks and waits of calm only, because others do not say what a cancel does to them
#include <coroutine>

#include "calm/cx/adapt.hpp"
#include "calm/cx/task.hpp"

calm::Task<void> wait(calm::Cx cx, std::suspend_never foreign) {
#ifdef MUST_NOT_COMPILE
  (void)cx;
  co_await foreign;
#else
  co_await calm::adapt(cx, foreign, calm::waits_on);
#endif
}
