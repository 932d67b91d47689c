// expect(clang): requires 4 arguments, but 3 were provided
// expect(gcc): candidate expects 4 arguments, 3 provided
#include "calm/model/outcome.hpp"

int exit_code(const calm::Outcome<int>& outcome) {
  const auto on_ok = [](int value) { return value; };
  const auto on_err = [](const calm::Error&) { return 1; };
  const auto on_cancelled = [](const calm::Reason&) { return 2; };
#ifdef MUST_NOT_COMPILE
  return outcome.visit(on_ok, on_err, on_cancelled);
#else
  return outcome.visit(on_ok, on_err, on_cancelled, [](const calm::Panic&) { return 3; });
#endif
}
