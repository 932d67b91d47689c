#include "calm/trace/ledger_check.hpp"

#include <map>
#include <set>
#include <utility>

#include "calm/trace/argument.hpp"

namespace calm::trace {
namespace {

class LedgerCheck {
 public:
  explicit LedgerCheck(bool begins_at_the_start) noexcept : whole_(begins_at_the_start) {}

  void see(const Event& event) {
    switch (event.kind) {
      case EventKind::reserve:
        reserve(event);
        break;
      case EventKind::resolve:
        resolve(event);
        break;
      case EventKind::region_move:
        move(event);
        break;
      case EventKind::spawn:
      case EventKind::poll:
      case EventKind::complete:
      case EventKind::cancel_request:
      case EventKind::cancel_ack:
      case EventKind::cancel_done:
      case EventKind::finalize:
      case EventKind::timer:
      case EventKind::channel:
      case EventKind::io:
      case EventKind::choice:
      case EventKind::access:
      case EventKind::forced:
      case EventKind::mark:
        break;
    }
  }

  [[nodiscard]] std::vector<LedgerProblem> take() noexcept { return std::move(problems_); }

 private:
  void problem(const Event& event, const std::string& text) { problems_.push_back({event.sequence, text}); }

  void reserve(const Event& event) {
    const std::string name = to_string(event.resource);
    if (!open_.emplace(event.resource, event.region).second) problem(event, name + " is reserved twice [OBL-1]");
    if (closed_.contains(event.region)) {
      problem(event, name + " is reserved in " + to_string(event.region) + ", which is Closed [REG-6]");
    }
    ++marking_[event.region];
  }

  void resolve(const Event& event) {
    const auto promise = open_.find(event.resource);
    if (promise == open_.end()) {
      if (whole_) problem(event, to_string(event.resource) + " is resolved and not open: a negative marking [OBL-3]");
      return;
    }
    --marking_[promise->second];
    open_.erase(promise);
  }

  void move(const Event& event) {
    const auto move = region_move_in(event.argument);
    if (!move || move->to != RegionState::closed) return;
    closed_.insert(event.region);
    const auto marking = marking_.find(event.region);
    if (marking == marking_.end() || marking->second == 0) return;
    problem(event, to_string(event.region) + " is Closed over " + std::to_string(marking->second) +
                       " open promises: its marking is not zero [OBL-3]");
  }

  bool whole_;
  std::map<ResourceId, RegionId> open_;  // promises, and the region of each
  std::map<RegionId, std::uint64_t> marking_;
  std::set<RegionId> closed_;
  std::vector<LedgerProblem> problems_;
};

}  // namespace

std::vector<LedgerProblem> check_ledger(const Trace& trace) {
  LedgerCheck check(trace.overwritten == 0);
  for (const Event& event : trace.events) check.see(event);
  return check.take();
}

}  // namespace calm::trace
