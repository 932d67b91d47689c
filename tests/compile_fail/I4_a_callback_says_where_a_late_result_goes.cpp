// expect: calm: say drops_late or late_to\(f\): where a result goes that nobody waits for
#include <memory>

#include "calm/cx/from_callback.hpp"

struct Forgets {};
#ifdef MUST_NOT_COMPILE
using Late = Forgets;
#else
using Late = calm::DropsLate;
#endif

auto wait(calm::CxOf<> cx) {
  const auto start = [](const calm::Completion<int>& done) { done(1); };
  return calm::from_callback<int>(cx, start, calm::waits_on, Late{});
}
