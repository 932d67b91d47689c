// expect(clang): call to implicitly-deleted copy constructor of 'calm::Mutex<int>::Guard'
// expect(gcc): use of deleted function '(constexpr )?calm::Mutex<int>::Guard::Guard\(const calm::Mutex<int>::Guard&\)'
#include <utility>

#include "calm/sync/mutex.hpp"

calm::Mutex<int>::Guard pass_on(calm::Mutex<int>::Guard guard) {
#ifdef MUST_NOT_COMPILE
  calm::Mutex<int>::Guard second = guard;
#else
  calm::Mutex<int>::Guard second = std::move(guard);
#endif
  return second;
}
