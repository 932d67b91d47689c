// A failing check in a constant expression: the broken law and its condition stand in the output.
// expect(clang): constexpr variable 'polls' must be initialized by a constant expression
// expect(gcc): call to non-'constexpr' function .*calm::check::detail::fail_at
// expect: CALM_REQUIRE\(BUD_1, count != UINT64_MAX, count\);
#include "calm/model/budget.hpp"

#ifdef MUST_NOT_COMPILE
constexpr calm::Quota polls(UINT64_MAX);
#else
constexpr calm::Quota polls = calm::Quota::infinite();
static_assert(polls.is_infinite());
#endif
