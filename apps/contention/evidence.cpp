#include "apps/contention/evidence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calm/trace/argument.hpp"

namespace calm::contention {
namespace {

using trace::Event;
using trace::EventKind;
using trace::ResourceId;

/// Gives: the time, or null for what did not happen.
std::string json_time(const std::optional<std::uint64_t>& ns) { return ns ? std::to_string(*ns) : "null"; }

/// A region or a task that a cancel reached.
struct Cancelled {
  std::string who{};
  std::string under{};  ///< the region above a region, the region of a task
  std::string kind{};
  std::optional<std::uint64_t> requested_ns{};
  std::optional<std::uint64_t> acknowledged_ns{};
  std::optional<std::uint64_t> ended_ns{};
};

struct Promise {
  std::string who{};
  std::string holder{};
  std::string kind{};
  std::string state = "reserved";
  std::uint16_t worker = 0;
  std::uint64_t reserved_ns = 0;
  std::optional<std::uint64_t> resolved_ns{};
};

class Reader {
 public:
  void read(const Event& event) {
    const EventKind kind = event.kind;
    if (kind == EventKind::spawn && event.resource != ResourceId(event.region)) {
      parents_[ResourceId(event.region)] = event.resource;
    } else if (kind == EventKind::cancel_request) {
      request(event);
    } else if (kind == EventKind::cancel_ack) {
      cancels_[event.task].acknowledged_ns = event.time.ns();
    } else if (kind == EventKind::complete) {
      end(event.task, event);
    } else if (kind == EventKind::region_move) {
      const auto move = trace::region_move_in(event.argument);
      if (move && move->to == RegionState::closed) end(event.region, event);
    } else if (kind == EventKind::reserve) {
      reserve(event);
    } else if (kind == EventKind::resolve) {
      resolve(event);
    }
  }

  [[nodiscard]] std::string json() const {
    std::vector<std::string> cancels;
    cancels.reserve(cancels_.size());
    for (const auto& [id, row] : cancels_) {
      cancels.push_back(fmt::format(
          R"({{"who":"{}","under":"{}","kind":"{}","requested_ns":{},"acknowledged_ns":{},"ended_ns":{}}})", row.who,
          row.under, row.kind, json_time(row.requested_ns), json_time(row.acknowledged_ns), json_time(row.ended_ns)));
    }
    std::vector<std::string> promises;
    promises.reserve(promises_.size());
    for (const Promise& row : promises_) {
      promises.push_back(fmt::format(
          R"({{"who":"{}","holder":"{}","kind":"{}","state":"{}","worker":{},"reserved_ns":{},"resolved_ns":{}}})",
          row.who, row.holder, row.kind, row.state, row.worker, row.reserved_ns, json_time(row.resolved_ns)));
    }
    return fmt::format("\"cancels\":[{}],\n\"promises\":[{}]", fmt::join(cancels, ",\n"), fmt::join(promises, ",\n"));
  }

 private:
  void request(const Event& event) {
    const bool of_region = !event.task;
    Cancelled& row = cancels_[event.resource];
    row.who = to_string(event.resource);
    if (!of_region) {
      row.under = to_string(event.region);
    } else if (const auto parent = parents_.find(event.resource); parent != parents_.end()) {
      row.under = to_string(parent->second);
    }
    if (const auto reason = trace::cancel_in(event.argument)) row.kind = to_string(reason->kind);
    if (!row.requested_ns) row.requested_ns = event.time.ns();
  }
  void end(ResourceId who, const Event& event) {
    if (const auto row = cancels_.find(who); row != cancels_.end()) row->second.ended_ns = event.time.ns();
  }
  void reserve(const Event& event) {
    open_[event.resource] = promises_.size();
    Promise row;
    row.who = to_string(event.resource);
    row.worker = event.worker;
    row.reserved_ns = event.time.ns();
    if (event.task) row.holder = to_string(event.task);
    if (const auto kind = trace::obligation_in(event.argument)) row.kind = to_string(*kind);
    promises_.push_back(row);
  }
  void resolve(const Event& event) {
    const auto at = open_.find(event.resource);
    if (at == open_.end()) return;
    Promise& row = promises_[at->second];
    row.resolved_ns = event.time.ns();
    if (const auto state = trace::resolution_in(event.argument)) row.state = to_string(*state);
    open_.erase(at);
  }

  std::map<ResourceId, ResourceId> parents_;  // of regions
  std::map<ResourceId, Cancelled> cancels_;
  std::vector<Promise> promises_;           // in the order in which they were made
  std::map<ResourceId, std::size_t> open_;  // where in promises_
};

}  // namespace

std::string json_evidence(const trace::Trace& trace) {
  Reader reader;
  for (const Event& event : trace.events) reader.read(event);
  return fmt::format("{},\n\"overwritten\":{}", reader.json(), trace.overwritten);
}

}  // namespace calm::contention
