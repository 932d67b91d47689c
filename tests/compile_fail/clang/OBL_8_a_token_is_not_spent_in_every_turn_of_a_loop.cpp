// expect: invalid invocation of method 'commit' on a temporary object while it is in the 'consumed' state|state of variable 'token' must match at the entry and exit of loop
#include "calm/cx/graded.hpp"

constexpr auto ack = calm::ObligationKind::ack;
bool again();
void keep(calm::Spent<ack> spent);

calm::Spent<ack> body(calm::GradedToken<ack> token) {
#ifdef MUST_NOT_COMPILE
  while (again()) keep(std::move(token).commit());
#else
  while (again()) {
  }
#endif
  return std::move(token).commit();
}
