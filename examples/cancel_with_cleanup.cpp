// cancel_with_cleanup.cpp — a scope is cancelled; its worker leaves, clean-up runs to its end, and only then it goes on.
#include <calm/calm.hpp>

#include <chrono>
#include <iostream>

using namespace std::chrono_literals;

namespace {

// [worker]
struct Connection {
  Connection() { std::cout << "worker: connected\n"; }
  ~Connection() { std::cout << "worker: connection closed by its destructor\n"; }
};

// Never ends by itself. A cancel wakes it wherever it waits: the co_await does not return, and the destructors run.
calm::Task<> work(calm::Cx cx) {
  const Connection connection;
  for (;;) co_await calm::sleep(cx, 1h);
}
// [/worker]

// [cleanup]
// Clean-up may wait: a finalizer runs masked, so the cancel that started it does not stop it.
calm::Task<> say_goodbye(calm::Cx cx) {
  co_await calm::sleep(cx, 5ms);
  std::cout << "clean-up: said goodbye to the server\n";
}

calm::Task<> serve(calm::Scope& scope) {
  // Finalizers run when everything in the scope has ended, the newest first, each exactly once.
  co_await scope.defer([] { std::cout << "clean-up: lock file removed\n"; });
  co_await scope.defer_async(say_goodbye);

  auto worker = co_await scope.spawn(work);
  co_await calm::sleep(scope.cx(), 20ms);
  scope.cancel("that was long enough");
}
// [/cleanup]

}  // namespace

// [outcome]
calm::Task<> cancel_with_cleanup(calm::Cx cx) {
  // A plain co_await would end this coroutine as Cancelled too. outcome() asks to see how the scope ended instead.
  const calm::Outcome<void> end = co_await calm::outcome(calm::scope(cx, serve));
  std::cout << "the scope is quiet and ended as " << to_string(end.kind()) << ": " << end.reason().message() << '\n';
}

int main() { return calm::run(cancel_with_cleanup); }
// [/outcome]

// [prints]
// prints:
//   worker: connected
//   worker: connection closed by its destructor
//   clean-up: said goodbye to the server
//   clean-up: lock file removed
//   the scope is quiet and ended as Cancelled: that was long enough
// [/prints]
