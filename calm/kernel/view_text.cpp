#include "calm/kernel/view_text.hpp"

#include "calm/check/place.hpp"
#include "calm/kernel/counted_kinds.hpp"
#include "calm/kernel/snapshot_index.hpp"

namespace calm::kernel {

std::string place_of(Site site) {
  if (site.line() == 0) return {};
  return std::string(check::short_file(site.file_name())).append(":").append(std::to_string(site.line()));
}

std::string at_place(std::string_view lead, Site site) {
  if (site.line() == 0) return {};
  return std::string(lead).append(place_of(site));
}

std::string counted_noun(std::uint64_t count, std::string_view noun) {
  return std::to_string(count).append(" ").append(noun).append(count == 1 ? "" : "s");
}

std::string age_text(Time now, Time since) {
  constexpr std::int64_t ms = 1'000'000;
  const std::int64_t age = now < since ? 0 : (now - since).ns();
  return to_string(Duration::milliseconds((age + ms / 2) / ms));
}

std::string_view wake_text(lockfree::WakeState wake) noexcept {
  switch (wake) {
    case lockfree::WakeState::idle:
      return "parked";
    case lockfree::WakeState::queued:
      return "queued";
    case lockfree::WakeState::running:
      return "being polled";
    case lockfree::WakeState::running_woken:
      return "being polled and woken again";
    case lockfree::WakeState::done:
      return "done";
  }
  CALM_INVARIANT(TSK_6, false, static_cast<std::uint8_t>(wake));
  return {};
}

std::string to_string(const Holder& holder) {
  switch (holder.service) {
    case Service::none:
      return holder.task ? to_string(holder.task) : "nobody";
    case Service::reactor:
      return holder.task ? "the reactor for " + to_string(holder.task) : "the reactor";
    case Service::lease_keeper:
      return holder.task ? "the lease keeper for " + to_string(holder.task) : "the lease keeper";
  }
  CALM_INVARIANT(OBL_11, false, static_cast<std::uint8_t>(holder.service));
  return {};
}

std::string obligation_text(const ObligationView& obligation) {
  std::string text = to_string(obligation.id);
  text.append(" ").append(to_string(obligation.kind)).append(" (");
  if (obligation.resource) text.append(to_string(obligation.resource)).append(", ");
  text.append("since ").append(to_string(obligation.since));
  return text.append(at_place(", made at ", obligation.site)).append(")");
}

std::string counted_text(const TaskView& task) {
  std::string text;
  for (std::uint8_t i = 0; i < counted_kind_count; ++i) {
    if (task.counted[i] == 0) continue;
    text.append(text.empty() ? "" : ", ").append(counted_noun(task.counted[i], to_string(counted_kinds[i])));
  }
  return text;
}

std::string task_text(const Snapshot& snapshot, const TaskView& task) {
  std::string text = to_string(task.id);
  if (!task.name.empty()) text.append(" \"").append(task.name).append("\"");
  if (task.region) text.append(" in ").append(snapshot.path_of(task.region));
  if (is_waiting_finalizer(task)) return text.append(": a finalizer that waits for its turn");
  text.append(task.cleanup ? ": clean-up, " : ": ");
  text.append(to_string(task.state)).append(", ").append(wake_text(task.wake));
  if (task.polled) {
    const bool queued = task.wake == lockfree::WakeState::queued;
    text.append(queued ? ", last polled " : " for ").append(age_text(snapshot.now, *task.polled));
    if (queued) text.append(" ago");
  }
  text.append(at_place(" at ", task.await_site));
  if (task.waits_for) text.append(", waits for ").append(to_string(task.waits_for));
  if (task.held_by) text.append(task.waits_for ? " held by " : ", waits for what is held by ");
  if (task.held_by) text.append(to_string(task.held_by));
  return text;
}

}  // namespace calm::kernel
