#include "calm/sched/steering.hpp"

namespace calm::sched {

Outlook outlook_of(const kernel::Snapshot& snapshot) noexcept {
  constexpr std::uint64_t ms = 1'000'000;
  Outlook outlook;
  for (const kernel::RegionView& region : snapshot.regions) {
    outlook.finalizers += region.waiting_finalizers + region.live_cleanup;
    if (region.state != RegionState::open && region.state != RegionState::closed) ++outlook.closing_regions;
  }
  for (const kernel::TaskView& task : snapshot.tasks) {
    if (task.state == TaskState::completed) continue;
    ++outlook.live_tasks;
    for (const std::uint16_t counted : task.counted) outlook.obligations += counted;
  }
  for (const kernel::ObligationView& obligation : snapshot.obligations) {
    if (obligation.state != ObligationState::reserved) continue;
    ++outlook.obligations;
    const std::int64_t age = (snapshot.now - obligation.since).ns();
    if (age > 0) outlook.obligation_age_ms += static_cast<std::uint64_t>(age) / ms;
  }
  return outlook;
}

}  // namespace calm::sched
