// expect: static assertion failed.*: and_then takes a function that returns an Outcome; use map for a plain value
#include "calm/model/outcome.hpp"

calm::Outcome<int> fetch();

calm::Outcome<int> twice() {
  const auto doubled = [](int value) { return 2 * value; };
#ifdef MUST_NOT_COMPILE
  return fetch().and_then(doubled);
#else
  return fetch().map(doubled);
#endif
}
