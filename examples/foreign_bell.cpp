// foreign_bell.cpp — awaits something that was not made for calm: the caller says what a cancel does to it.
#include <calm/calm.hpp>

#include <chrono>
#include <coroutine>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>

using namespace std::chrono_literals;

namespace {

// A bell of some other library, with an awaitable of its own: whoever waits is resumed when it rings or is taken down.
class Bell {
 public:
  struct Wait {
    Bell* bell;
    [[nodiscard]] static bool await_ready() noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting) const noexcept { bell->waiting_ = waiting; }
    [[nodiscard]] std::string_view await_resume() const noexcept { return bell->said_; }
  };

  Wait wait() noexcept { return {this}; }
  void ring() { end("ding"); }
  void take_down() { end("taken down"); }

 private:
  void end(std::string_view said) {
    said_ = said;
    if (waiting_) std::exchange(waiting_, {}).resume();
  }

  std::coroutine_handle<> waiting_;
  std::string_view said_;
};

// [adapt]
// `co_await bell.wait()` does not compile in a Task: nobody said what a cancel does to it. adapt() says it.
calm::Task<> listen(calm::Cx cx, Bell& bell) {
  const auto stop = calm::stops_with([&bell] { bell.take_down(); });  // or calm::waits_on, to wait for it all the same
  const std::string_view said = co_await calm::adapt(cx, bell.wait(), stop);
  std::cout << "the bell: " << said << '\n';
}
// [/adapt]

// A post office with callbacks: it calls one when the letter is there.
class PostOffice {
 public:
  using OnLetter = std::function<void(std::string)>;

  void expect(OnLetter on_letter) { on_letter_ = std::move(on_letter); }
  void forget() { on_letter_ = nullptr; }
  void deliver(std::string letter) const {
    if (on_letter_) on_letter_(std::move(letter));
  }

 private:
  OnLetter on_letter_;
};

// [callback]
// What begins the operation is given a token, and calls it at the end. Two things are said where it is awaited: what a cancel
// does, and where a result goes that comes when nobody waits any more.
calm::Task<> await_letter(calm::Cx cx, PostOffice& office) {
  const auto begin = [&office](calm::Completion<std::string> done) {
    office.expect([done](std::string letter) { done(std::move(letter)); });
  };
  const auto stop = calm::stops_with([&office] { office.forget(); });  // drops the token: that ends the wait
  const auto late = calm::late_to([](const std::string& letter) { std::cout << "too late: " << letter << '\n'; });
  const std::string letter = co_await calm::from_callback<std::string>(cx, begin, stop, late);
  std::cout << "a letter: " << letter << '\n';
  office.deliver("a second one");  // the token is called again
}
// [/callback]

calm::Task<> receive_post(calm::Cx cx) {
  PostOffice office;
  const auto body = [&office](calm::Scope& scope) -> calm::Task<> {
    auto one = co_await scope.fiber(await_letter, std::ref(office));
    co_await calm::sleep(scope.cx(), 10ms);
    office.deliver("dear reader");
    co_await std::move(one).join(scope.cx());
    (void)co_await scope.fiber(await_letter, std::ref(office));
    co_await calm::sleep(scope.cx(), 10ms);
    scope.cancel("nobody writes");
  };
  const calm::Outcome<void> end = co_await calm::outcome(calm::scope(cx, body));
  std::cout << "the second wait ended as " << to_string(end.kind()) << '\n';
}

}  // namespace

// [fiber]
calm::Task<> foreign_bell(calm::Cx cx) {
  Bell first;
  Bell second;
  // A lambda may be the body of a scope: the scope keeps it. A fiber stays on this thread, so it may borrow what a task may
  // not: here the bells, which outlive the scope.
  const auto body = [&first, &second](calm::Scope& scope) -> calm::Task<> {
    auto one = co_await scope.fiber(listen, std::ref(first));
    auto two = co_await scope.fiber(listen, std::ref(second));
    co_await calm::sleep(scope.cx(), 10ms);
    first.ring();
    co_await std::move(one).join(scope.cx());
    scope.cancel("nobody rings the second one");
  };
  const calm::Outcome<void> end = co_await calm::outcome(calm::scope(cx, body));
  std::cout << "the scope ended as " << to_string(end.kind()) << '\n';
  co_await receive_post(cx);
}
// [/fiber]

int main() { return calm::run(foreign_bell); }

// [prints]
// prints:
//   the bell: ding
//   the bell: taken down
//   the scope ended as Cancelled
//   a letter: dear reader
//   too late: a second one
//   the second wait ended as Cancelled
// [/prints]
