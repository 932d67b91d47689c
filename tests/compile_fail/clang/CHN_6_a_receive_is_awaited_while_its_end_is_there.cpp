// expect: temporary whose address is used as value of local variable
#include <utility>

#include "calm/channel/mpsc.hpp"
#include "calm/cx/task.hpp"

calm::channel::Receiver<int> open_channel();

calm::Task<int> receive(calm::Cx cx) {
#ifdef MUST_NOT_COMPILE
  auto receiving = open_channel().recv(cx);
  co_return co_await std::move(receiving);
#else
  co_return co_await open_channel().recv(cx);
#endif
}
