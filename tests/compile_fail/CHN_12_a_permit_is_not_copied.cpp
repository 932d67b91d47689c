// expect(clang): call to implicitly-deleted copy constructor of 'calm::Semaphore::Permit'
// expect(gcc): use of deleted function 'calm::Semaphore::Permit::Permit\(const calm::Semaphore::Permit&\)'
#include <utility>

#include "calm/sync/semaphore.hpp"

calm::Semaphore::Permit pass_on(calm::Semaphore::Permit permit) {
#ifdef MUST_NOT_COMPILE
  calm::Semaphore::Permit second = permit;
#else
  calm::Semaphore::Permit second = std::move(permit);
#endif
  return second;
}
