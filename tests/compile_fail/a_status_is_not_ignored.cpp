// expect(clang): ignoring return value of function declared with 'nodiscard' attribute
// expect(gcc): ignoring returned value of type 'calm::Status', declared with attribute 'nodiscard'
#include "calm/model/budget.hpp"

bool work(calm::Budget& budget) {
#ifdef MUST_NOT_COMPILE
  budget.take(1, 100);
  return true;
#else
  return budget.take(1, 100).is_ok();
#endif
}
