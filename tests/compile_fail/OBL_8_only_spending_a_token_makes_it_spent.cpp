// expect(clang): calling a private constructor of class 'calm::Spent<calm::ObligationKind::ack>'
// expect(gcc): 'calm::Spent<kind, void>::Spent.*is private within this context
#include "calm/cx/graded.hpp"

constexpr auto ack = calm::ObligationKind::ack;

calm::Task<calm::Spent<ack>> body(calm::Cx, calm::GradedToken<ack> token) {
#ifdef MUST_NOT_COMPILE
  co_return calm::Spent<ack>(calm::ObligationId(), calm::Status());
#else
  co_return std::move(token).abort();
#endif
}
