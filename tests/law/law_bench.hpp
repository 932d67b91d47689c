// law_bench.hpp — a kernel to try the laws on: each operation in one word, what the trace tells, and the refusal that must
// change nothing.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <source_location>
#include <stdexcept>
#include <utility>
#include <vector>

#include "calm/trace/argument.hpp"
#include "tests/kernel_host.hpp"
#include "tests/show.hpp"

namespace calm::kernel {

struct LawBench : Bench {
  using Bench::Bench;

  // Operations.
  Status close(RegionId region) { return kernel->close(worker, region); }
  Status cancel(RegionId region, const CancelSpec& spec = {}) { return kernel->cancel(worker, region, spec); }
  Status request(TaskId task, const CancelSpec& spec = {}) { return kernel->request_cancel(worker, task, spec); }
  Status checkpoint(TaskId task) { return kernel->checkpoint(worker, task); }
  Status wake(TaskId task) { return kernel->wake(worker, task); }
  Status park(TaskId task) { return kernel->end_poll(worker, task); }
  Status end(TaskId task, ChildEnd how = ok()) { return kernel->complete(worker, task, std::move(how)); }
  TaskId defer(RegionId region) { return kernel->defer(worker, region, nullptr).id; }
  ObligationId reserve(RegionId region, Holder holder = {}, ObligationKind kind = ObligationKind::ack) {
    return kernel->reserve(worker, region, {.kind = kind, .holder = holder}).id;
  }

  /// Gives: what a further poll of a parked task begins with.
  PollStart poll_again(TaskId task) {
    (void)wake(task);
    return poll(task);
  }
  /// Polls a parked task over and over, parking it each time.
  /// Gives: how many polls began with `run` before one began otherwise, which is left in `last`; `most` at the most.
  std::uint64_t polls_until_stopped(TaskId task, PollStart& last, std::uint64_t most = 2000) {
    std::uint64_t polls = 0;
    while (polls < most && (last = poll_again(task)) == PollStart::run) {
      ++polls;
      EXPECT_TRUE(park(task));
    }
    return polls;
  }
  /// A further poll of a parked task that ends it.
  Status poll_and_end(TaskId task, ChildEnd how = ok()) {
    (void)poll_again(task);
    return end(task, std::move(how));
  }
  /// Polls whatever is due, each to its end, until nothing is.
  void run_all() {
    while (!host.queue.empty()) {
      const TaskId next = host.queue.front();
      host.queue.pop_front();
      const PollStart start = kernel->begin_poll(worker, next);
      if (start == PollStart::run || start == PollStart::drop) (void)end(next);
    }
  }

  // What it knows.
  RegionState state(RegionId region) const { return kernel->state(region); }
  TaskState state(TaskId task) const { return kernel->state(task); }
  std::optional<ObligationState> state(ObligationId obligation) { return kernel->state(worker, obligation); }
  RegionView view(RegionId region) { return look<RegionView>(region); }
  TaskView view(TaskId task) { return look<TaskView>(task); }
  ObligationView view(ObligationId obligation) { return look<ObligationView>(obligation); }
  Reason reason(RegionId region) { return kernel->reason_of(worker, region); }
  Reason reason(TaskId task) {
    const auto cancellation = kernel->cancellation_of(worker, task);
    return cancellation ? cancellation->reason : Reason();
  }
  /// Gives: how a Closed region ended; Panicked for one that is not Closed.
  ChildEnd end_of(RegionId region) {
    const auto end = kernel->end_of(worker, region);
    return end ? *end : ChildEnd(panicked(std::make_exception_ptr(std::logic_error("not Closed"))));
  }
  bool is_queued(TaskId task) const {
    return std::find(host.queue.begin(), host.queue.end(), task) != host.queue.end();
  }

  // What the trace tells.
  std::vector<trace::Event> events() { return kernel->trace().value().events; }
  std::vector<trace::Event> events(trace::EventKind kind) {
    std::vector<trace::Event> found;
    for (const trace::Event& event : events()) {
      if (event.kind == kind) found.push_back(event);
    }
    return found;
  }
  /// Gives: the states a region went through, the first being Open.
  std::vector<RegionState> path(RegionId region) {
    std::vector<RegionState> states{RegionState::open};
    for (const trace::Event& event : events(trace::EventKind::region_move)) {
      if (event.region != region) continue;
      const auto move = trace::region_move_in(event.argument);
      EXPECT_EQ(move->from, states.back()) << "a move starts where the last one ended";
      states.push_back(move->to);
    }
    return states;
  }

  /// Everything an operation could have changed or said.
  struct Marks {
    std::uint64_t digest = 0;
    std::uint64_t last_event = 0;
    std::size_t queued = 0;
    std::size_t watches = 0;
    std::size_t findings = 0;
    friend bool operator==(const Marks&, const Marks&) = default;
  };
  Marks marks() {
    return {digest(), worker.recorder().last(), host.queue.size(), host.watches.size(), host.findings.size()};
  }

 private:
  template <class View, class Id>
  View look(Id id) {
    const Snapshot snapshot = kernel->snapshot(worker);
    const View* const found = snapshot.find(id);
    EXPECT_NE(found, nullptr) << to_string(id) << " is not there";
    return found == nullptr ? View() : *found;
  }
};

inline Status status_of(Status status) noexcept { return status; }
template <class Id>
Status status_of(const Made<Id>& made) noexcept {
  return made.status;
}
template <class T>
Status status_of(const Outcome<T>& outcome) {
  return outcome.is_ok() ? Status() : Status(outcome.error().code());
}

/// Expects the attempt to be answered like this and to leave everything as it was.
template <class Attempt>
void expect_unchanged(LawBench& bench, Status answer, Attempt attempt,
                      std::source_location where = std::source_location::current()) {
  const testing::ScopedTrace place(where.file_name(), static_cast<int>(where.line()), "attempt");
  const LawBench::Marks before = bench.marks();
  EXPECT_EQ(status_of(attempt()), answer);
  const LawBench::Marks after = bench.marks();
  EXPECT_EQ(after.digest, before.digest) << "the state has changed";
  EXPECT_EQ(after.last_event, before.last_event) << "an event was recorded";
  EXPECT_EQ(after.queued, before.queued) << "a task was scheduled";
  EXPECT_EQ(after.watches, before.watches) << "a deadline is watched";
  EXPECT_EQ(after.findings, before.findings) << "something was reported";
}

inline ChildEnd thrown(const char* what = "thrown") {
  return panicked(std::make_exception_ptr(std::runtime_error(what)));
}

constexpr Duration seconds(std::int64_t count) noexcept { return Duration::seconds(count); }

}  // namespace calm::kernel
