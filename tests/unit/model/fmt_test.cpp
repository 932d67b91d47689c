#include "calm/fmt.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace calm {
namespace {

TEST(Fmt, every_type_with_a_text_formats_like_a_string) {
  const Reason reason(ReasonSpec{.kind = CancelKind::user, .message = "stop"});
  EXPECT_EQ(fmt::format("{}", RegionId(3, Generation())), "r3");
  EXPECT_EQ(fmt::format("{}", TaskId()), "none");
  EXPECT_EQ(fmt::format("{:>8}|", Errc::full), "    full|");
  EXPECT_EQ(fmt::format("{}", Status()), "ok");
  EXPECT_EQ(fmt::format("{}", Error(Errc::full, "x")), "full: x");
  EXPECT_EQ(fmt::format("{} {} {}", Duration::seconds(2), Time(), Deadline::none()), "2s 0s none");
  EXPECT_EQ(fmt::format("{} {}", Quota(3), Quota::infinite()), "3 infinite");
  EXPECT_EQ(fmt::format("{}", Budget::infinite()), to_string(Budget::infinite()));
  EXPECT_EQ(fmt::format("{} {}", CancelKind::race_lost, CancelPhase::cancelling), "RaceLost Cancelling");
  EXPECT_EQ(fmt::format("{} {}", reason, *reason.levels().begin()), to_string(reason) + " " + to_string(reason));
  EXPECT_EQ(fmt::format("{}", Epoch{4}), "epoch 4");
  EXPECT_EQ(fmt::format("{}", Witness{.reason = reason}), to_string(Witness{.reason = reason}));
  EXPECT_EQ(fmt::format("{} {}", OutcomeKind::err, Panic::with_message("p")), "Err p");
  EXPECT_EQ(fmt::format("{}", Note(OutcomeKind::err, "n")), "Err: n");
  EXPECT_EQ(fmt::format("{:<8}|", Outcome<int>(ok(3))), "Ok(3)   |");
  EXPECT_EQ(fmt::format("{} {}", RegionState::open, TaskState::running), "Open Running");
  EXPECT_EQ(fmt::format("{} {} {}", ObligationState::leaked, ObligationKind::ack, ObligationReplica::conflict),
            "Leaked ack Conflict");
}

}  // namespace
}  // namespace calm
