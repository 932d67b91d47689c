// expect(clang): no viable conversion from returned value of type 'int' to function return type 'calm::Outcome<int, int>'
// expect(gcc): could not convert '3' from 'int' to 'calm::Outcome<int, int>'
#include "calm/model/outcome.hpp"

calm::Outcome<int, int> answer() {
#ifdef MUST_NOT_COMPILE
  return 3;
#else
  return calm::ok(3);
#endif
}
