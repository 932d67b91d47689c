// floor_permits.hpp — a number of permits and a line of frames; with one permit it is a lock.
#pragma once

#include "bench/peers/floor.hpp"

namespace bench::peers::floor {

class Permits {
 public:
  explicit Permits(std::uint64_t free) noexcept : free_(free) {}

  struct Acquire {
    Permits& permits;

    [[nodiscard]] bool await_ready() const noexcept {
      if (permits.free_ == 0) return false;
      --permits.free_;
      return true;
    }
    template <class Other>
    void await_suspend(std::coroutine_handle<Other> waiting) const noexcept {
      permits.line_.push(waiting.promise());
    }
    void await_resume() const noexcept {}
  };
  [[nodiscard]] Acquire acquire() noexcept { return {*this}; }

  void release() noexcept {
    if (Node* const next = line_.pop()) {
      ready.push(*next);  // the permit is its own now
    } else {
      ++free_;
    }
  }

 private:
  std::uint64_t free_;
  Queue line_;
};

}  // namespace bench::peers::floor
