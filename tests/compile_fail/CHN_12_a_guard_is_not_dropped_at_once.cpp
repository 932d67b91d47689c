// expect: a guard that is dropped at once protects nothing
#include <utility>

#include "calm/sync/mutex.hpp"

calm::Mutex<int>::Guard same(calm::Mutex<int>::Guard guard) { return guard; }

calm::Task<void> count(calm::Cx cx, calm::Mutex<int>* sum) {
#if !defined(MUST_NOT_COMPILE)
  const calm::Mutex<int>::Guard guard = co_await sum->lock(cx);
#elif defined(__clang__)
  co_await sum->lock(cx);
#else  // g++ 12 says nothing of a co_await whose value is dropped
  calm::Mutex<int>::Guard guard = co_await sum->lock(cx);
  same(std::move(guard));
#endif
}
