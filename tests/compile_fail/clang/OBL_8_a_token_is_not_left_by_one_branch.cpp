// expect: invalid invocation of method '~GradedToken' on object 'second' while it is in the 'unconsumed' state
#include "calm/cx/graded.hpp"

constexpr auto ack = calm::ObligationKind::ack;
bool is_late();
void keep(calm::Spent<ack> spent);

calm::Spent<ack> both(calm::GradedToken<ack> one, calm::GradedToken<ack> other) {
  calm::GradedToken<ack> second = std::move(other);
  if (is_late()) {
#ifndef MUST_NOT_COMPILE
    keep(std::move(second).abort());
#endif
    return std::move(one).abort();
  }
  keep(std::move(second).commit());
  return std::move(one).commit();
}
