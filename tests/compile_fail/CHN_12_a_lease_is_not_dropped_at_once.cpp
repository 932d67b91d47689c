// expect: a lease that is dropped at once expires
#include <utility>

#include "calm/sync/pool.hpp"

calm::Pool<int>::Lease same(calm::Pool<int>::Lease lease) { return lease; }

calm::Task<void> use(calm::Cx cx, calm::Pool<int>* pool) {
#if !defined(MUST_NOT_COMPILE)
  calm::Pool<int>::Lease lease = co_await pool->checkout(cx);
  lease.give_back();
#elif defined(__clang__)
  co_await pool->checkout(cx);
#else  // g++ 12 says nothing of a co_await whose value is dropped
  calm::Pool<int>::Lease lease = co_await pool->checkout(cx);
  same(std::move(lease));
#endif
}
