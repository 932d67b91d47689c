// expect: calm: the grade of a budget only shrinks \(OBL-8\)
#include "calm/model/graded_budget.hpp"

using Ten = calm::GradedBudget<calm::Grade{.polls = 10}>;
void step(Ten budget);

void work() {
#ifdef MUST_NOT_COMPILE
  const calm::GradedBudget<calm::Grade{.polls = 9}> mine;
#else
  const calm::GradedBudget<calm::Grade{.polls = 11}> mine;
#endif
  step(mine);
}
