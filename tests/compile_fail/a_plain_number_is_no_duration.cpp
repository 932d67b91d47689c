// expect(clang): no viable conversion from 'int' to 'calm::Duration'
// expect(gcc): conversion from 'int' to non-scalar type 'calm::Duration' requested
#include <chrono>

#include "calm/model/time.hpp"

using namespace std::chrono_literals;

#ifdef MUST_NOT_COMPILE
calm::Duration timeout = 5;
#else
calm::Duration timeout = 5ms;
#endif
