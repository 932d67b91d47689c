// expect: COM-1: a branch is a Task, or a callable that takes the context and gives one
#include "calm/combinator/race.hpp"

calm::Task<int> answer(calm::Cx cx) {
  co_await calm::yield(cx);
  co_return 42;
}

calm::Task<int> first(calm::Cx cx) {
#ifdef MUST_NOT_COMPILE
  co_return co_await calm::race(cx, answer(cx), 42);
#else
  co_return co_await calm::race(cx, answer(cx), answer);
#endif
}
