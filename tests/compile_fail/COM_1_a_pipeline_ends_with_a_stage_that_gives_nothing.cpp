// expect: the last stage of a pipeline gives nothing
#include <vector>

#include "calm/combinator/pipeline.hpp"

calm::Task<int> doubled(calm::Cx cx, int number) {
  co_await calm::yield(cx);
  co_return 2 * number;
}
calm::Task<void> taken(calm::Cx cx, int /*number*/) { co_await calm::yield(cx); }

calm::Task<void> run(calm::Cx cx, std::vector<int> numbers) {
#ifdef MUST_NOT_COMPILE
  co_await calm::pipeline(cx, {}, calm::from(numbers), calm::each(doubled));
#else
  co_await calm::pipeline(cx, {}, calm::from(numbers), calm::each(doubled), calm::each(taken));
#endif
}
