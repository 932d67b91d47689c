// expect(clang): invalid operands to binary expression \('calm::RegionId'.* and 'calm::TaskId'
// expect(gcc): no match for 'operator==' \(operand types are 'calm::RegionId'.* and 'calm::TaskId'
#include "calm/model/id.hpp"

bool same(calm::RegionId region, calm::TaskId task) {
#ifdef MUST_NOT_COMPILE
  return region == task;
#else
  return region.bits() == task.bits();
#endif
}
