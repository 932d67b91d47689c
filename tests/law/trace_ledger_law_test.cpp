// The ledger laws from events alone.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "calm/trace/argument.hpp"
#include "calm/trace/ledger_check.hpp"
#include "tests/kernel_host.hpp"

namespace calm::trace {
namespace {

const RegionId region(2, Generation());
const ObligationId promise(7, Generation());

Event made() {
  return {.kind = EventKind::reserve,
          .sequence = 1,
          .region = region,
          .resource = promise,
          .argument = argument_of(ObligationKind::ack)};
}
Event kept() {
  return {.kind = EventKind::resolve,
          .sequence = 2,
          .region = region,
          .resource = promise,
          .argument = argument_of(ObligationState::committed)};
}
Event closed() {
  return {.kind = EventKind::region_move,
          .sequence = 3,
          .region = region,
          .resource = region,
          .argument = argument_of(Move<RegionState>{RegionState::finalizing, RegionState::closed})};
}

std::vector<std::string> problems(std::vector<Event> events, std::uint64_t overwritten = 0) {
  std::vector<std::string> texts;
  for (const LedgerProblem& problem : check_ledger({overwritten, std::move(events)})) texts.push_back(problem.text);
  return texts;
}
using Texts = std::vector<std::string>;

TEST(TraceLedger, OBL_10_a_promise_that_is_kept_before_its_region_closes_is_lawful) {
  EXPECT_EQ(problems({made(), kept(), closed()}), Texts());
  EXPECT_EQ(problems({}), Texts());
}

TEST(TraceLedger, OBL_10_a_marking_never_becomes_negative) {
  EXPECT_EQ(problems({kept()}), Texts{"o7 is resolved and not open: a negative marking [OBL-3]"});
  EXPECT_EQ(problems({made(), kept(), kept()}), Texts{"o7 is resolved and not open: a negative marking [OBL-3]"});
}

TEST(TraceLedger, OBL_10_closed_implies_the_zero_marking) {
  EXPECT_EQ(problems({made(), closed()}), Texts{"r2 is Closed over 1 open promises: its marking is not zero [OBL-3]"});
  EXPECT_EQ(problems({closed(), made()}), Texts{"o7 is reserved in r2, which is Closed [REG-6]"});
}

TEST(TraceLedger, OBL_10_a_promise_is_made_once) {
  EXPECT_EQ(problems({made(), made()}), Texts{"o7 is reserved twice [OBL-1]"});
}

TEST(TraceLedger, OBL_10_nothing_is_said_of_what_happened_before_the_trace_begins) {
  EXPECT_EQ(problems({kept(), closed()}, 10), Texts());
}

TEST(TraceLedger, OBL_10_LAB_2_the_events_of_a_kernel_obey_the_laws_and_name_their_causes) {
  kernel::Bench bench;
  auto& kernel = *bench.kernel;
  const RegionId work = bench.region(bench.root());
  const TaskId task = bench.running(work, {.cause = 1});
  const auto ack = kernel.reserve(bench.worker, work, {.kind = ObligationKind::ack, .holder = task});
  const auto lost = kernel.reserve(bench.worker, work, {.kind = ObligationKind::lease});
  ASSERT_TRUE(kernel.commit(bench.worker, ack.id).is_ok());
  ASSERT_TRUE(kernel.complete(bench.worker, task, ok()).is_ok());
  ASSERT_TRUE(kernel.close(bench.worker, work).is_ok());
  ASSERT_EQ(kernel.state(work), RegionState::closed);
  EXPECT_EQ(kernel.state(bench.worker, lost.id), ObligationState::leaked);

  const Trace trace = kernel.trace().value();
  EXPECT_TRUE(check_ledger(trace).empty());
  std::uint64_t sequence = 0;
  bool spawned = false;
  for (const Event& event : trace.events) {
    EXPECT_EQ(event.sequence, ++sequence);
    EXPECT_LT(event.cause, event.sequence);
    if (event.kind != EventKind::spawn || event.task != task) continue;
    spawned = true;
    EXPECT_EQ(event.region, work);
    EXPECT_EQ(event.resource, ResourceId(work));
    EXPECT_EQ(event.cause, 1);
  }
  EXPECT_TRUE(spawned);
}

}  // namespace
}  // namespace calm::trace
