// expect: calm: this context may not spawn, cap::spawn was not passed \(CTX-2\)
#include "calm/cx/scope.hpp"

calm::Task<void> body(calm::Scope& scope);
calm::Task<int> work(calm::Cx cx);

#ifdef MUST_NOT_COMPILE
calm::Task<void> look_at_the_clock(calm::CxOf<calm::cap::time> cx) { co_await calm::scope(cx, body); }
#else
calm::Task<void> look_at_the_clock(calm::Cx cx) { co_await calm::scope(cx, body); }
#endif
