// expect: a permit that is dropped at once is given back
#include <utility>

#include "calm/sync/semaphore.hpp"

calm::Semaphore::Permit same(calm::Semaphore::Permit permit) { return permit; }

calm::Task<void> work(calm::Cx cx, calm::Semaphore* places) {
#if !defined(MUST_NOT_COMPILE)
  const calm::Semaphore::Permit permit = co_await places->acquire(cx);
#elif defined(__clang__)
  co_await places->acquire(cx);
#else  // g++ 12 says nothing of a co_await whose value is dropped
  calm::Semaphore::Permit permit = co_await places->acquire(cx);
  same(std::move(permit));
#endif
}
