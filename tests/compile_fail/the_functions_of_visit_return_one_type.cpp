// expect: static assertion failed.*: the four functions of visit return one type
#include "calm/model/outcome.hpp"

#ifdef MUST_NOT_COMPILE
using ErrorCode = long;
#else
using ErrorCode = int;
#endif

int exit_code(const calm::Outcome<int>& outcome) {
  return outcome.visit([](int value) { return value; }, [](const calm::Error&) { return ErrorCode(1); },
                       [](const calm::Reason&) { return 2; }, [](const calm::Panic&) { return 3; });
}
