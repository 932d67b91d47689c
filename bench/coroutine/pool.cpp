// The floor of coroutines with frames from a list of free ones.
#include <new>

#include "bench/coroutine/minimal.hpp"

namespace {

/// Frames of one size, of one thread.
class Pool {
 public:
  static constexpr std::size_t size = 512;

  static void* take(std::size_t bytes) {
    if (bytes > size) throw std::bad_alloc();
    if (free_ == nullptr) return ::operator new(size);
    Frame* const frame = free_;
    free_ = frame->next;
    return frame;
  }
  static void give_back(void* frame, std::size_t /*bytes*/) noexcept { free_ = ::new (frame) Frame{free_}; }

 private:
  struct Frame {
    Frame* next;
  };
  static inline Frame* free_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) { return bench::measure_part(argc, argv, bench::minimal_parts<Pool>); }
