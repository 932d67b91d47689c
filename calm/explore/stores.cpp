#include "calm/explore/stores.hpp"

#include <algorithm>
#include <utility>

namespace calm::explore {
namespace {

bool acquires(std::memory_order order) noexcept {
  return order != std::memory_order_relaxed && order != std::memory_order_release;
}
bool releases(std::memory_order order) noexcept {
  return order == std::memory_order_release || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
}

void join_counts(std::vector<std::uint32_t>& into, const std::vector<std::uint32_t>& other) {
  if (into.size() < other.size()) into.resize(other.size());
  for (std::size_t i = 0; i < other.size(); ++i) into[i] = std::max(into[i], other[i]);
}

}  // namespace

void Known::join(const Known& other) { join_counts(counts_, other.counts_); }

void Stores::View::join(const View& other) {
  join_counts(oldest, other.oldest);
  known.join(other.known);
}

void Stores::restart() noexcept {
  words_.clear();
  views_.fill({});
  steps_.fill({});
  touched_.clear();
  locks_.clear();
}

Stores::History Stores::add(std::uint64_t bits) {
  words_.emplace_back();
  words_.back().stores.push_back({.bits = bits, .carried = {}, .made = {}});
  return static_cast<History>(words_.size());
}

Stores::Stamp Stores::oldest(Process process, History history) const {
  const std::vector<Stamp>& oldest = views_[process].oldest;
  return history < oldest.size() ? oldest[history] : 0;
}

void Stores::set_oldest(Process process, History history, Stamp stamp) {
  std::vector<Stamp>& oldest = views_[process].oldest;
  if (history >= oldest.size()) oldest.resize(std::size_t{history} + 1);
  oldest[history] = stamp;
}

void Stores::readable(Process process, History history, std::memory_order order, const Footprint& elsewhere,
                      std::vector<Stamp>& stamps) const {
  const OneWord& word = words_[history - 1];
  Stamp least = oldest(process, history);
  if (order == std::memory_order_seq_cst) least = std::max(least, word.agreed);
  stamps.clear();
  stamps.push_back(newest(history));
  if (newest(history) == least) return;
  const Known known = known_before(process, elsewhere);
  for (Stamp stamp = newest(history); stamp-- > least;) {
    const Moment next = word.stores[stamp + 1].made;
    if (known[next.process] >= next.count) stamps.push_back(stamp);
  }
}

/// The steps that happen before one of this process that touches this.
Known Stores::known_before(Process process, const Footprint& touched) const {
  Known known = steps_[process];
  for (std::uint32_t i = 0; i < touched.size(); ++i) {
    const auto there = touched_.find(touched[i].location());
    if (there != touched_.end()) known.join(touched[i].is_write() ? there->second.touched : there->second.written);
  }
  return known;
}

/// One more access of the process.
Stores::View& Stores::begin(Process process) {
  View& view = views_[process];
  view.known.set(process, view.known[process] + 1);
  return view;
}

void Stores::load(Process process, History history, Stamp stamp, std::memory_order order) {
  View& view = begin(process);
  OneWord& word = words_[history - 1];
  set_oldest(process, history, std::max(oldest(process, history), stamp));
  if (acquires(order)) view.join(word.stores[stamp].carried);
  if (order == std::memory_order_seq_cst) word.agreed = std::max(word.agreed, stamp);
}

void Stores::store(Process process, History history, std::uint64_t bits, std::memory_order order) {
  View& view = begin(process);
  OneWord& word = words_[history - 1];
  const Stamp stamp = newest(history) + 1;
  set_oldest(process, history, stamp);
  word.stores.push_back({.bits = bits, .carried = {}, .made = {process, steps_[process][process] + 1}});
  if (releases(order)) word.stores.back().carried = view;
  if (order == std::memory_order_seq_cst) word.agreed = stamp;
}

void Stores::update(Process process, History history, std::uint64_t bits, std::memory_order order) {
  const Stamp before = newest(history);
  if (acquires(order)) views_[process].join(words_[history - 1].stores[before].carried);
  store(process, history, bits, order);
  std::vector<Store>& stores = words_[history - 1].stores;
  stores.back().carried.join(stores[before].carried);
}

void Stores::acquire(Process process, Location location) { begin(process).join(locks_[location]); }

void Stores::release(Process process, Location location) { locks_[location] = begin(process); }

void Stores::end_step(Process process, const Footprint& touched) {
  Known steps = known_before(process, touched);
  steps.set(process, steps[process] + 1);
  for (std::uint32_t i = 0; i < touched.size(); ++i) {
    Steps& there = touched_[touched[i].location()];
    there.touched.join(steps);
    if (touched[i].is_write()) there.written = steps;
  }
  steps_[process] = std::move(steps);
}

Stores::Moment Stores::now(Process process) const { return {process, views_[process].known[process] + 1}; }

bool Stores::is_known(Process process, Moment moment) const {
  return moment.process == process || moment.process == process_max ||
         views_[process].known[moment.process] >= moment.count;
}

}  // namespace calm::explore
