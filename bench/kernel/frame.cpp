// The floor of memory: a frame of 256 bytes from a list of free ones, or from malloc when that is empty, and back.
#include <cstdlib>

#include "bench/kernel/workload.hpp"

namespace {

struct Frame {
  Frame* next;
  std::uint64_t number;
  unsigned char rest[240];
};
static_assert(sizeof(Frame) == 256);

class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    while (free_ != nullptr) std::free(take());
  }

  Frame* take() {
    if (free_ == nullptr) return static_cast<Frame*>(std::malloc(sizeof(Frame)));
    Frame* const frame = free_;
    free_ = frame->next;
    return frame;
  }
  void give_back(Frame* frame) {
    frame->next = free_;
    free_ = frame;
  }

 private:
  Frame* free_ = nullptr;
};

/// Lets the compiler believe that somebody uses the frame.
void use(Frame* frame) { asm volatile("" : : "r"(frame) : "memory"); }

class Frames {
 public:
  static bool does(bench::Part part) {
    using enum bench::Part;
    return part == spawn || part == spawn_many || part == obligation || part == region;
  }

  std::uint64_t run(bench::Part part, std::uint64_t operations, bench::Stopwatch& watch) {
    watch.start();
    const std::uint64_t done = part == bench::Part::spawn_many ? all_at_once(operations) : one_by_one(operations);
    watch.stop();
    return done;
  }

 private:
  std::uint64_t one_by_one(std::uint64_t operations) {
    std::uint64_t done = 0;
    for (std::uint64_t i = 0; i < operations; ++i) {
      Frame* const frame = pool_.take();
      if (frame == nullptr) break;
      frame->number = i;
      use(frame);
      done += frame->number == i ? 1U : 0U;
      pool_.give_back(frame);
    }
    return done;
  }

  std::uint64_t all_at_once(std::uint64_t operations) {
    Frame* used = nullptr;
    for (std::uint64_t i = 0; i < operations; ++i) {
      Frame* const frame = pool_.take();
      if (frame == nullptr) break;
      frame->number = i;
      frame->next = used;
      used = frame;
    }
    std::uint64_t done = 0;
    while (used != nullptr) {
      Frame* const frame = used;
      used = frame->next;
      done += frame->number < operations ? 1U : 0U;
      pool_.give_back(frame);
    }
    return done;
  }

  Pool pool_;
};

}  // namespace

int main(int argc, char** argv) { return bench::measure_part(argc, argv, Frames()); }
