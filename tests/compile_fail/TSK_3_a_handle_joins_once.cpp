// expect(clang): 'this' argument to member function 'join' is an lvalue, but function has rvalue ref-qualifier
// expect(gcc): passing 'calm::Handle<int>' as 'this' argument discards qualifiers
#include "calm/cx/spawned.hpp"

calm::Task<int> join(calm::Cx cx, calm::Handle<int> handle) {
#ifdef MUST_NOT_COMPILE
  const int value = co_await handle.join(cx);
#else
  const int value = co_await std::move(handle).join(cx);
#endif
  co_return value;
}
