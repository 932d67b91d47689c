// steering.hpp — lanes under a governor: what the governor sees of a kernel, and how often it is asked.
// Laws:    SCH-3
// Threads: the owner's
// Cancel:  not applicable
#pragma once

#include <cstdint>

#include "calm/kernel/snapshot.hpp"
#include "calm/sched/governor.hpp"
#include "calm/sched/lanes.hpp"

namespace calm::sched {

/// Gives: the numbers of a whole kernel; those of a worker's lanes are for add_lanes().
[[nodiscard]] Outlook outlook_of(const kernel::Snapshot& snapshot) noexcept;

/// Adds what waits at a worker. `quick` entries wait in its quick queue.
template <lockfree::AtomicsPolicy Atomics>
void add_lanes(Outlook& outlook, Lanes<Atomics>& lanes, std::uint64_t quick, Time now) noexcept {
  outlook.runnable_cancel = lanes.size(Lane::cancel);
  outlook.runnable_timed = lanes.size(Lane::timed);
  outlook.runnable_ready = lanes.size(Lane::ready) + quick;
  const Deadline next = lanes.next_deadline();
  if (!next.is_none()) outlook.slack_ns = static_cast<std::uint64_t>(next.left(now).ns());
}

/// Asks a governor once in a period.
class Steering {
 public:
  /// The governor outlives this.
  explicit Steering(const Governor& governor) noexcept : governor_(&governor) {}

  [[nodiscard]] const Governor& governor() const noexcept { return *governor_; }

  /// To be called before every dispatch. Asks when it is time to, with what `look()` gives, an Outlook, and the lanes follow.
  /// Gives: the decision, if there was one; good until the next call.
  template <lockfree::AtomicsPolicy Atomics, class Look>
  const Decision* steer(Lanes<Atomics>& lanes, const Look& look) {
    if (left_ != 0) {
      --left_;
      return nullptr;
    }
    left_ = governor_period - 1;
    decision_ = governor_->decide(look());
    lanes.follow(decision_.suggestion);
    return &decision_;
  }

 private:
  const Governor* governor_;
  std::uint32_t left_ = 0;  // dispatches until it is asked again
  Decision decision_;
};

}  // namespace calm::sched
