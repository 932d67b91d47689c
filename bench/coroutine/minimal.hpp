// minimal.hpp — the least coroutine there is: it knows its caller, its value and whether it failed. No task, no cancel, no
// sites, no exceptions; its caller goes on when it ends. `Memory` gives the frames.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include "bench/coroutine/workload.hpp"

namespace bench {

/// One who wants to see failures: a failing coroutine leaves its code here and lets this frame go on.
struct Asker {
  std::coroutine_handle<> frame;
  std::uint64_t code = 0;
};

template <class Memory>
class Minimal {
 public:
  struct promise_type {
    std::coroutine_handle<> caller = std::noop_coroutine();
    Asker* asker = nullptr;
    std::uint64_t* value = nullptr;

    static void* operator new(std::size_t bytes) { return Memory::take(bytes); }
    static void operator delete(void* frame, std::size_t bytes) noexcept { Memory::give_back(frame, bytes); }

    Minimal get_return_object() noexcept { return Minimal(std::coroutine_handle<promise_type>::from_promise(*this)); }
    static std::suspend_always initial_suspend() noexcept { return {}; }
    struct End {
      static constexpr bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> ended) const noexcept {
        return ended.promise().caller;
      }
      static void await_resume() noexcept {}
    };
    static End final_suspend() noexcept { return {}; }
    void return_value(std::uint64_t number) noexcept { *value = number; }
    static void unhandled_exception() noexcept { std::terminate(); }
  };
  using Handle = std::coroutine_handle<promise_type>;

  Minimal(Minimal&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  Minimal& operator=(Minimal&&) = delete;
  ~Minimal() {
    if (frame_) frame_.destroy();
  }

  /// Runs it on this stack until it suspends for the first time outside of its children.
  void start(std::uint64_t& value) noexcept {
    frame_.promise().value = &value;
    frame_.resume();
  }
  void go_on() noexcept {
    asm volatile("" : "+r"(frame_));  // keeps the compiler from resuming it in line
    frame_.resume();
  }

  /// Awaits the value. When the child fails this is never resumed, and its destructor destroys the child.
  struct Awaiter {
    Handle child;
    std::uint64_t value = 0;
    explicit Awaiter(Handle handle) noexcept : child(handle) {}
    Awaiter(const Awaiter&) = delete;
    Awaiter& operator=(const Awaiter&) = delete;
    ~Awaiter() {
      if (child) child.destroy();
    }
    static constexpr bool await_ready() noexcept { return false; }
    Handle await_suspend(Handle caller) noexcept {
      child.promise().caller = caller;
      child.promise().asker = caller.promise().asker;
      child.promise().value = &value;
      return child;
    }
    std::uint64_t await_resume() noexcept {
      std::exchange(child, {}).destroy();
      return value;
    }
  };
  Awaiter operator co_await() && noexcept { return Awaiter(std::exchange(frame_, {})); }

  /// Awaits how it ends. Gives: the code of its failure.
  struct SeeingAwaiter : Awaiter {
    Asker asker;
    explicit SeeingAwaiter(Handle handle) noexcept : Awaiter(handle) {}
    Handle await_suspend(Handle caller) noexcept {
      asker.frame = caller;
      Awaiter::await_suspend(caller);
      this->child.promise().asker = &asker;
      return this->child;
    }
    std::uint64_t await_resume() noexcept {
      std::exchange(this->child, {}).destroy();
      return asker.code;
    }
  };
  SeeingAwaiter seen() && noexcept { return SeeingAwaiter(std::exchange(frame_, {})); }

 private:
  explicit Minimal(Handle frame) noexcept : frame_(frame) {}
  Handle frame_;
};

template <class Memory>
[[gnu::noinline]] Minimal<Memory> minimal_child(std::uint64_t number) {
  co_return number;
}

template <class Memory>
Minimal<Memory> await_children(std::uint64_t operations, Stopwatch& watch) {
  std::uint64_t sum = 0;
  watch.start();
  for (std::uint64_t i = 0; i < operations; ++i) sum += co_await minimal_child<Memory>(i);
  watch.stop();
  co_return sum;
}

template <class Memory>
[[gnu::noinline]] Minimal<Memory> minimal_nested(int level, std::uint64_t& left) {
  const Leaving leaving(left);
  if (level == 1) co_return 1;
  const std::uint64_t number = co_await minimal_nested<Memory>(level - 1, left);
  co_return number + 1;
}

template <class Memory>
Minimal<Memory> await_nests(std::uint64_t operations, Stopwatch& watch) {
  std::uint64_t sum = 0;
  std::uint64_t left = 0;
  watch.start();
  for (std::uint64_t i = 0; i < operations; i += depth) sum += co_await minimal_nested<Memory>(depth, left);
  watch.stop();
  co_return sum + left;
}

struct Fail {
  std::uint64_t code;
  static constexpr bool await_ready() noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> failing) const noexcept {
    failing.promise().asker->code = code;
    return failing.promise().asker->frame;
  }
  static void await_resume() noexcept {}
};

inline Fail fail(std::uint64_t code) noexcept { return Fail{code}; }

template <class Memory>
[[gnu::noinline]] Minimal<Memory> minimal_failing(int level, std::uint64_t& left) {
  const Leaving leaving(left);
  if (level == 1) co_await fail(failure_code);
  const std::uint64_t number = co_await minimal_failing<Memory>(level - 1, left);
  co_return number + 1;
}

template <class Memory>
Minimal<Memory> see_failures(std::uint64_t operations, Stopwatch& watch) {
  std::uint64_t sum = 0;
  std::uint64_t left = 0;
  watch.start();
  for (std::uint64_t i = 0; i < operations; i += depth) sum += co_await minimal_failing<Memory>(depth, left).seen();
  watch.stop();
  co_return sum + left;
}

template <class Memory>
Minimal<Memory> give_way(std::uint64_t times) {
  std::uint64_t done = 0;
  for (; done < times; ++done) co_await std::suspend_always();
  co_return done;
}

template <class Memory>
std::uint64_t run_yields(std::uint64_t operations, Stopwatch& watch) {
  std::uint64_t done = 0;
  Minimal<Memory> coroutine = give_way<Memory>(operations);
  coroutine.start(done);
  watch.start();
  for (std::uint64_t i = 0; i < operations; ++i) coroutine.go_on();
  watch.stop();
  return done;
}

template <class Memory, auto function>
std::uint64_t run(std::uint64_t operations, Stopwatch& watch) {
  std::uint64_t answer = 0;
  function(operations, watch).start(answer);
  return answer;
}

template <class Memory>
inline constexpr PartWork minimal_parts[] = {
    {"child", run<Memory, await_children<Memory>>}, {"nest", run<Memory, await_nests<Memory>>},
    {"leave", run<Memory, see_failures<Memory>>},   {"yield", run_yields<Memory>},
    {"spawn", run<Memory, await_children<Memory>>},
};

}  // namespace bench
