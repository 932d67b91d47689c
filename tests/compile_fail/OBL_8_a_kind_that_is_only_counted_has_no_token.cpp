// expect: calm: tokens of this kind are only counted and have no promise to follow \(OBL-2\)
#include "calm/cx/graded.hpp"

#ifdef MUST_NOT_COMPILE
constexpr auto kind = calm::ObligationKind::lock_guard;
#else
constexpr auto kind = calm::ObligationKind::lease;
#endif

calm::Task<calm::Spent<kind>> body(calm::Cx, calm::GradedToken<kind> token) { co_return std::move(token).commit(); }

calm::Task<void> work(calm::Cx cx) { co_await calm::with_graded<kind>(cx, body); }
