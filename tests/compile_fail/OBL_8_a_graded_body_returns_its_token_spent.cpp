// expect: calm: a graded body returns its token spent: Task<Spent<kind>>, from commit\(\) or abort\(\) \(OBL-8\)
#include "calm/cx/graded.hpp"

constexpr auto ack = calm::ObligationKind::ack;

#ifdef MUST_NOT_COMPILE
calm::Task<void> body(calm::Cx, calm::GradedToken<ack> token) {
  (void)std::move(token).commit();
  co_return;
}
#else
calm::Task<calm::Spent<ack>> body(calm::Cx, calm::GradedToken<ack> token) { co_return std::move(token).commit(); }
#endif

calm::Task<void> work(calm::Cx cx) { co_await calm::with_graded<ack>(cx, body); }
