#include <gtest/gtest.h>

#include <string_view>

#include "calm/model/cancel_kind.hpp"
#include "tests/show.hpp"

namespace calm {
namespace {

struct Expected {
  CancelKind kind;
  std::string_view name;
  int severity;
  std::uint64_t polls;
  int priority;
};

class CancelKindRows : public testing::TestWithParam<Expected> {};

TEST_P(CancelKindRows, CAN_1_severity_and_clean_up_are_as_the_law_says) {
  const Expected& row = GetParam();
  EXPECT_EQ(to_string(row.kind), row.name);
  EXPECT_EQ(describe(row.kind).severity, row.severity);
  const Budget cleanup = cleanup_budget(row.kind, Time::at_ns(7));
  EXPECT_EQ(cleanup.polls, Quota(row.polls));
  EXPECT_EQ(cleanup.priority, row.priority);
  EXPECT_TRUE(cleanup.cost.is_infinite());
}

INSTANTIATE_TEST_SUITE_P(Table, CancelKindRows,
                         testing::Values(Expected{CancelKind::user, "User", 0, 1000, 200},
                                         Expected{CancelKind::timeout, "Timeout", 1, 500, 210},
                                         Expected{CancelKind::deadline, "Deadline", 1, 500, 210},
                                         Expected{CancelKind::poll_quota, "PollQuota", 2, 300, 215},
                                         Expected{CancelKind::cost_budget, "CostBudget", 2, 300, 215},
                                         Expected{CancelKind::fail_fast, "FailFast", 3, 200, 220},
                                         Expected{CancelKind::race_lost, "RaceLost", 3, 200, 220},
                                         Expected{CancelKind::linked_exit, "LinkedExit", 3, 200, 220},
                                         Expected{CancelKind::parent_cancelled, "ParentCancelled", 4, 200, 220},
                                         Expected{CancelKind::resource_unavailable, "ResourceUnavailable", 4, 200, 220},
                                         Expected{CancelKind::shutdown, "Shutdown", 5, 50, 255}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(CancelKind, CAN_1_there_are_eleven_kinds) { EXPECT_EQ(cancel_kind_count, 11); }

TEST(CancelKind, CAN_1_clean_up_gets_five_seconds_from_the_request_unless_told_otherwise) {
  const Time requested = Time() + Duration::seconds(3);
  EXPECT_EQ(cleanup_budget(CancelKind::user, requested).deadline, Deadline(Time() + Duration::seconds(8)));
  EXPECT_EQ(cleanup_budget(CancelKind::user, requested, Duration::seconds(1)).deadline,
            Deadline(Time() + Duration::seconds(4)));
}

}  // namespace
}  // namespace calm
