#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string_view>

#include "calm/model/error_code.hpp"
#include "tests/show.hpp"

namespace calm {
namespace {

// The enum as the law lists it, with the numbers that must never change.
constexpr std::string_view names_in_order[] = {
    "invalid_transition",
    "region_not_open",
    "region_closed",
    "admission_closed",
    "admission_limit",
    "obligation_already_resolved",
    "obligation_leaked",
    "unresolved_obligations",
    "incomplete_children",
    "stale_handle",
    "resource_exhausted",
    "budget_exhausted",
    "tasks_still_active",
    "obligations_unresolved",
    "regions_not_closed",
    "timers_pending",
    "channel_not_drained",
    "witness_task_mismatch",
    "witness_region_mismatch",
    "witness_epoch_mismatch",
    "witness_phase_regression",
    "witness_reason_weakened",
    "invalid_argument",
    "cancelled",
    "would_block",
    "full",
    "empty",
    "disconnected",
    "timeout",
    "duration_exceeded",
    "lagged",
    "busy",
    "io",
    "unsupported",
    "protocol",
    "unauthorized",
    "conflict",
    "broken_pipe",
    "degraded",
    "open_circuit",
};

TEST(Error, HND_2_the_set_is_closed_and_its_numbers_are_stable) {
  ASSERT_EQ(errc_count, std::size(names_in_order));
  for (std::uint16_t i = 0; i < errc_count; ++i) {
    const auto code = static_cast<Errc>(i + 1);
    EXPECT_EQ(to_string(code), names_in_order[i]);
    EXPECT_EQ(find_errc(names_in_order[i])->code, code);
    EXPECT_EQ(find_errc(static_cast<std::uint16_t>(i + 1))->code, code);
  }
}

TEST(Error, HND_2_every_code_has_its_own_cause_and_fix) {
  std::set<std::string_view> causes;
  std::set<std::string_view> fixes;
  for (const ErrcEntry& row : errc_table) {
    EXPECT_GT(row.cause.size(), 10U) << row.name;
    EXPECT_GT(row.fix.size(), 10U) << row.name;
    EXPECT_TRUE(causes.insert(row.cause).second) << row.name << " shares its cause";
    EXPECT_TRUE(fixes.insert(row.fix).second) << row.name << " shares its fix";
  }
}

TEST(Error, HND_2_unknown_numbers_and_names_are_not_found) {
  EXPECT_EQ(find_errc(std::uint16_t{0}), nullptr);
  EXPECT_EQ(find_errc(static_cast<std::uint16_t>(errc_count + 1)), nullptr);
  EXPECT_EQ(find_errc("no_such_error"), nullptr);
  EXPECT_EQ(find_errc(""), nullptr);
}

TEST(Error, HND_2_a_status_is_ok_or_one_code) {
  constexpr Status fine;
  static_assert(fine.is_ok() && fine == Status());
  constexpr Status full = Errc::full;
  static_assert(!full && full.error() == Errc::full);
  EXPECT_EQ(to_string(fine), "ok");
  EXPECT_EQ(to_string(full), "full");
}

}  // namespace
}  // namespace calm
