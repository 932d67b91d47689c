#include "calm/explore/program.hpp"

#include "calm/explore/execution.hpp"

namespace calm::explore {

std::uint32_t Program::repeat(const Execution& run, std::uint32_t size) {
  Footprint touched;
  for (std::uint32_t i = 0; i < size; ++i) {
    touched.clear();
    (void)take_step(*this, run[i].process, run[i].way, touched);
    if (!(touched == run[i].touched)) return i;
  }
  return size;
}

}  // namespace calm::explore
