// expect: calm: a watch keeps its value in one place, and a move that throws would leave none there
#include <memory>

#include "calm/channel/watch.hpp"

struct Throws {
  Throws(Throws&&) {}  // not noexcept
  Throws& operator=(Throws&&) { return *this; }
};
#ifdef MUST_NOT_COMPILE
using Value = Throws;
#else
using Value = std::shared_ptr<Throws>;
#endif

bool make(calm::CxOf<> cx, Value value) { return calm::channel::watch<Value>(cx, std::move(value)).is_ok(); }
