// watching.hpp — what somebody wants to know of a run beside its report: the places where faults could strike.
// Laws:    LAB-7
// Threads: values
// Cancel:  not applicable
#pragma once

#include <vector>

#include "calm/kernel/config.hpp"
#include "calm/lab/choices.hpp"
#include "calm/lab/touches.hpp"
#include "calm/model/id.hpp"

namespace calm::lab {

class Inputs;

/// An await point that a task came to.
struct AwaitSite {
  kernel::Site site{};  ///< in the innermost frame that is not calm's own
  TaskId task{};
};

struct Watching {
  std::vector<AwaitSite>* sites = nullptr;  ///< takes every await point, in order
  bool allocations = false;                 ///< LabReport::allocations counts them
  Touches* touches = nullptr;               ///< hears what every step does
  Switches* switches = nullptr;             ///< takes the switches of the run, or leads it by them
  Inputs* inputs = nullptr;                 ///< says what comes from outside, where the run is one of a recording
};

}  // namespace calm::lab
