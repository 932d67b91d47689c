// expect: invalid invocation of method '~GradedToken' on object 'second' while it is in the 'unconsumed' state
#include "calm/cx/graded.hpp"

constexpr auto ack = calm::ObligationKind::ack;

calm::Task<calm::Spent<ack>> first_of(calm::Cx cx, calm::GradedToken<ack> one, calm::GradedToken<ack> other) {
  calm::GradedToken<ack> second = std::move(other);
  co_await calm::yield(cx);
#ifndef MUST_NOT_COMPILE
  (void)std::move(second).abort();
#endif
  co_return std::move(one).commit();
}
