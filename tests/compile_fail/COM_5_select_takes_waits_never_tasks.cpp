// expect: select takes waits, never tasks
#include "calm/sync/notify.hpp"
#include "calm/sync/select.hpp"

calm::Task<void> answer(calm::Cx cx) { co_await calm::yield(cx); }

calm::Task<void> first(calm::Cx cx, calm::Notify* told) {
#ifdef MUST_NOT_COMPILE
  (void)co_await calm::select(cx, told->wait(cx), answer(cx));
#else
  (void)co_await calm::select(cx, told->wait(cx), calm::sleep(cx, calm::Duration::milliseconds(5)));
#endif
}
