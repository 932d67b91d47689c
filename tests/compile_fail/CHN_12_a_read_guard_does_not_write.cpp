// expect(clang): cannot assign to return value because function 'operator\*' returns a const value
// expect(gcc): assignment of read-only location
#include "calm/sync/rwlock.hpp"

calm::Task<void> change(calm::Cx cx, calm::RwLock<int>* value) {
#ifdef MUST_NOT_COMPILE
  const auto guard = co_await value->read(cx);
#else
  const auto guard = co_await value->write(cx);
#endif
  *guard = 1;
}
