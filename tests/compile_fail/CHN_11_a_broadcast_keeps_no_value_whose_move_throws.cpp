// expect: calm: a broadcast puts a value in the place of an older one, and a move that throws would leave a gap
#include <memory>

#include "calm/channel/broadcast.hpp"

struct Throws {
  Throws(const Throws&) {}  // not noexcept
};
#ifdef MUST_NOT_COMPILE
using Value = Throws;
#else
using Value = std::shared_ptr<Throws>;
#endif

bool make(calm::CxOf<> cx) { return calm::channel::broadcast<Value>(cx, 1).is_ok(); }
