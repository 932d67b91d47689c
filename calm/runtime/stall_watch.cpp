#include "calm/runtime/stall_watch.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "calm/kernel/view_text.hpp"

namespace calm::runtime {

StallWatch::StallWatch(std::vector<const PollWatch*> workers, Limits limits)
    : workers_(std::move(workers)), seen_(workers_.size()), limits_(limits) {
  stuck_.reserve(workers_.size());
}

Duration StallWatch::pause() const noexcept {
  const Duration tell = Duration::nanoseconds(limits_.tell.ns() / 4 + 1);
  if (limits_.rescue == Duration()) return tell;
  return limits_.tell == Duration() ? limits_.rescue : std::min(tell, limits_.rescue);
}

std::string StallWatch::look(Time now) {
  std::string text;
  saw_work_ = false;
  stuck_.clear();
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const kernel::Worker::Look poll = workers_[i]->look();
    Seen& seen = seen_[i];
    saw_work_ = saw_work_ || workers_[i]->is_awake();
    if (!poll.task || poll.round != seen.round) {
      seen = {.round = poll.round, .since = now};
      continue;
    }
    const Duration lasted = now - seen.since;
    if (limits_.rescue != Duration() && lasted >= limits_.rescue) stuck_.push_back({.worker = i, .round = poll.round});
    if (seen.told || limits_.tell == Duration() || lasted < limits_.tell) continue;
    seen.told = true;
    const std::string place = kernel::place_of(poll.after);
    text += "calm: " + to_string(poll.task) + " on worker " + std::to_string(i) + " has not suspended for " +
            to_string(lasted) + " since " + (place.empty() ? "it began" : "its await at " + place) +
            " [GHO-3]; next: await or co_await checkpoint(cx) in its loops, or give blocking work to calm::blocking\n";
  }
  return text;
}

}  // namespace calm::runtime
