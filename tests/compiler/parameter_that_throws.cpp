// trap: what a parameter's move into the frame throws is kept in the frame, and looked for there when that is gone
// flags: -O0; -O2
#include <array>
#include <csignal>
#include <cstddef>
#include <cstring>

#include <unistd.h>

#include "probe.hpp"

namespace {

struct Throws {
  Throws() = default;
  Throws(Throws&& /*other*/) { throw 7; }
  Throws(const Throws&) = delete;
  Throws& operator=(const Throws&) = delete;
  ~Throws() = default;
};

class Spoiled {
 public:
  struct promise_type {
    Spoiled get_return_object() { return {}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
    static void* operator new(std::size_t size) { return size <= memory.size() ? memory.data() : nullptr; }
    // Whoever reads it from now on reads nonsense.
    static void operator delete(void* frame, std::size_t size) noexcept {
      void* volatile spoiled = frame;
      std::memset(spoiled, 0x5a, size);
    }
    static inline std::array<std::byte, 4096> memory;
  };
};

/// An await that can throw is where the body keeps exceptions in the frame, too.
struct GiveOrThrow : probe::Give<int> {
  [[nodiscard]] int await_resume() const {
    if (value == 0) throw 2;
    return value;
  }
};

Spoiled body(Throws parameter) {
  (void)parameter;
  const probe::Counted kept(co_await GiveOrThrow{{1}});
  try {
    (void)co_await GiveOrThrow{{kept.value}};
  } catch (const int) {
  }
  (void)co_await GiveOrThrow{{2}};
}

void crashed(int /*signal*/) {
  constexpr char text[] = "has the bug\n";
  _exit(write(STDOUT_FILENO, text, sizeof(text) - 1) > 0 ? 0 : 1);
}

}  // namespace

int main() {
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGILL}) std::signal(signal, crashed);
  int caught = 0;
  try {
    body(Throws());
  } catch (const int number) {
    caught = number;
  }
  return probe::verdict(caught != 7);
}
