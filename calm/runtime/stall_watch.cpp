#include "calm/runtime/stall_watch.hpp"

#include <cstddef>
#include <utility>

#include "calm/kernel/view_text.hpp"

namespace calm::runtime {

StallWatch::StallWatch(std::vector<const PollWatch*> workers, Duration limit)
    : workers_(std::move(workers)), seen_(workers_.size()), limit_(limit) {}

std::string StallWatch::look(Time now) {
  std::string text;
  saw_work_ = false;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const PollWatch::Poll poll = workers_[i]->look();
    Seen& seen = seen_[i];
    saw_work_ = saw_work_ || workers_[i]->is_awake();
    if (!poll.task || poll.number != seen.number) {
      seen = {.number = poll.number, .since = now};
      continue;
    }
    if (seen.told || now - seen.since < limit_) continue;
    seen.told = true;
    const std::string place = kernel::place_of(poll.after);
    text += "calm: " + to_string(poll.task) + " on worker " + std::to_string(i) + " has not suspended for " +
            to_string(now - seen.since) + " since " + (place.empty() ? "it began" : "its await at " + place) +
            " [GHO-3]; next: await or co_await checkpoint(cx) in its loops, or give blocking work to calm::blocking\n";
  }
  return text;
}

}  // namespace calm::runtime
