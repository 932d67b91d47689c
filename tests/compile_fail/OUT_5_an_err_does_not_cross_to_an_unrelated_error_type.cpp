// expect: static assertion failed.*: OUT-5: this Err does not convert to the error type of the next step; use map_err first
#include "calm/model/outcome.hpp"

struct NetworkError {};
struct ParseError {};

calm::Outcome<int, NetworkError> fetch();
calm::Outcome<int, ParseError> parse(int bytes);

calm::Outcome<int, ParseError> load() {
#ifdef MUST_NOT_COMPILE
  return fetch().and_then(parse);
#else
  return fetch().map_err([](NetworkError) { return ParseError(); }).and_then(parse);
#endif
}
