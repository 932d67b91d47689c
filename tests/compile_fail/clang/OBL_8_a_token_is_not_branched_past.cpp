// expect: invalid invocation of method 'commit' on a temporary object while it is in the 'unknown' state
#include "calm/cx/graded.hpp"

constexpr auto ack = calm::ObligationKind::ack;
bool is_late();

calm::Task<calm::Spent<ack>> body(calm::Cx, calm::GradedToken<ack> token) {
#ifdef MUST_NOT_COMPILE
  if (is_late()) (void)std::move(token).abort();
#else
  if (is_late()) co_return std::move(token).abort();
#endif
  co_return std::move(token).commit();
}
