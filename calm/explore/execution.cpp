#include "calm/explore/execution.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "calm/check/require.hpp"

namespace calm::explore {
namespace {

// The finaliser of splitmix64: every bit of the result depends on every bit of x.
std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EB;
  return x ^ (x >> 31U);
}

/// The same whatever order the touches stand in.
std::uint64_t hash_of(const Event& event) noexcept {
  std::uint64_t touches = 0;
  for (std::uint32_t i = 0; i < event.touched.size(); ++i) touches += mix(event.touched[i].bits() + 0x9E3779B97F4A7C15);
  const std::uint64_t place =
      std::uint64_t{event.layer} << 40U | std::uint64_t{event.number} << 8U | std::uint64_t{event.process};
  return mix(mix(place) + touches + event.way);
}

}  // namespace

void Execution::cut_to(std::uint32_t size) noexcept {
  while (size_ > size) {
    const Event& event = events_[--size_];
    last_[event.process] = event.previous;
  }
}

Event& Execution::next() {
  if (size_ == events_.size()) {
    events_.emplace_back();
    briefs_.emplace_back();
    clocks_.resize(events_.size() * width_);
  }
  events_[size_].touched.clear();
  return events_[size_];
}

void Execution::widen(Process process) {
  std::uint32_t wider = width_;
  while (wider <= process) wider += 8;
  std::vector<std::uint16_t> clocks(events_.size() * wider);
  for (std::uint32_t i = 0; i < size_; ++i) std::copy_n(clock(i), width_, &clocks[std::size_t{i} * wider]);
  clocks_ = std::move(clocks);
  width_ = wider;
}

/// Gives: which of these events may conflict with this one, the latest in the lowest bit. Which do is as good as random, so
/// it is found without a branch.
std::uint64_t Execution::conflicts_in(const Brief& own, std::uint32_t begin, std::uint32_t end) const noexcept {
  std::uint64_t found = 0;
  const Brief* const briefs = briefs_.data();
  for (std::uint32_t i = begin; i < end; ++i) {
    const std::uint32_t apart = (briefs[i].touch ^ own.touch) & briefs[i].mask & own.mask;
    const std::uint32_t writes = briefs[i].touch | own.touch;
    found = found << 1U | (writes & static_cast<std::uint32_t>(apart <= 1));
  }
  return found;
}

/// Event i happens before this one, if they conflict.
void Execution::join(Event& event, std::uint32_t i) {
  const Event& other = (*this)[i];
  if (!other.touched.conflicts(event.touched)) return;
  const std::uint16_t* const others = clock(i);
  std::uint16_t* const own = &clocks_[std::size_t{size_} * width_];
  for (std::uint32_t p = 0; p < width_; ++p) own[p] = std::max(own[p], others[p]);
  event.layer = std::max(event.layer, other.layer + 1);
  joined_.push_back(i);
}

void Execution::finish() {
  Event& event = events_[size_];
  CALM_REQUIRE(LAB_5, event.process < process_max, event.process);
  if (width_ <= event.process) widen(event.process);
  event.previous = last_[event.process];
  std::uint16_t* const clock = &clocks_[std::size_t{size_} * width_];
  event.number = 1;
  event.layer = 1;
  if (event.previous != 0) {
    const Event& before = events_[event.previous - 1];
    event.number = before.number + 1;
    event.layer = before.layer + 1;
    std::copy_n(this->clock(event.previous - 1), width_, clock);
  } else {
    std::fill_n(clock, width_, std::uint16_t{0});
  }
  clock[event.process] = static_cast<std::uint16_t>(event.number);
  Brief own{.number = static_cast<std::uint16_t>(event.number), .process = event.process};
  if (event.touched.size() == 1) {
    own.touch = event.touched[0].bits();
    own.mask = UINT32_MAX;
  }
  briefs_[size_] = own;
  joined_.clear();
  for (std::uint32_t end = size_; end != 0;) {
    const std::uint32_t begin = end - std::min<std::uint32_t>(end, 64);
    for (std::uint64_t left = conflicts_in(own, begin, end); left != 0; left &= left - 1) {
      const std::uint32_t i = end - 1 - static_cast<std::uint32_t>(std::countr_zero(left));
      if (clock[brief(i).process] < brief(i).number) join(event, i);
    }
    end = begin;
  }
  event.fingerprint = fingerprint() + hash_of(event);
  ++size_;
  last_[event.process] = size_;
}

std::vector<Process> Execution::schedule() const {
  std::vector<Process> processes;
  processes.reserve(size_);
  for (std::uint32_t i = 0; i < size_; ++i) processes.push_back(events_[i].process);
  return processes;
}

std::vector<Way> Execution::ways() const {
  std::vector<Way> ways;
  for (std::uint32_t i = 0; i < size_; ++i) {
    if (events_[i].way == 0) continue;
    ways.resize(size_);
    ways[i] = events_[i].way;
  }
  return ways;
}

}  // namespace calm::explore
