// expect: calm: an eviction moves two values, and if the second move could throw the first value would be lost
#include <memory>

#include "calm/channel/sender.hpp"

struct Throws {
  Throws(Throws&&) {}  // not noexcept
};
#ifdef MUST_NOT_COMPILE
using Value = Throws;
#else
using Value = std::unique_ptr<Throws>;
#endif

bool send(const calm::channel::Sender<Value>& sender, Value value) {
  return sender.send_evict_oldest(std::move(value)).is_ok();
}
