// expect(clang): ignoring return value of function declared with 'nodiscard' attribute
// expect(gcc): ignoring returned value of type 'calm::Outcome<void>', declared with attribute 'nodiscard'
#include "calm/model/outcome.hpp"

calm::Outcome<void> save();

void leave() {
#ifdef MUST_NOT_COMPILE
  save();
#else
  static_cast<void>(save());
#endif
}
