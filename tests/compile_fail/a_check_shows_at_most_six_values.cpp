// expect: a_check_shows_at_most_six_values
#include "calm/check/require.hpp"

void draw(int a, int b, int c, int d, int e, int f, int g) {
#ifdef MUST_NOT_COMPILE
  CALM_REQUIRE(BUD_1, a < b, a, b, c, d, e, f, g);
#else
  CALM_REQUIRE(BUD_1, a < b && f < g, a, b, c, d, e, f);
#endif
}
