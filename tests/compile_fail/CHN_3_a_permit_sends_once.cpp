// expect(clang): 'this' argument to member function 'send' is an lvalue, but function has rvalue ref-qualifier
// expect(gcc): passing 'calm::channel::Permit<int>' as 'this' argument discards qualifiers
#include "calm/channel/permit.hpp"

bool send(calm::channel::Permit<int> permit) {
#ifdef MUST_NOT_COMPILE
  return permit.send(1).is_ok();
#else
  return std::move(permit).send(1).is_ok();
#endif
}
