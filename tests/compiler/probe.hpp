// probe.hpp — what the probes share: a verdict, a coroutine that starts at once, and objects that notice a wrong lifetime.
//
// A probe is a program that ends well and prints `has the bug` or `has not`; it uses nothing of calm.
#pragma once

#include <coroutine>
#include <cstdio>
#include <exception>

namespace probe {

inline int verdict(bool bug) {
  std::puts(bug ? "has the bug" : "has not");
  return 0;
}

class Coroutine {
 public:
  struct promise_type {
    Coroutine get_return_object() { return Coroutine(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };

  explicit Coroutine(std::coroutine_handle<promise_type> handle) noexcept : handle_(handle) {}
  Coroutine(const Coroutine&) = delete;
  Coroutine& operator=(const Coroutine&) = delete;
  ~Coroutine() { handle_.destroy(); }

  [[nodiscard]] std::coroutine_handle<> handle() const noexcept { return handle_; }
  void finish() const {
    while (!handle_.done()) handle_.resume();
  }

 private:
  std::coroutine_handle<promise_type> handle_;
};

/// Counts how often it is made and ended, and notices when it ends where it was not made.
struct Counted {
  static inline int made = 0;
  static inline int ended = 0;
  static inline int misplaced = 0;

  int value;
  const Counted* self = this;

  explicit Counted(int number) noexcept : value(number) { ++made; }
  Counted(const Counted& from) noexcept : value(from.value) { ++made; }
  Counted& operator=(const Counted& from) noexcept {
    value = from.value;
    return *this;
  }
  ~Counted() {
    ++ended;
    misplaced += self == this ? 0 : 1;
  }

  [[nodiscard]] static bool lived_wrongly() noexcept { return made != ended || misplaced != 0; }
};

/// Suspends, then gives the value.
template <class T>
struct Give {
  T value;
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> /*frame*/) const noexcept {}
  T await_resume() const { return value; }
};

inline Give<Counted> give(int number) { return Give<Counted>{Counted(number)}; }
inline Give<int> sum(const Counted& a, const Counted& b) { return Give<int>{a.value + b.value}; }
inline Give<int> sum_of_copies(Counted a, Counted b) { return Give<int>{a.value + b.value}; }

struct Pair {
  Counted first;
  Counted second;
};

/// The verdict of a probe that runs `body(sum)`, which must come to `right`, with every object living as it should.
template <class Body>
int verdict_of(Body body, int right) {
  int sum = 0;
  body(sum).finish();
  return verdict(sum != right || Counted::lived_wrongly());
}

}  // namespace probe
