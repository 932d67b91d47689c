// A trace of several workers: what one does stands between the events of what another does, and breaks no law.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "calm/trace/check.hpp"
#include "tests/law/law_bench.hpp"

namespace calm::kernel {
namespace {

/// A region with two tasks is cancelled, and then a task beside it is polled.
trace::Trace cancel_then_poll() {
  LawBench bench;
  const TaskId beside = bench.kernel->spawn(bench.worker, bench.root(), {}).id;
  const RegionId region = bench.kernel->create_region(bench.worker, bench.root(), {}).id;
  for (int i = 0; i < 2; ++i) (void)bench.kernel->spawn(bench.worker, region, {});
  (void)bench.cancel(region);
  (void)bench.poll(beside);
  return bench.kernel->trace().value();
}

/// Moves the poll to between the cancel of the region and the requests to its tasks, as an event of this worker.
trace::Trace with_poll_in_between(trace::Trace trace, std::uint16_t worker) {
  const auto is_request = [](const trace::Event& event) { return event.kind == trace::EventKind::cancel_request; };
  const auto is_poll = [](const trace::Event& event) { return event.kind == trace::EventKind::poll; };
  auto& events = trace.events;
  const auto poll = std::find_if(events.begin(), events.end(), is_poll);
  const auto to_region = std::find_if(events.begin(), events.end(), is_request);
  const auto to_task = std::find_if(std::next(to_region), events.end(), is_request);
  std::rotate(to_task, poll, std::next(poll));
  std::uint64_t sequence = events.front().sequence;
  std::uint64_t position = 0;
  for (trace::Event& event : events) {
    event.sequence = sequence++;
    if (event.kind == trace::EventKind::poll) event.worker = worker;
    event.position = event.worker == 0 ? static_cast<decltype(event.position)>(position++) : decltype(event.position){};
  }
  return trace;
}

std::string first_of(const trace::Checked& checked) {
  return checked.ok() ? std::string() : std::string(checked.violations.front().law);
}

TEST(TraceCheck, CAN_5_a_step_of_another_worker_may_come_before_all_have_been_told) {
  const trace::Trace trace = cancel_then_poll();
  EXPECT_EQ(first_of(trace::check_trace(trace)), "");
  EXPECT_EQ(first_of(trace::check_trace(with_poll_in_between(trace, 1))), "");
}

TEST(TraceCheck, CAN_5_a_step_of_the_same_worker_may_not) {
  const trace::Trace trace = with_poll_in_between(cancel_then_poll(), 0);
  EXPECT_NE(first_of(trace::check_trace(trace)).find("CAN-5"), std::string::npos);
}

}  // namespace
}  // namespace calm::kernel
