// expect(clang): no viable conversion from 'int' to 'Quota'
// expect(gcc): could not convert '100' from 'int' to 'calm::Quota'
#include "calm/model/budget.hpp"

#ifdef MUST_NOT_COMPILE
calm::Budget budget{.polls = 100};
#else
calm::Budget budget{.polls = calm::Quota(100)};
#endif
