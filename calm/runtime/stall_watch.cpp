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

void StallWatch::see(Time now) {
  now_ = now;
  saw_work_ = false;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const kernel::Worker::Look poll = workers_[i]->look();
    Seen& seen = seen_[i];
    saw_work_ = saw_work_ || workers_[i]->is_awake();
    if (poll.task && seen.poll.task && poll.round == seen.poll.round) {
      seen.poll = poll;  // a poll in place may have begun in it
    } else {
      seen = {.poll = poll, .since = now};
    }
  }
}

bool StallWatch::lasts(const Seen& seen, Duration duration) const noexcept {
  return seen.poll.task && now_ - seen.since >= duration;
}

bool StallWatch::all_last(Duration duration) const noexcept {
  return !seen_.empty() &&
         std::all_of(seen_.begin(), seen_.end(), [&](const Seen& seen) { return lasts(seen, duration); });
}

std::string StallWatch::sentence(std::size_t worker) const {
  const Seen& seen = seen_[worker];
  const std::string place = kernel::place_of(seen.poll.after);
  return to_string(seen.poll.task) + " on worker " + std::to_string(worker) + " has not suspended for " +
         to_string(now_ - seen.since) + " since " + (place.empty() ? "it began" : "its await at " + place);
}

std::string StallWatch::who_lasts(Duration duration, std::string_view lead) const {
  std::string text;
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    if (lasts(seen_[i], duration)) text.append(lead).append(sentence(i));
  }
  return text;
}

std::string StallWatch::look(Time now) {
  std::string text;
  stuck_.clear();
  see(now);
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    Seen& seen = seen_[i];
    if (limits_.rescue != Duration() && lasts(seen, limits_.rescue)) {
      stuck_.push_back({.worker = i, .round = seen.poll.round});
    }
    if (seen.told || limits_.tell == Duration() || !lasts(seen, limits_.tell)) continue;
    seen.told = true;
    text.append("calm: ").append(sentence(i)).append(" [GHO-3]; next: ").append(stall_advice).append("\n");
  }
  return text;
}

}  // namespace calm::runtime
