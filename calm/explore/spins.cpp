#include "calm/explore/spins.hpp"

#include <algorithm>

#include "calm/explore/repetition.hpp"

namespace calm::explore {

void Spins::restart() noexcept {
  quiet_.fill(0);
  for (std::uint64_t left = looked_at_.bits(); left != 0; left &= left - 1) {
    reads_[static_cast<std::size_t>(std::countr_zero(left))].clear();
  }
  counters_.clear();
  looked_at_ = waiting_ = stopped_ = ProcessSet();
  patience_ = usual_patience;
}

void Spins::add_awaited(Process process, Footprint& touched) const {
  for (const Read& read : reads_[process]) {
    for (std::uint32_t i = 0; i < read.touched.size(); ++i) touched.add(read.touched[i]);
  }
}

void Spins::go_on(Process process) noexcept {
  stopped_.remove(process);
  forget(process);
}

void Spins::forget(Process process) noexcept {
  quiet_[process] = 0;
  reads_[process].clear();
  looked_at_.remove(process);
  waiting_.remove(process);
}

Spins::Counter* Spins::counter_of(Location location) noexcept {
  const auto found = std::find_if(counters_.begin(), counters_.end(),
                                  [location](const Counter& counter) { return counter.location == location; });
  return found == counters_.end() ? nullptr : &*found;
}

std::uint64_t Spins::writes_to(const Footprint& touched) {
  std::uint64_t writes = 0;
  for (std::uint32_t i = 0; i < touched.size(); ++i) {
    const Location location = touched[i].location();
    if (const Counter* const counter = counter_of(location)) {
      writes += counter->writes;
    } else {
      counters_.push_back({location, 0});
    }
  }
  return writes;
}

bool Spins::is_as_read(Process process) {
  const std::vector<Read>& reads = reads_[process];
  return std::all_of(reads.begin(), reads.end(),
                     [this](const Read& read) { return writes_to(read.touched) == read.writes; });
}

void Spins::wrote(Process process, const Footprint& touched) noexcept {
  forget(process);
  bool counts = false;
  for (std::uint32_t i = 0; i < touched.size(); ++i) {
    Counter* const counter = touched[i].is_write() ? counter_of(touched[i].location()) : nullptr;
    if (counter == nullptr) continue;
    ++counter->writes;
    counts = true;
  }
  for (std::uint64_t left = counts ? waiting_.bits() : 0; left != 0; left &= left - 1) {
    const auto other = static_cast<Process>(std::countr_zero(left));
    if (!is_as_read(other)) waiting_.remove(other);  // what it waited for is kept until it goes on
  }
}

void Spins::look_at(Process process, const Footprint& touched) {
  std::vector<Read>& reads = reads_[process];
  reads.push_back({touched, writes_to(touched)});
  looked_at_.add(process);
  if (quiet_[process] < patience_) return;
  const Repetition found = repetition_at_end(reads.size(), reads.size() / 3,
                                             [&reads](std::size_t i, std::size_t k) { return reads[i] == reads[k]; });
  if (found.period == 0 || found.period * (found.times + 1) <= reads.size()) return forget(process);
  const std::size_t next = reads.size() % found.period;
  reads.resize(found.period);
  std::rotate(reads.begin(), reads.begin() + static_cast<std::ptrdiff_t>(next), reads.end());
  stopped_.add(process);
  if (is_as_read(process)) waiting_.add(process);
}

}  // namespace calm::explore
