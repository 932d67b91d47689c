// expect(clang): no viable conversion from .*'Outcome<\[\.\.\.\], NetworkError>' to .*'Outcome<\[\.\.\.\], ParseError>'
// expect(clang): 'std::convertible_to<NetworkError, ParseError>' evaluated to false
// expect(gcc): could not convert .* from 'Outcome<\[\.\.\.\],NetworkError>' to 'Outcome<\[\.\.\.\],ParseError>'
#include "calm/model/outcome.hpp"

struct NetworkError {};
struct ParseError {};

calm::Outcome<int, NetworkError> fetch();

calm::Outcome<int, ParseError> load() {
#ifdef MUST_NOT_COMPILE
  return fetch();
#else
  return fetch().map_err([](NetworkError) { return ParseError(); });
#endif
}
