// expect: calm: this use is more than the grade of the budget allows \(OBL-8\)
#include "calm/model/graded_budget.hpp"

calm::GradedBudget<calm::Grade{.polls = 10}> mine;

void work() {
#ifdef MUST_NOT_COMPILE
  (void)mine.take<calm::Grade{.polls = 11, .cost = 0}>();
#else
  (void)mine.take<calm::Grade{.polls = 10, .cost = 0}>();
#endif
}
