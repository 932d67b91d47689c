#include "calm/kernel/lock_metrics.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

namespace calm::kernel {

#if defined(CALM_LOCK_METRICS)
inline namespace metered {
#else
inline namespace unmetered {
#endif

namespace {

void put(std::string& text, std::string_view what, std::size_t width) {
  text += what;
  text.append(width > what.size() ? width - what.size() : 1, ' ');
}

void put_durations(std::string& text, std::string_view name, const LockHistogram& histogram) {
  text += name;
  constexpr struct {
    std::string_view name;
    unsigned percent;
  } parts[] = {{" p50 <", 50}, {" p99 <", 99}, {" max <", 100}};
  for (const auto& part : parts) {
    text += part.name;
    put(text, std::to_string(histogram.below_ns(part.percent)), 10);
  }
}

}  // namespace

std::string_view to_string(LockAction action) noexcept {
  switch (action) {
    case LockAction::lock:
      return "lock";
    case LockAction::unlock:
      return "unlock";
    case LockAction::try_lock:
      return "try_lock";
    case LockAction::read_lock:
      return "read_lock";
    case LockAction::read_unlock:
      return "read_unlock";
  }
  return "no action";
}

std::size_t LockHistogram::bucket_of(std::uint64_t ns) noexcept {
  return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(ns)), buckets - 1);
}

std::uint64_t LockHistogram::total() const noexcept {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts) sum += count;
  return sum;
}

std::uint64_t LockHistogram::below_ns(unsigned percent) const noexcept {
  const std::uint64_t all = total();
  const std::uint64_t wanted = all / 100 * percent + (all % 100 * percent + 99) / 100;  // rounded up
  std::uint64_t sum = 0;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    sum += counts[bucket];
    if (counts[bucket] != 0 && sum >= wanted) return std::uint64_t{1} << bucket;
  }
  return 0;
}

std::string lock_report(std::span<const LockRow> rows) {
  std::string text;
  for (const LockRow& row : rows) {
    const std::string index = row.shard == Shard::tasks ? " " + std::to_string(row.index) : "";
    put(text, std::string(to_string(row.shard)) + index, 12);
    put(text, to_string(row.caller), 19);
    put(text, std::to_string(row.wait.total()), 10);
    put_durations(text, "wait ns", row.wait);
    put_durations(text, "held ns", row.held);
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

#if defined(CALM_LOCK_METRICS)

void LockMeter::place(Shard shard, std::uint16_t index, const LockObserver& observer) noexcept {
  observer_ = observer;
  shard_ = shard;
  index_ = index;
}

std::uint64_t LockMeter::now_ns() const noexcept { return observer_.clock_ns == nullptr ? 0 : observer_.clock_ns(); }

void LockMeter::note_lock(LockCaller caller, std::uint64_t wait_ns, std::uint64_t now_ns) noexcept {
  taken_ns_ = now_ns;
  wait_[static_cast<std::size_t>(caller.operation)].add(wait_ns);
  tell(LockAction::lock, caller, wait_ns, 0);
}

std::uint64_t LockMeter::note_unlock(LockCaller caller) noexcept {
  const std::uint64_t held_ns = now_ns() - taken_ns_;
  held_[static_cast<std::size_t>(caller.operation)].add(held_ns);
  return held_ns;
}

void LockMeter::tell(LockAction action, LockCaller caller, std::uint64_t wait_ns,
                     std::uint64_t held_ns) const noexcept {
  if (observer_.record == nullptr) return;
  observer_.record(observer_.context, {.shard = shard_,
                                       .index = index_,
                                       .action = action,
                                       .worker = caller.worker,
                                       .wait_ns = wait_ns,
                                       .held_ns = held_ns,
                                       .caller = caller.operation});
}

void LockMeter::read(std::vector<LockRow>& rows) const {
  for (const OperationRow& row : operation_table) {
    const auto caller = static_cast<std::size_t>(row.operation);
    LockRow read = {.shard = shard_,
                    .index = index_,
                    .caller = row.operation,
                    .wait = wait_[caller].read(),
                    .held = held_[caller].read()};
    if (read.wait.total() != 0) rows.push_back(read);
  }
}

void LockMeter::Counts::add(std::uint64_t ns) noexcept {
  auto& count = counts[LockHistogram::bucket_of(ns)];
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

LockHistogram LockMeter::Counts::read() const noexcept {
  LockHistogram histogram;
  for (std::size_t i = 0; i < LockHistogram::buckets; ++i) {
    histogram.counts[i] = counts[i].load(std::memory_order_relaxed);
  }
  return histogram;
}

#endif

}  // inline namespace metered or unmetered
}  // namespace calm::kernel
