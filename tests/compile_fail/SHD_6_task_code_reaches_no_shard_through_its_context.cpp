// expect(clang): 'context_' is a private member of 'calm::CxOf<.*>'
// expect(gcc): context_' is private within this context
#include "calm/cx/scope.hpp"

#ifdef MUST_NOT_COMPILE
calm::Task<calm::RegionId> where(calm::Cx cx) { co_return cx.context_->region; }
#else
calm::Task<calm::RegionId> where(calm::Cx cx) { co_return cx.region(); }
#endif
