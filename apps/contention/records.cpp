#include "apps/contention/records.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <limits>

namespace calm::contention {

Records::Records(std::uint16_t workers) : lists_(workers) {
  for (std::vector<Record>& list : lists_) list.reserve(kept_per_worker);
}

std::uint64_t Records::now_ns() noexcept {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

kernel::LockObserver Records::observer() noexcept {
  const auto record = [](void* context, const kernel::LockRecord& told) noexcept {
    static_cast<Records*>(context)->add({.at_ns = now_ns(),
                                         .lock = letter_of(told.shard, told.index),
                                         .action = told.action,
                                         .worker = told.worker,
                                         .wait_ns = told.wait_ns,
                                         .held_ns = told.held_ns,
                                         .caller = to_string(told.caller)});
  };
  return {.clock_ns = now_ns, .record = record, .context = this};
}

void Records::add(const Record& record) noexcept {
  std::vector<Record>& list = lists_[record.worker];
  if (list.size() < kept_per_worker) list.push_back(record);
}

std::string Records::json() const {
  std::uint64_t start_ns = std::numeric_limits<std::uint64_t>::max();
  for (const std::vector<Record>& list : lists_) {
    if (!list.empty()) start_ns = std::min(start_ns, list.front().at_ns - list.front().wait_ns);
  }
  std::vector<std::string> rows;
  for (const std::vector<Record>& list : lists_) {
    for (const Record& record : list) {
      rows.push_back(fmt::format(
          R"({{"at_ns":{},"shard":"{}","action":"{}","worker":{},"wait_ns":{},"held_ns":{},"caller":"{}"}})",
          record.at_ns - start_ns, record.lock, to_string(record.action), record.worker, record.wait_ns, record.held_ns,
          record.caller));
    }
  }
  return fmt::format("[{}]", fmt::join(rows, ",\n"));
}

std::string letter_of(kernel::Shard shard, std::uint16_t index) {
  switch (shard) {
    case kernel::Shard::regions:
      return "B";
    case kernel::Shard::tasks:
      return fmt::format("A{}", index);
    case kernel::Shard::obligations:
      return "C";
  }
  return "?";
}

std::string json_row(std::string_view lock, std::string_view caller, const kernel::LockHistogram& wait,
                     const kernel::LockHistogram& held) {
  return fmt::format(R"({{"shard":"{}","caller":"{}","wait":[{}],"held":[{}]}})", lock, caller,
                     fmt::join(wait.counts, ","), fmt::join(held.counts, ","));
}

}  // namespace calm::contention
