// floor.hpp — the least there is to do: coroutines on one thread, an intrusive queue, frames from malloc, no features.
//
// No cancellation, no errors, no ownership of tasks, no second thread, no checks. What a workload costs here is what a runtime
// cannot go below unless it avoids the work itself.
#pragma once

#include <coroutine>
#include <cstdlib>
#include <exception>
#include <new>
#include <utility>

#include "bench/peers/peers.hpp"

namespace bench::peers::floor {

/// A frame that can be queued.
struct Node {
  Node* next = nullptr;
  std::coroutine_handle<> frame;
};

/// A queue through the nodes themselves.
class Queue {
 public:
  void push_front(Node& node) noexcept {
    node.next = first_;
    if (first_ == nullptr) last_ = &node;
    first_ = &node;
  }
  void push(Node& node) noexcept {
    node.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &node;
    last_ = &node;
  }
  [[nodiscard]] Node* pop() noexcept {
    Node* const node = first_;
    if (node != nullptr) first_ = node->next;
    return node;
  }
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

 private:
  Node* first_ = nullptr;
  Node* last_ = nullptr;
};

inline Queue ready;

struct PromiseBase : Node {
  Node* joiner = nullptr;
  bool done = false;
  bool detached = false;

  static void* operator new(std::size_t bytes) {
    void* const block = std::malloc(bytes);
    if (block == nullptr) throw std::bad_alloc();
    return block;
  }
  static void operator delete(void* block) noexcept { std::free(block); }

  struct End {
    [[nodiscard]] static bool await_ready() noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> frame) const noexcept {
      PromiseBase& promise = frame.promise();
      promise.done = true;
      if (promise.joiner != nullptr) ready.push_front(*promise.joiner);
      if (promise.detached) frame.destroy();
    }
    void await_resume() const noexcept {}
  };

  [[nodiscard]] static std::suspend_always initial_suspend() noexcept { return {}; }
  [[nodiscard]] static End final_suspend() noexcept { return {}; }
  [[noreturn]] static void unhandled_exception() noexcept { std::terminate(); }
};

template <class T>
struct Promise;

/// A coroutine that start() queues and that gives a T to the one who awaits it.
template <class T>
class Task {
 public:
  using promise_type = Promise<T>;  // NOLINT(readability-identifier-naming): the language's word

  explicit Task(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
  Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~Task() {
    if (frame_) frame_.destroy();
  }

  /// The newest runs first: a tree of tasks goes deep before it goes wide, and what it touches stays in the cache.
  void start() const noexcept { ready.push_front(frame_.promise()); }
  /// Starts it; its frame ends with it.
  void detach() && noexcept {
    frame_.promise().detached = true;
    start();
    frame_ = {};
  }

  [[nodiscard]] bool is_done() const noexcept { return frame_.promise().done; }
  /// Needs: it is done.
  [[nodiscard]] T value() const noexcept { return frame_.promise().value; }

  struct Join {
    promise_type& joined;

    [[nodiscard]] bool await_ready() const noexcept { return joined.done; }
    template <class Other>
    void await_suspend(std::coroutine_handle<Other> joiner) const noexcept {
      joined.joiner = &joiner.promise();
    }
    [[nodiscard]] T await_resume() const noexcept { return joined.value; }
  };
  /// Needs: it was started.
  [[nodiscard]] Join join() const noexcept { return {frame_.promise()}; }

 private:
  std::coroutine_handle<promise_type> frame_;
};

template <class T>
struct Promise : PromiseBase {
  T value{};

  Task<T> get_return_object() noexcept {
    const auto handle = std::coroutine_handle<Promise>::from_promise(*this);
    frame = handle;
    return Task<T>(handle);
  }
  void return_value(T given) noexcept { value = given; }
};

/// Waits in a queue of its own until another wakes it.
struct Park {
  Queue& queue;

  [[nodiscard]] static bool await_ready() noexcept { return false; }
  template <class Other>
  void await_suspend(std::coroutine_handle<Other> frame) const noexcept {
    queue.push(frame.promise());
  }
  void await_resume() const noexcept {}
};

inline Park yield() noexcept { return {ready}; }

/// Opens when so many have counted down.
class Latch {
 public:
  explicit Latch(std::uint64_t left) noexcept : left_(left) {}

  void count_down() noexcept {
    if (--left_ != 0) return;
    while (Node* const waiter = waiting_.pop()) ready.push(*waiter);
  }
  [[nodiscard]] Park wait() noexcept { return {left_ == 0 ? ready : waiting_}; }

 private:
  std::uint64_t left_;
  Queue waiting_;
};

inline void run_ready() {
  while (Node* const node = ready.pop()) node->frame.resume();
}

using Function = Task<std::uint64_t>(Round& round);
using FloorWork = Work<Function>;

}  // namespace bench::peers::floor
