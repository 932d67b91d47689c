// expect: private
#include "calm/channel/tracked.hpp"

#ifdef MUST_NOT_COMPILE
calm::channel::CommittedProof forged(calm::ObligationId promise) { return calm::channel::CommittedProof(promise); }
#else
bool sent(calm::channel::TrackedPermit<int> permit) { return std::move(permit).send(1).is_ok(); }
#endif
