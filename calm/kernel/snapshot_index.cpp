#include "calm/kernel/snapshot_index.hpp"

#include <algorithm>

namespace calm::kernel {

template <class View>
void Groups<View>::sort() {
  // The views are parts of one vector: their addresses have its order.
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return a.key != b.key ? a.key < b.key : a.view < b.view; });
  for (const Entry& entry : entries_) {
    keys_.push_back(entry.key);
    views_.push_back(entry.view);
  }
  entries_.clear();
}

template <class View>
std::span<const View* const> Groups<View>::of(std::uint64_t key) const noexcept {
  const auto [first, last] = std::equal_range(keys_.begin(), keys_.end(), key);
  return std::span(views_).subspan(static_cast<std::size_t>(first - keys_.begin()),
                                   static_cast<std::size_t>(last - first));
}

template class Groups<TaskView>;
template class Groups<RegionView>;
template class Groups<ObligationView>;

SnapshotIndex::SnapshotIndex(const Snapshot& snapshot) {
  for (const TaskView& task : snapshot.tasks) {
    if (is_alive(task)) tasks_.add(task.region.bits(), task);
  }
  for (const RegionView& region : snapshot.regions) {
    if (region.state != RegionState::closed) regions_.add(region.parent.bits(), region);
  }
  for (const ObligationView& promise : snapshot.obligations) {
    if (promise.state != ObligationState::reserved) continue;
    by_region_.add(promise.region.bits(), promise);
    if (promise.holder.task) {
      (promise.holder.is_task() ? by_holder_ : by_client_).add(promise.holder.task.bits(), promise);
    }
    if (promise.resource) by_resource_.add(whole_of(promise.resource).bits(), promise);
  }
  tasks_.sort();
  regions_.sort();
  for (Groups<ObligationView>* groups : {&by_region_, &by_holder_, &by_client_, &by_resource_}) groups->sort();
}

}  // namespace calm::kernel
