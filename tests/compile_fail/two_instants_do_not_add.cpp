// expect(clang): invalid operands to binary expression \('calm::Time' and 'calm::Time'\)
// expect(gcc): no match for 'operator\+' \(operand types are 'calm::Time' and 'calm::Time'\)
#include "calm/model/time.hpp"

calm::Time later(calm::Time now, calm::Time start) {
#ifdef MUST_NOT_COMPILE
  return now + start;
#else
  return now + (now - start);
#endif
}
