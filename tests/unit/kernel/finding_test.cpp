#include "calm/kernel/finding.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/kernel/snapshots.hpp"

namespace calm::kernel::test {
namespace {

TEST(Finding, a_leak_names_the_promise_its_task_and_where_it_was_made) {
  const Site site = Site::current();
  const Finding leak{.kind = FindingKind::leak,
                     .region = region(2),
                     .task = task(4),
                     .obligation = promise(7),
                     .obligation_kind = ObligationKind::ack,
                     .site = site};
  EXPECT_EQ(to_string(leak), "calm: o7 (ack) of r2 was leaked by t4, made at " + place_of(site) + " [OBL-5]");
}

TEST(Finding, a_leak_that_the_audit_found_has_no_task) {
  EXPECT_EQ(to_string(Finding{.kind = FindingKind::leak,
                              .region = region(2),
                              .obligation = promise(7),
                              .obligation_kind = ObligationKind::lease,
                              .must_fail = true}),
            "calm: o7 (lease) of r2 was leaked, with nobody left to keep it [OBL-6] fails the run");
}

TEST(Finding, promises_without_a_record_are_told_by_their_number) {
  Finding leak{.kind = FindingKind::leak,
               .region = region(2),
               .task = task(4),
               .obligation_kind = ObligationKind::lock_guard,
               .count = 2};
  EXPECT_EQ(to_string(leak), "calm: 2 lock guards of r2 were leaked by t4 [OBL-5]");
  leak.count = 1;
  EXPECT_EQ(to_string(leak), "calm: 1 lock guard of r2 was leaked by t4 [OBL-5]");
}

TEST(Finding, every_kind_says_who_what_and_which_law_in_one_line) {
  const auto line = [](FindingKind kind) {
    return to_string(Finding{.kind = kind,
                             .region = region(2),
                             .task = task(4),
                             .obligation = promise(7),
                             .obligation_kind = ObligationKind::ack,
                             .count = 3});
  };
  EXPECT_EQ(line(FindingKind::dropped_token), "calm: o7 (ack) of r2 was dropped while Reserved by t4 [OBL-4]");
  EXPECT_EQ(line(FindingKind::mask_too_deep), "calm: t4 in r2 nested more than 64 masks, all are off [CAN-12]");
  EXPECT_EQ(line(FindingKind::mask_too_long),
            "calm: t4 in r2 was polled more than 1000 times under one mask, it is off [CAN-12]");
  EXPECT_EQ(line(FindingKind::forced), "calm: t4 in r2 used up its clean-up budget, its frame is dropped [CAN-8]");
  EXPECT_EQ(line(FindingKind::stalled), "calm: t4 in r2 used up its clean-up budget and does not suspend [CAN-8]");
  EXPECT_EQ(line(FindingKind::unresolved),
            "calm: r2 closes over 3 promises that nobody kept (unresolved_obligations) [OBL-6]");
}

TEST(Finding, CAN_8_a_stall_in_a_call_says_so_and_where_the_task_waits_for_it) {
  const Site site = Site::current();
  EXPECT_EQ(to_string(Finding{.kind = FindingKind::stalled, .task = task(4), .site = site, .in_call = true}),
            "calm: t4 used up its clean-up budget in a call that is not over at " + place_of(site) +
                ", it is forced when that is [CAN-8]");
}

TEST(Finding, a_stall_says_where_the_task_was_last_seen) {
  const Site site = Site::current();
  EXPECT_EQ(to_string(Finding{.kind = FindingKind::stalled, .task = task(4), .site = site}),
            "calm: t4 used up its clean-up budget and does not suspend, last seen at " + place_of(site) + " [CAN-8]");
}

}  // namespace
}  // namespace calm::kernel::test
