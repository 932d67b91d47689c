// expect(clang): constant expression evaluates to 256 which cannot be narrowed to type 'std::uint8_t'
// expect(gcc): narrowing conversion of '256' from 'int' to 'uint8_t'
#include "calm/model/budget.hpp"

#ifdef MUST_NOT_COMPILE
calm::Budget urgent{.priority = 256};
#else
calm::Budget urgent{.priority = 255};
#endif
