// trap: coro_only_destroy_when_complete leaves out the destructors of a frame that is destroyed while suspended
// flags: -O2
#include "probe.hpp"

#if defined(__clang__)
#define MARKED [[clang::coro_only_destroy_when_complete]]
#else
#define MARKED
#endif

namespace {

class MARKED Marked {
 public:
  struct promise_type {
    Marked get_return_object() { return Marked(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };

  explicit Marked(std::coroutine_handle<promise_type> handle) noexcept : handle_(handle) {}
  Marked(const Marked&) = delete;
  Marked& operator=(const Marked&) = delete;
  ~Marked() { handle_.destroy(); }

 private:
  std::coroutine_handle<promise_type> handle_;
};

Marked body() {
  const probe::Counted variable(1);
  co_await std::suspend_always();
}

}  // namespace

int main() {
  {
    const Marked suspended = body();
  }
  return probe::verdict(probe::Counted::lived_wrongly());
}
