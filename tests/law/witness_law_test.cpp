#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "calm/model/witness.hpp"
#include "tests/law/generators.hpp"

namespace calm {
namespace {

using lawtest::region_id;
using lawtest::task_id;

constexpr CancelPhase phases[] = {CancelPhase::requested, CancelPhase::cancelling, CancelPhase::finalizing,
                                  CancelPhase::completed};

Reason reason_of(CancelKind kind) { return Reason({.kind = kind}); }

Witness witness(CancelPhase phase, CancelKind kind = CancelKind::timeout) {
  return {.task = task_id(1), .region = region_id(1), .epoch = {7}, .phase = phase, .reason = reason_of(kind)};
}

TEST(Witness, CAN_10_the_phases_have_the_ranks_of_the_law) {
  const char* const names[] = {"Requested", "Cancelling", "Finalizing", "Completed"};
  for (std::size_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(static_cast<std::size_t>(phases[rank]), rank);
    EXPECT_EQ(to_string(phases[rank]), names[rank]);
  }
}

TEST(Witness, CAN_10_all_sixteen_pairs_of_phases_go_forward_only) {
  for (const CancelPhase before : phases) {
    for (const CancelPhase after : phases) {
      const Status expected = after >= before ? Status() : Status(Errc::witness_phase_regression);
      EXPECT_EQ(check_step(witness(before), witness(after)), expected) << before << " -> " << after;
    }
  }
}

TEST(Witness, CAN_10_another_task_region_or_epoch_is_a_mismatch) {
  const Witness before = witness(CancelPhase::requested);
  Witness after = before;
  after.task = task_id(2);
  EXPECT_EQ(check_step(before, after), Status(Errc::witness_task_mismatch));
  after = before;
  after.region = region_id(2);
  EXPECT_EQ(check_step(before, after), Status(Errc::witness_region_mismatch));
  after = before;
  after.epoch = {8};
  EXPECT_EQ(check_step(before, after), Status(Errc::witness_epoch_mismatch));
}

TEST(Witness, CAN_10_severity_never_falls) {
  for (std::uint8_t i = 0; i < cancel_kind_count; ++i) {
    for (std::uint8_t j = 0; j < cancel_kind_count; ++j) {
      const auto before = static_cast<CancelKind>(i);
      const auto after = static_cast<CancelKind>(j);
      const bool weaker = describe(after).severity < describe(before).severity;
      EXPECT_EQ(check_step(witness(CancelPhase::requested, before), witness(CancelPhase::cancelling, after)),
                weaker ? Status(Errc::witness_reason_weakened) : Status());
    }
  }
}

TEST(Witness, CAN_10_of_several_faults_the_first_in_the_order_of_the_law_is_named) {
  const Witness before = witness(CancelPhase::completed, CancelKind::shutdown);
  Witness after{.task = task_id(2),
                .region = region_id(2),
                .epoch = {8},
                .phase = CancelPhase::requested,
                .reason = reason_of(CancelKind::user)};
  EXPECT_EQ(check_step(before, after), Status(Errc::witness_task_mismatch));
  after.task = before.task;
  EXPECT_EQ(check_step(before, after), Status(Errc::witness_region_mismatch));
  after.region = before.region;
  EXPECT_EQ(check_step(before, after), Status(Errc::witness_epoch_mismatch));
  after.epoch = before.epoch;
  EXPECT_EQ(check_step(before, after), Status(Errc::witness_phase_regression));
  after.phase = before.phase;
  EXPECT_EQ(check_step(before, after), Status(Errc::witness_reason_weakened));
  after.reason = before.reason;
  EXPECT_TRUE(check_step(before, after));
}

RC_GTEST_PROP(Witness, CAN_10_steps_compose, (Reason a, Reason b, Reason c)) {
  const auto at = [](const Reason& reason) {
    Witness result = witness(*rc::gen::element(CancelPhase::requested, CancelPhase::cancelling, CancelPhase::finalizing,
                                               CancelPhase::completed));
    result.reason = reason;
    return result;
  };
  const Witness first = at(a);
  const Witness second = at(b);
  const Witness third = at(c);
  if (check_step(first, second) && check_step(second, third)) RC_ASSERT(check_step(first, third).is_ok());
}

TEST(Epoch, CAN_11_zero_means_never_cancelled_and_the_counter_starts_after_it) {
  EpochCounter epochs;
  EXPECT_FALSE(epochs.last());
  EXPECT_EQ(epochs.next().value, 1U);
  EXPECT_EQ(epochs.next().value, 2U);
  EXPECT_EQ(epochs.last().value, 2U);
  EXPECT_FALSE(Epoch());
  EXPECT_EQ(to_string(Epoch()), "never cancelled");
}

TEST(Epoch, CAN_11_a_record_takes_one_epoch_at_its_first_request_and_keeps_it) {
  EpochCounter epochs;
  (void)epochs.next();
  CancelRecord record;
  EXPECT_FALSE(record.requested());
  EXPECT_EQ(record.epoch(), Epoch());
  EXPECT_TRUE(record.request(reason_of(CancelKind::user), epochs)) << "the first request";
  EXPECT_EQ(record.epoch().value, 2U);
  EXPECT_FALSE(record.request(reason_of(CancelKind::shutdown), epochs)) << "strengthening";
  EXPECT_FALSE(record.request(reason_of(CancelKind::timeout), epochs)) << "a weaker one";
  EXPECT_EQ(record.epoch().value, 2U);
  EXPECT_EQ(epochs.last().value, 2U) << "later requests take no epoch";
  EXPECT_EQ(record.reason().kind(), CancelKind::shutdown);
}

RC_GTEST_PROP(Epoch, CAN_4_a_record_ends_with_the_same_reason_whatever_the_order_of_requests,
              (std::vector<Reason> reasons)) {
  RC_PRE(!reasons.empty());
  EpochCounter epochs;
  CancelRecord forward;
  CancelRecord backward;
  std::size_t first_requests = 0;
  for (const Reason& reason : reasons) first_requests += forward.request(reason, epochs) ? 1U : 0U;
  for (auto reason = reasons.rbegin(); reason != reasons.rend(); ++reason) backward.request(*reason, epochs);
  RC_ASSERT(first_requests == 1U);
  RC_ASSERT(forward.reason() == backward.reason());
}

TEST(Witness, CAN_10_a_witness_has_a_readable_text) {
  EXPECT_EQ(to_string(witness(CancelPhase::cancelling)), "t1 in r1 epoch 7 Cancelling: Timeout at 0s");
}

}  // namespace
}  // namespace calm
