// expect: an Outcome that nobody looks at loses its error
#include "calm/channel/permit.hpp"

void send(calm::channel::Permit<int> permit) {
#ifdef MUST_NOT_COMPILE
  std::move(permit).send(1);
#else
  (void)std::move(permit).send(1);
#endif
}
