// A program that stops in the middle of its work, for tests/gdb/gdb_test.py and the guide: tasks in nested scopes are
// parked, one is cancelled, one has not begun, a finalizer waits, and one task ends the process. With the argument `lab`
// the lab runs it; with `two` it runs inside a task of another runtime.
#include <cstdlib>
#include <string_view>
#include <utility>

#include "calm/cx/mask.hpp"
#include "calm/cx/obligation.hpp"
#include "calm/cx/scope.hpp"
#include "calm/lab/lab.hpp"
#include "calm/runtime/run.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters): scope() keeps what its body refers to
namespace {

constexpr calm::Time evening = calm::Time::at_ns(3600ULL * 1'000'000'000);

// [program]
calm::Task<int> fetch(calm::Cx cx) {
  co_await calm::sleep_until(cx, evening);
  co_return 1;
}

calm::Task<int> load(calm::Cx cx, int pages) {
  int sum = 0;
  for (int page = 0; page < pages; ++page) sum += co_await fetch(cx);
  co_return sum;
}

calm::Task<int> answer(calm::Cx cx) {
  calm::Obligation reply = co_await calm::reserve(cx, calm::ObligationKind::ack);
  const int pages = co_await load(cx, 2);
  (void)reply.commit();
  co_return pages;
}

struct Connection {
  calm::Task<int> operator()(calm::Scope& scope) const {
    auto session = co_await scope.spawn({.name = "session"}, answer);
    const int pages = co_await std::move(session).join(scope.cx());
    co_return pages;
  }
};

calm::Task<int> serve(calm::Cx cx) {
  const int pages = co_await calm::scope(cx, Connection());
  co_return pages;
}
// [/program]

struct Stopping {
  calm::Task<int> operator()(calm::Scope& scope) const {
    for (int i = 0; i < 30; ++i) co_await calm::yield(scope.cx());
    const auto late = co_await scope.spawn({.name = "late"}, fetch);
    std::abort();
  }
};

calm::Task<int> stop(calm::Cx cx) {
  const int status = co_await calm::scope(cx, Stopping());
  co_return status;
}

calm::Task<int> hold_on(calm::Cx cx) {
  const int page = co_await calm::with_cancel_mask(cx, fetch);
  co_return page;
}

void say_goodbye() {}

struct Everything {
  calm::Task<int> operator()(calm::Scope& scope) const {
    co_await scope.defer(say_goodbye);
    const auto loader = co_await scope.spawn({.name = "loader"}, load, 3);
    const auto server = co_await scope.spawn({.name = "server"}, serve);
    const auto stubborn = co_await scope.spawn({.name = "stubborn"}, hold_on);
    const auto stopper = co_await scope.spawn({.name = "stopper"}, stop);
    for (int i = 0; i < 10; ++i) co_await calm::yield(scope.cx());  // they come to their waits meanwhile
    stubborn.cancel("enough");
    co_return 0;
  }
};

calm::Task<int> program(calm::Cx cx) {
  const int status = co_await calm::scope(cx, Everything());
  co_return status;
}

calm::Task<int> inside(calm::Cx /*cx*/) { co_return calm::run(program); }

}  // namespace
// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

int main(int argc, char** argv) {
  const std::string_view how = argc == 2 ? argv[1] : "";
  if (how == "lab") return calm::lab::run({}, &program).is_clean() ? 0 : 1;
  return how == "two" ? calm::run(inside) : calm::run(program);
}
