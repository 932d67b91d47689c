// trap: from_promise through a base class of an over-aligned promise gives another address
// flags: -O2
#include <cstddef>

#include "probe.hpp"

namespace {

struct Base {
  int number = 0;
};

constexpr std::size_t wide = 64;

class Wide {
 public:
  struct alignas(wide) promise_type : Base {
    Wide get_return_object() { return Wide(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
    // Neither compiler asks for the alignment of the frame by itself.
    static void* operator new(std::size_t size) { return ::operator new(size, std::align_val_t(wide)); }
    static void operator delete(void* frame, std::size_t size) {
      ::operator delete(frame, size, std::align_val_t(wide));
    }
  };

  explicit Wide(std::coroutine_handle<promise_type> handle) noexcept : handle_(handle) {}
  Wide(const Wide&) = delete;
  Wide& operator=(const Wide&) = delete;
  ~Wide() { handle_.destroy(); }

  [[nodiscard]] bool same_address() const noexcept {
    return std::coroutine_handle<Base>::from_promise(handle_.promise()).address() == handle_.address();
  }

 private:
  std::coroutine_handle<promise_type> handle_;
};

Wide body() { co_return; }

}  // namespace

int main() { return probe::verdict(!body().same_address()); }
