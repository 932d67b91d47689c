#include "calm/explore/canonical.hpp"

#include <algorithm>

namespace calm::explore {

std::vector<trace::Step> steps_of(const Execution& execution) {
  std::vector<trace::Step> steps;
  steps.reserve(execution.size());
  for (std::uint32_t i = 0; i < execution.size(); ++i) {
    const Event& event = execution[i];
    trace::Step step{.process = event.process};
    for (std::uint32_t k = 0; k < event.touched.size(); ++k) {
      step.touched.push_back({event.touched[k].location(), event.touched[k].is_write()});
      step.says.push_back(event.touched[k].bits());
    }
    std::sort(step.says.begin(), step.says.end());
    if (event.way != 0) step.says.push_back(std::uint64_t{event.way} << 32U);  // no touch has such bits
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace calm::explore
