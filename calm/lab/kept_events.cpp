#include "calm/lab/kept_events.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace calm::lab {
namespace {

using EventPart = std::vector<trace::Event>;

constexpr std::uint64_t events_in_a_part = 1024;
constexpr std::size_t spares_max = 64;  // 4 MiB

/// Parts of earlier runs on this thread: pages that are new to the process cost more than the events in them.
thread_local std::vector<EventPart> spares;

EventPart spare_part() {
  if (spares.empty()) return {};
  EventPart part = std::move(spares.back());
  spares.pop_back();
  return part;
}

void keep_spare(EventPart part) {
  if (spares.size() == spares_max || part.capacity() > 2 * events_in_a_part) return;
  part.clear();
  spares.push_back(std::move(part));
}

}  // namespace

void KeptEvents::keep_if_many(kernel::Worker& worker) {
  const std::uint64_t many = std::min(worker.ring().capacity() / 2, events_in_a_part);
  if (worker.recorder().last() - kept_ >= many) keep(worker);
}

void KeptEvents::keep(kernel::Worker& worker) {
  parts_.push_back(spare_part());
  overwritten_ += worker.take_events(parts_.back());
  kept_ = worker.recorder().last();
}

trace::Trace KeptEvents::take(kernel::Worker& worker) {
  keep(worker);
  trace::Trace trace{.overwritten = overwritten_, .events = std::move(parts_.front())};
  std::size_t count = trace.events.size();
  for (const EventPart& part : parts_) count += part.size();
  trace.events.reserve(count);
  for (std::size_t i = 1; i < parts_.size(); ++i) {
    trace.events.insert(trace.events.end(), parts_[i].begin(), parts_[i].end());
    keep_spare(std::move(parts_[i]));
  }
  parts_.clear();
  return trace;
}

}  // namespace calm::lab
