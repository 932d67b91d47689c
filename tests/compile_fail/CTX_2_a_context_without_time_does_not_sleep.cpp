// expect(clang): no viable conversion from 'CxOf<calm::cap::io>' to 'CxOf<cap::time>'
// expect(gcc): could not convert 'cx' from 'CxOf<calm::cap::io>' to 'CxOf<calm::cap::time>'
#include "calm/cx/wait.hpp"

#ifdef MUST_NOT_COMPILE
calm::Task<void> pause(calm::CxOf<calm::cap::io> cx) { co_await calm::sleep_until(cx, calm::Time()); }
#else
calm::Task<void> pause(calm::CxOf<calm::cap::io, calm::cap::time> cx) { co_await calm::sleep_until(cx, calm::Time()); }
#endif
