// trap: co_return in a catch handler keeps the exception, or ends a variable too often
// flags: -O2
#include "probe.hpp"

namespace {

bool still_caught = false;

/// Looks at its end whether an exception is still being handled.
class Answer {
 public:
  struct promise_type {
    int value = 0;
    Answer get_return_object() { return Answer(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept {
      still_caught = still_caught || std::current_exception() != nullptr;
      return {};
    }
    void return_value(int number) noexcept { value = number; }
    void unhandled_exception() noexcept { std::terminate(); }
  };

  explicit Answer(std::coroutine_handle<promise_type> handle) noexcept : handle_(handle) {}
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
  ~Answer() { handle_.destroy(); }
  int get() {
    while (!handle_.done()) handle_.resume();
    return handle_.promise().value;
  }

 private:
  std::coroutine_handle<promise_type> handle_;
};

Answer body() {
  const probe::Counted outside(1);
  for (;;) {
    try {
      const probe::Counted inside(2);
      co_await std::suspend_always();
      throw probe::Counted(3);
    } catch (const probe::Counted& thrown) {
      const probe::Counted here(4);
      co_return outside.value + thrown.value + here.value;
    }
  }
}

}  // namespace

int main() {
  const bool wrong = body().get() != 1 + 3 + 4;
  return probe::verdict(wrong || still_caught || probe::Counted::lived_wrongly());
}
