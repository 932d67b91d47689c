// expect: calm: a task may run on another thread, so its arguments are values
#include <string>
#include <string_view>

#include "calm/cx/scope.hpp"

#ifdef MUST_NOT_COMPILE
using Text = std::string_view;
#else
using Text = std::string;
#endif
calm::Task<void> print(calm::Cx cx, Text text);

calm::Task<void> body(calm::Scope& scope) {
  auto child = co_await scope.spawn(print, Text("hello"));
  co_await std::move(child).join(scope.cx());
}
