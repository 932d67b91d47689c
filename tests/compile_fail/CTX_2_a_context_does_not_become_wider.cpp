// expect(clang): no viable conversion from .*CxOf<calm::cap::time>' to .*CxOf<.*calm::cap::io.*>'
// expect(gcc): conversion from .*CxOf<calm::cap::time>' to non-scalar type .*CxOf<calm::cap::io>' requested
#include "calm/cx/cx.hpp"

void narrow(calm::Cx cx) {
#ifdef MUST_NOT_COMPILE
  const calm::CxOf<calm::cap::time> time = cx;
  const calm::CxOf<calm::cap::io> io = time;
#else
  const calm::CxOf<calm::cap::time, calm::cap::io> both = cx;
  const calm::CxOf<calm::cap::io> io = both;
#endif
  (void)io;
}
