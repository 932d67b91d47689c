// trap: symmetric transfer is a call that returns, so that a chain of them needs stack
// flags: -O0; -O1; -Og; -O2; -O2 -fsanitize=address; -O2 -fsanitize=thread
#include <cstdint>

#include "probe.hpp"

namespace {

constexpr int transfers = 1000;
constexpr std::intptr_t few = 8;  // bytes of stack that a transfer may seem to need

struct Other {
  std::coroutine_handle<> frame;
};

std::intptr_t first = 0;
std::intptr_t last = 0;

struct To {
  Other* other;
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  [[gnu::noinline]] std::coroutine_handle<> await_suspend(std::coroutine_handle<> /*frame*/) const noexcept {
    last = reinterpret_cast<std::intptr_t>(__builtin_frame_address(0));
    if (first == 0) first = last;
    return other->frame;
  }
  void await_resume() const noexcept {}
};

To to(Other& other) { return To{&other}; }

probe::Coroutine player(Other& other) {
  co_await std::suspend_always();
  for (int i = 0; i < transfers; ++i) co_await to(other);
}

}  // namespace

int main() {
  Other left;
  Other right;
  const probe::Coroutine one = player(right);
  const probe::Coroutine two = player(left);
  left.frame = one.handle();
  right.frame = two.handle();
  one.handle().resume();
  return probe::verdict(first - last > transfers * few || last - first > transfers * few);
}
