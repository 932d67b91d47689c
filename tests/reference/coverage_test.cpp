// What the programs reach: a comparison proves nothing about states that no program comes to.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "calm/kernel/finding.hpp"
#include "calm/model/obligation_state.hpp"
#include "calm/model/region_state.hpp"
#include "calm/model/task_state.hpp"
#include "campaign.hpp"

namespace calm::reference {
namespace {

/// What each operation may be refused with, as kernel.hpp says.
struct Refusal {
  Do what;
  std::vector<Errc> codes;
};
const Refusal refusals[] = {
    {Do::create_region,
     {Errc::stale_handle, Errc::region_not_open, Errc::admission_limit, Errc::resource_exhausted,
      Errc::invalid_argument}},
    {Do::close, {Errc::stale_handle}},
    {Do::cancel, {Errc::stale_handle}},
    {Do::end_body, {Errc::stale_handle, Errc::invalid_transition}},
    {Do::advance,
     {Errc::stale_handle, Errc::invalid_transition, Errc::incomplete_children, Errc::unresolved_obligations}},
    {Do::defer, {Errc::stale_handle, Errc::region_not_open, Errc::resource_exhausted}},
    {Do::await_close, {Errc::stale_handle, Errc::would_block, Errc::busy}},
    {Do::use_heap, {Errc::stale_handle, Errc::region_closed, Errc::admission_limit}},
    {Do::release_region, {Errc::stale_handle}},
    {Do::spawn, {Errc::stale_handle, Errc::region_not_open, Errc::admission_limit, Errc::resource_exhausted}},
    {Do::wake, {Errc::stale_handle}},
    {Do::end_poll, {Errc::stale_handle, Errc::invalid_transition}},
    {Do::complete, {Errc::stale_handle, Errc::invalid_transition}},
    {Do::begin_finalizing, {Errc::stale_handle, Errc::invalid_transition}},
    {Do::unwound, {Errc::stale_handle, Errc::invalid_transition}},
    {Do::request_cancel, {Errc::stale_handle}},
    {Do::checkpoint, {Errc::stale_handle, Errc::cancelled}},
    {Do::enter_mask, {Errc::stale_handle, Errc::invalid_transition}},
    {Do::leave_mask, {Errc::stale_handle, Errc::invalid_transition}},
    {Do::spend, {Errc::stale_handle, Errc::invalid_transition, Errc::budget_exhausted}},
    {Do::deadline_reached, {Errc::stale_handle}},
    {Do::await_end, {Errc::stale_handle, Errc::would_block, Errc::busy}},
    {Do::release_task, {Errc::stale_handle}},
    {Do::reserve,
     {Errc::stale_handle, Errc::region_not_open, Errc::admission_limit, Errc::resource_exhausted,
      Errc::invalid_argument}},
    {Do::commit, {Errc::stale_handle, Errc::obligation_already_resolved, Errc::obligation_leaked}},
    {Do::abort, {Errc::stale_handle, Errc::obligation_already_resolved, Errc::obligation_leaked}},
    {Do::hand_over,
     {Errc::stale_handle, Errc::obligation_already_resolved, Errc::obligation_leaked, Errc::invalid_argument}},
    {Do::drop_token, {Errc::stale_handle}},
    {Do::count, {Errc::stale_handle, Errc::invalid_argument, Errc::invalid_transition}},
    {Do::uncount,
     {Errc::stale_handle, Errc::obligation_already_resolved, Errc::invalid_argument, Errc::invalid_transition}},
};

void check_successes(const Coverage& reached) {
  for (std::size_t i = 0; i < do_count; ++i) {
    EXPECT_GT(reached.done[i], 0U) << to_string(static_cast<Do>(i));
  }
}

void check_refusals(const Coverage& reached) {
  for (const Refusal& refusal : refusals) {
    for (const Errc code : refusal.codes) {
      EXPECT_TRUE(reached.refused.contains({refusal.what, code})) << to_string(refusal.what) << " " << to_string(code);
    }
  }
}

void check_no_other_refusals(const Coverage& reached) {
  for (const auto& [refused, times] : reached.refused) {
    bool known = refused.first == Do::spin;  // of wake() and end_poll()
    for (const Refusal& refusal : refusals) {
      const bool has = std::find(refusal.codes.begin(), refusal.codes.end(), refused.second) != refusal.codes.end();
      known = known || (refusal.what == refused.first && has);
    }
    EXPECT_TRUE(known) << to_string(refused.first) << " " << to_string(refused.second) << ", " << times << " times";
  }
}

void check_region_moves(const Coverage& reached) {
  for (const auto& move : region_moves) {
    EXPECT_TRUE(reached.moves.regions.contains({move.from, move.to}))
        << to_string(move.from) << " to " << to_string(move.to);
  }
}

void check_task_moves(const Coverage& reached) {
  for (const auto& move : task_moves) {
    // complete() takes a Cancelling task through Finalizing by itself (TSK-8).
    const bool through = move.from == TaskState::cancelling && move.to == TaskState::completed;
    EXPECT_NE(through, reached.moves.tasks.contains({move.from, move.to}))
        << to_string(move.from) << " to " << to_string(move.to);
  }
}

void check_promise_moves(const Coverage& reached) {
  for (const auto& move : obligation_moves) {
    EXPECT_TRUE(reached.moves.obligations.contains({move.from, move.to})) << to_string(move.to);
  }
}

void check_polls(const Coverage& reached) {
  for (const std::uint64_t times : reached.polls) EXPECT_GT(times, 0U);
}

void check_findings(const Coverage& reached) {
  for (std::size_t kind = 0; kind < reached.findings.size(); ++kind) {
    EXPECT_GT(reached.findings[kind], 0U) << to_string(static_cast<kernel::FindingKind>(kind));
  }
}

// One test: every test is a process of its own, and the programs take seconds.
TEST(ReferenceCoverage, LAB_10_the_programs_reach_every_success_refusal_move_poll_and_finding) {
  Coverage reached;
  const std::string said = campaign(1, 2'000, reached);
  ASSERT_TRUE(said.empty()) << said;
  check_successes(reached);
  check_refusals(reached);
  check_no_other_refusals(reached);
  check_region_moves(reached);
  check_task_moves(reached);
  check_promise_moves(reached);
  check_polls(reached);
  check_findings(reached);
}

}  // namespace
}  // namespace calm::reference
