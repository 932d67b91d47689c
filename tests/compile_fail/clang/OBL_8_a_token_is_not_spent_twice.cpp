// expect: invalid invocation of method 'commit' on a temporary object while it is in the 'consumed' state
#include "calm/cx/graded.hpp"

constexpr auto ack = calm::ObligationKind::ack;

calm::Task<calm::Spent<ack>> body(calm::Cx cx, calm::GradedToken<ack> token) {
  auto spent = std::move(token).commit();
  co_await calm::yield(cx);
#ifdef MUST_NOT_COMPILE
  co_return std::move(token).commit();
#else
  co_return spent;
#endif
}
