// expect(clang): no viable conversion from 'Id<IdType::region.*>' to 'Id<IdType::task.*>'
// expect(gcc): conversion from 'Id<calm::IdType::region>' to non-scalar type 'Id<calm::IdType::task>' requested
#include "calm/model/id.hpp"

calm::RegionId region();

#ifdef MUST_NOT_COMPILE
calm::TaskId task = region();
#else
calm::RegionId same = region();
#endif
