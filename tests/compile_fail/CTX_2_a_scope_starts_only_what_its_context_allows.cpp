// expect: calm: this context starts no fibers, cap::fiber was not passed \(CTX-2\)
#include "calm/cx/scope.hpp"

using Narrow = calm::CxOf<calm::cap::spawn>;
calm::Task<int> work(Narrow cx);

calm::Task<void> body(calm::ScopeOf<calm::cap::spawn>& scope) {
#ifdef MUST_NOT_COMPILE
  auto child = co_await scope.fiber(work);
#else
  auto child = co_await scope.spawn(work);
#endif
  co_await std::move(child).join(scope.cx());
}
