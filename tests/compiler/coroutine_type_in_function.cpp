// trap: a return type marked coro_return_type is refused inside std::function
// flags: -O2
// refused: has the bug
#include <functional>

#include "probe.hpp"

#if defined(__clang__)
#define MARKED [[clang::coro_return_type]]
#else
#define MARKED
#endif

namespace {

class MARKED Marked {
 public:
  struct promise_type {
    Marked get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

Marked body() { co_return; }

}  // namespace

int main() {
  const std::function<Marked()> function = body;
  function();
  return probe::verdict(false);
}
