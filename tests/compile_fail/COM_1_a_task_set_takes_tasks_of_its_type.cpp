// expect: a TaskSet<T> takes callables that give a Task<T>
#include "calm/combinator/task_set.hpp"

calm::Task<int> number(calm::Cx cx) {
  co_await calm::yield(cx);
  co_return 1;
}
calm::Task<long> long_number(calm::Cx cx) {
  co_await calm::yield(cx);
  co_return 1;
}

calm::Task<void> fill(calm::TaskSet<int>* set) {
#ifdef MUST_NOT_COMPILE
  (void)co_await set->spawn(set->cx(), long_number);
#else
  (void)co_await set->spawn(set->cx(), number);
#endif
}
