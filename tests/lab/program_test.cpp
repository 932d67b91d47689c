// Random programs in the lab: two thousand, the same ones in every run, each run twice.
// CALM_PROGRAM_COUNT asks for another number of programs, CALM_PROGRAM_SEED for another first seed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "calm/model/cancel_kind.hpp"
#include "calm/trace/event.hpp"
#include "program_campaign.hpp"

namespace calm::programs {
namespace {

constexpr std::uint64_t programs = 2000;

/// XXH64 over seeds, traces, states and logs of those programs: every compiler and every build gives this. A change of the
/// kernel, of cx or of the lab that records other events gives another; the failing test prints it.
constexpr std::uint64_t recorded = 0xdc65bd2baf2efc44;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(Programs, I6_random_programs_run_the_same_twice_and_in_every_build_and_no_oracle_finds_anything) {
  const std::uint64_t count = number_from("CALM_PROGRAM_COUNT", programs);
  const std::uint64_t first = number_from("CALM_PROGRAM_SEED", 1);
  const Campaign ran = campaign(first, count);
  ASSERT_TRUE(ran.said.empty()) << ran.said;
  if (count != programs || first != 1) return;
  EXPECT_EQ(ran.digest, recorded) << fmt::format(
      "this build gives {:#018x}\n  law:  I6 a fixed program, seed and configuration give the same trace\n"
      "  next: calm_programs --digests FILE with two builds, and diff; when the traces changed on purpose, record it",
      ran.digest);
}

TEST(Programs, I3_HND_3_random_programs_stay_lawful_under_cancels_needless_wakes_clock_jumps_and_without_memory) {
  const Campaign ran =
      campaign(number_from("CALM_PROGRAM_SEED", 1), number_from("CALM_PROGRAM_COUNT", programs), Trouble::some);
  EXPECT_TRUE(ran.said.empty()) << ran.said;
}

TEST(ProgramCampaign, reaches_every_statement_event_end_and_kind_of_cancel_that_a_program_can) {
  const Coverage reached = campaign(1, programs).coverage;
  for (std::size_t i = 0; i < do_count; ++i) {
    const Do what = static_cast<Do>(i);
    if (what == Do::fail || what == Do::panic) continue;  // they never get done
    EXPECT_GT(reached.statements[i], 20U) << to_string(what);
  }
  using enum trace::EventKind;
  for (const auto kind : {spawn, poll, complete, cancel_request, cancel_ack, cancel_done, reserve, resolve, finalize,
                          region_move, timer, choice, forced, mark}) {
    EXPECT_GT(reached.events[static_cast<std::size_t>(kind)], 0U) << to_string(kind);
  }
  using enum CancelKind;
  for (const auto kind : {user, deadline, poll_quota, cost_budget, fail_fast, parent_cancelled}) {
    EXPECT_GT(reached.cancels[static_cast<std::size_t>(kind)], 0U) << to_string(kind);
  }
  for (const std::uint64_t ends : reached.ends) EXPECT_GT(ends, 20U);
}

}  // namespace
}  // namespace calm::programs
