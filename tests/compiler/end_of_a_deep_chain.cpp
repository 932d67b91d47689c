// trap: destroying the outermost frame of a suspended chain destroys the others by recursion
// flags: -O2
#include <cstdint>

#include "probe.hpp"

namespace {

constexpr int depth = 1000;
constexpr std::intptr_t few = 8;  // bytes of stack that a frame may seem to need

std::intptr_t outermost = 0;
std::intptr_t innermost = 0;

/// Notes how deep the stack is when it ends.
struct Note {
  int level;
  [[gnu::noinline]] ~Note() {
    const auto here = reinterpret_cast<std::intptr_t>(__builtin_frame_address(0));
    if (level == 0) outermost = here;
    if (level == depth) innermost = here;
  }
};

probe::Coroutine chain(int level) {
  const Note note{level};
  if (level < depth) {
    const probe::Coroutine child = chain(level + 1);
    co_await std::suspend_always();
  } else {
    co_await std::suspend_always();
  }
}

}  // namespace

int main() {
  {
    const probe::Coroutine root = chain(0);
  }
  return probe::verdict(outermost - innermost > depth * few);
}
