// The floor of coroutines with frames from the general allocator.
#include <cstdlib>
#include <new>

#include "bench/coroutine/minimal.hpp"

namespace {

struct Malloc {
  static void* take(std::size_t bytes) {
    void* const frame = std::malloc(bytes);
    if (frame == nullptr) throw std::bad_alloc();
    return frame;
  }
  static void give_back(void* frame, std::size_t /*bytes*/) noexcept { std::free(frame); }
};

}  // namespace

int main(int argc, char** argv) { return bench::measure_part(argc, argv, bench::minimal_parts<Malloc>); }
