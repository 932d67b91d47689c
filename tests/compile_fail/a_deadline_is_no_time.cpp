// There may be no deadline; a Time always is one.
// expect(clang): no viable conversion from 'calm::Deadline' to 'calm::Time'
// expect(gcc): conversion from 'calm::Deadline' to non-scalar type 'calm::Time' requested
#include "calm/model/time.hpp"

calm::Deadline deadline;

#ifdef MUST_NOT_COMPILE
calm::Time end = deadline;
#else
calm::Time end = deadline.is_none() ? calm::Time::max() : deadline.time();
#endif
