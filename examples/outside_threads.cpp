// Threads that are none of the runtime's: one gives work in, waits for it, and stops the program when it has seen enough.
#include <calm/calm.hpp>
#include <future>
#include <iostream>
#include <string>
#include <thread>
#include <utility>

using namespace std::chrono_literals;

// [door]
calm::Task<std::string> answer(calm::Cx cx, int question) {
  co_await calm::sleep(cx, 1ms);
  co_return std::to_string(question) + (question % 2 == 0 ? " is even" : " is odd");
}

// On a thread of the program's own, as old libraries start them: it asks, and waits for the answers.
void ask(const calm::Injector& door) {
  for (const int question : {7, 12}) {
    calm::OutsideHandle<std::string> asked = door.spawn(answer, question);
    const calm::Outcome<std::string> answered = std::move(asked).wait();
    std::cout << answered.value() << '\n';
  }
}

// In the runtime: a scope that takes work from outside until it is stopped.
struct Serve {
  std::promise<calm::Injector>& door;
  calm::Task<> operator()(calm::Scope& scope) const {
    door.set_value(calm::Injector(scope));
    co_await calm::never<>(scope.cx());
  }
  CALM_CORO_WRAPPER calm::Task<> operator()(calm::Cx cx) const { return calm::scope(cx, *this); }
};
// [/door]

// [stop]
int main() {
  calm::Runtime runtime({.workers = 2, .signals = true});  // SIGINT and SIGTERM stop it, SIGUSR1 shows what it does
  std::promise<calm::Injector> door;
  std::thread client([&] {
    ask(door.get_future().get());
    runtime.shut_down(5s);
  });
  const calm::Outcome<void> end = runtime.block_on(Serve{door});
  client.join();
  std::cout << "the program ended as " << to_string(end.kind()) << '\n';
}
// [/stop]

// [prints]
// prints:
//   7 is odd
//   12 is even
//   the program ended as Cancelled
// [/prints]
