// Promises in the kernel: kept once, never forgotten silently, and waited for.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "tests/law/law_bench.hpp"

namespace calm::kernel {
namespace {

struct Promises : testing::Test {
  explicit Promises(const Config& config = {}) : bench(config) {}

  Status commit(ObligationId promise) { return bench.kernel->commit(bench.worker, promise); }
  Status abort(ObligationId promise) { return bench.kernel->abort(bench.worker, promise); }
  Status hand_over(ObligationId promise, Holder to) { return bench.kernel->hand_over(bench.worker, promise, to); }
  Status drop(ObligationId promise) { return bench.kernel->drop_token(bench.worker, promise); }
  Status count(TaskId task, ObligationKind kind = ObligationKind::lock_guard) {
    return bench.kernel->count(bench.worker, task, kind);
  }
  Status uncount(TaskId task, TaskId by, ObligationKind kind = ObligationKind::lock_guard) {
    return bench.kernel->uncount(bench.worker, task, kind, by);
  }
  std::uint16_t counted(TaskId task, std::size_t kind = 2) { return bench.view(task).counted[kind]; }

  ObligationId in_state(ObligationState state) {
    const TaskId holder = bench.running(region);
    const ObligationId promise = bench.reserve(region, holder);
    if (state == ObligationState::committed) {
      EXPECT_TRUE(commit(promise));
    }
    if (state == ObligationState::aborted) {
      EXPECT_TRUE(abort(promise));
    }
    if (state == ObligationState::leaked) {
      EXPECT_TRUE(bench.end(holder));
    }
    EXPECT_EQ(bench.state(promise), state);
    return promise;
  }

  LawBench bench;
  RegionId region = bench.region(bench.root(), {.policy = FoldPolicy::collect});
};

// --- OBL-1 ---

TEST_F(Promises, OBL_1_are_resolved_once_and_what_is_terminal_stays_as_it_is) {
  const TaskId other = bench.running(region);
  for (const ObligationState state : obligation_states) {
    const Status answer = state == ObligationState::reserved ? Status()
                          : state == ObligationState::leaked ? Status(Errc::obligation_leaked)
                                                             : Status(Errc::obligation_already_resolved);
    const std::function<Status(ObligationId)> attempts[] = {
        [&](ObligationId promise) { return commit(promise); }, [&](ObligationId promise) { return abort(promise); },
        [&](ObligationId promise) { return hand_over(promise, other); },
        [&](ObligationId promise) { return hand_over(promise, Service::reactor); },
        [&](ObligationId promise) { return hand_over(promise, {}); }};
    for (const auto& attempt : attempts) {
      const ObligationId promise = in_state(state);
      if (answer) {
        EXPECT_TRUE(attempt(promise));
      } else {
        expect_unchanged(bench, answer, [&] { return attempt(promise); });
        EXPECT_EQ(bench.state(promise), state);
      }
    }
  }
}

TEST_F(Promises, OBL_1_every_resolution_is_one_event) {
  const ObligationId kept = in_state(ObligationState::committed);
  const ObligationId given_up = in_state(ObligationState::aborted);
  const ObligationId lost = in_state(ObligationState::leaked);
  const auto events = bench.events(trace::EventKind::resolve);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].resource, trace::ResourceId(kept));
  EXPECT_EQ(trace::resolution_in(events[0].argument), ObligationState::committed);
  EXPECT_EQ(events[1].resource, trace::ResourceId(given_up));
  EXPECT_EQ(trace::resolution_in(events[1].argument), ObligationState::aborted);
  EXPECT_EQ(events[2].resource, trace::ResourceId(lost));
  EXPECT_EQ(trace::resolution_in(events[2].argument), ObligationState::leaked);
}

// --- OBL-2, OBL-3 ---

TEST_F(Promises, OBL_2_have_a_record_or_are_counted_by_their_kind) {
  const TaskId task = bench.running(region);
  for (const ObligationKindRow& row : obligation_kind_table) {
    const auto reserve = [&] {
      return bench.kernel->reserve(bench.worker, region, {.kind = row.kind, .holder = task});
    };
    if (row.tracking == Tracking::counted) {
      expect_unchanged(bench, Errc::invalid_argument, reserve);
    } else {
      EXPECT_TRUE(reserve()) << row.name;
    }
    if (row.tracking == Tracking::recorded) {
      expect_unchanged(bench, Errc::invalid_argument, [&] { return count(task, row.kind); });
      expect_unchanged(bench, Errc::invalid_argument, [&] { return uncount(task, task, row.kind); });
    } else {
      EXPECT_TRUE(count(task, row.kind)) << row.name;
    }
  }
}

TEST_F(Promises, OBL_2_are_counted_per_task_and_kind) {
  const TaskId task = bench.running(region);
  const TaskId other = bench.running(region);
  EXPECT_TRUE(count(task, ObligationKind::send_permit));
  EXPECT_TRUE(count(task, ObligationKind::semaphore_permit));
  EXPECT_TRUE(count(task, ObligationKind::semaphore_permit));
  EXPECT_TRUE(count(other, ObligationKind::lock_guard));
  EXPECT_EQ(counted(task, 0), 1);
  EXPECT_EQ(counted(task, 1), 2);
  EXPECT_EQ(counted(task, 2), 0);
  EXPECT_EQ(counted(other, 2), 1);
  expect_unchanged(bench, Errc::obligation_already_resolved,
                   [&] { return uncount(task, task, ObligationKind::lock_guard); });
  EXPECT_TRUE(uncount(task, task, ObligationKind::semaphore_permit));
  EXPECT_EQ(counted(task, 1), 1);
  EXPECT_TRUE(bench.view(region).ledger.is_zero()) << "no record";
}

TEST_F(Promises, OBL_2_that_are_counted_may_be_settled_elsewhere) {
  const TaskId holder = bench.parked(region);
  const TaskId other = bench.running(region);
  (void)bench.poll_again(holder);
  EXPECT_TRUE(count(holder));
  EXPECT_TRUE(count(holder));
  EXPECT_TRUE(bench.park(holder));
  EXPECT_TRUE(uncount(holder, other));
  EXPECT_EQ(counted(holder), 1);
  EXPECT_TRUE(uncount(holder, other));
  expect_unchanged(bench, Errc::obligation_already_resolved, [&] { return uncount(holder, other); });
  (void)bench.poll_again(holder);
  expect_unchanged(bench, Errc::obligation_already_resolved, [&] { return uncount(holder, holder); });
  EXPECT_TRUE(bench.end(holder));
  EXPECT_TRUE(bench.host.findings.empty()) << "nothing was forgotten";
  expect_unchanged(bench, Errc::obligation_already_resolved, [&] { return uncount(holder, other); });
}

TEST_F(Promises, OBL_2_are_counted_in_the_poll_of_their_holder_only) {
  const TaskId parked = bench.parked(region);
  expect_unchanged(bench, Errc::invalid_transition, [&] { return count(parked); });
  expect_unchanged(bench, Errc::invalid_transition, [&] { return uncount(parked, parked); });
}

TEST_F(Promises, OBL_2_HND_3_are_counted_to_65535) {
  const TaskId task = bench.running(region);
  for (int i = 0; i < 65535; ++i) ASSERT_TRUE(count(task));
  expect_unchanged(bench, Errc::resource_exhausted, [&] { return count(task); });
  EXPECT_TRUE(count(task, ObligationKind::send_permit)) << "each kind for itself";
  EXPECT_TRUE(uncount(task, task));
  EXPECT_TRUE(count(task));
  EXPECT_TRUE(bench.end(task));
  ASSERT_EQ(bench.host.findings.size(), 2U);
  EXPECT_EQ(bench.host.findings[1].count, 65535U);
}

TEST_F(Promises, OBL_2_OBL_5_counts_stay_right_when_many_were_settled_elsewhere) {
  const TaskId other = bench.running(region);
  const TaskId task = bench.running(region);
  for (int i = 0; i < 65535; ++i) ASSERT_TRUE(count(task));
  for (int i = 0; i < 65535; ++i) ASSERT_TRUE(uncount(task, other));
  EXPECT_TRUE(count(task));
  EXPECT_EQ(counted(task), 1);
  EXPECT_TRUE(bench.end(task));
  EXPECT_EQ(bench.host.found(FindingKind::leak), 1U) << "one was forgotten";
  EXPECT_TRUE(bench.kernel->release(bench.worker, task));
  const TaskId next = bench.running(region);
  ASSERT_EQ(next.index(), task.index());
  EXPECT_EQ(counted(next), 0) << "the next life of the slot starts at zero";
}

TEST_F(Promises, OBL_3_are_a_count_per_kind_in_the_ledger_of_their_region) {
  const TaskId task = bench.running(bench.root());
  const ObligationId ack = bench.reserve(region, task, ObligationKind::ack);
  const ObligationId lease = bench.reserve(region, Service::lease_keeper, ObligationKind::lease);
  const ObligationId nobody = bench.reserve(region, {}, ObligationKind::ack);
  const auto open = [&](ObligationKind kind) { return bench.view(region).ledger.open(kind); };
  EXPECT_EQ(open(ObligationKind::ack), 2U);
  EXPECT_EQ(open(ObligationKind::lease), 1U);
  EXPECT_TRUE(bench.view(bench.root()).ledger.is_zero()) << "it is the region's, whoever holds it";
  EXPECT_TRUE(commit(ack));
  EXPECT_EQ(open(ObligationKind::ack), 1U);
  EXPECT_TRUE(drop(lease));
  EXPECT_EQ(open(ObligationKind::lease), 0U);
  EXPECT_TRUE(bench.close(region));
  EXPECT_EQ(bench.state(nobody), ObligationState::leaked);
  EXPECT_EQ(bench.state(region), RegionState::closed);
  EXPECT_TRUE(bench.view(region).ledger.is_zero()) << "Closed implies zero";
}

TEST_F(Promises, OBL_3_need_a_holder_in_its_own_poll) {
  const TaskId parked = bench.parked(region);
  const TaskId created = bench.task(region);
  for (const TaskId holder : {parked, created}) {
    expect_unchanged(bench, Errc::invalid_argument,
                     [&] { return bench.kernel->reserve(bench.worker, region, {.holder = holder}); });
  }
}

// --- OBL-4 ---

struct StrictPromises : Promises {
  StrictPromises() : Promises({.strict_tokens = true}) {}
};

TEST_F(Promises, OBL_4_whose_token_is_dropped_are_aborted_counted_and_traced) {
  const TaskId task = bench.running(region);
  const Site site = Site::current();
  const ObligationId promise =
      bench.kernel->reserve(bench.worker, region, {.kind = ObligationKind::lease, .holder = task, .site = site}).id;
  EXPECT_EQ(bench.kernel->dropped_tokens(bench.worker), 0U);
  EXPECT_TRUE(drop(promise));
  EXPECT_EQ(bench.kernel->dropped_tokens(bench.worker), 1U);
  ASSERT_EQ(bench.events(trace::EventKind::resolve).size(), 1U);
  EXPECT_EQ(trace::resolution_in(bench.events(trace::EventKind::resolve)[0].argument), ObligationState::aborted);
  ASSERT_EQ(bench.host.findings.size(), 1U);
  const Finding& finding = bench.host.findings[0];
  EXPECT_EQ(finding.kind, FindingKind::dropped_token);
  EXPECT_EQ(finding.obligation, promise);
  EXPECT_EQ(finding.obligation_kind, ObligationKind::lease);
  EXPECT_EQ(finding.task, task);
  EXPECT_EQ(finding.region, region);
  EXPECT_EQ(finding.site.line(), site.line());
  EXPECT_FALSE(finding.must_fail) << "safe by default";
  EXPECT_TRUE(bench.end(task));
  EXPECT_EQ(bench.host.findings.size(), 1U) << "the task holds nothing any more";
  EXPECT_EQ(bench.kernel->leaks(bench.worker), 0U);
}

TEST_F(StrictPromises, OBL_4_whose_tracked_token_is_dropped_fail_the_run_where_that_is_configured) {
  const ObligationId promise = bench.reserve(region, bench.running(region));
  EXPECT_TRUE(drop(promise));
  ASSERT_EQ(bench.host.findings.size(), 1U);
  EXPECT_TRUE(bench.host.findings[0].must_fail);
}

TEST_F(StrictPromises, OBL_4_that_were_resolved_before_are_dropped_without_a_word) {
  for (const ObligationState state : {ObligationState::committed, ObligationState::aborted, ObligationState::leaked}) {
    const ObligationId promise = in_state(state);
    bench.host.findings.clear();
    EXPECT_TRUE(drop(promise));
    EXPECT_TRUE(bench.host.findings.empty());
    EXPECT_EQ(bench.state(promise), std::nullopt) << "nobody names it any more";
    expect_unchanged(bench, Errc::stale_handle, [&] { return drop(promise); });
  }
  EXPECT_EQ(bench.kernel->dropped_tokens(bench.worker), 0U);
}

TEST_F(Promises, OBL_4_whose_token_is_dropped_let_a_finalizing_region_close) {
  const ObligationId promise = bench.reserve(region, Service::reactor);
  EXPECT_TRUE(bench.close(region));
  EXPECT_EQ(bench.state(region), RegionState::finalizing);
  EXPECT_TRUE(drop(promise));
  EXPECT_EQ(bench.state(region), RegionState::closed);
}

// --- OBL-5 ---

TEST_F(Promises, OBL_5_of_a_cancelled_task_are_aborted) {
  const TaskId task = bench.running(region);
  const ObligationId promise = bench.reserve(region, task);
  EXPECT_TRUE(count(task));
  EXPECT_TRUE(bench.request(task));
  EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled));
  EXPECT_TRUE(bench.end(task));
  EXPECT_EQ(bench.state(promise), ObligationState::aborted);
  EXPECT_TRUE(bench.host.findings.empty());
  EXPECT_EQ(bench.kernel->leaks(bench.worker), 0U);
}

TEST_F(Promises, OBL_5_of_a_forced_task_are_aborted) {
  const TaskId task = bench.running(region);
  const ObligationId promise = bench.reserve(region, task);
  EXPECT_TRUE(bench.request(task));
  EXPECT_TRUE(bench.park(task));
  bench.at(Time() + seconds(5));
  EXPECT_EQ(bench.poll(task), PollStart::drop);
  EXPECT_EQ(bench.state(promise), ObligationState::reserved) << "the tokens in the frame may still abort it";
  EXPECT_TRUE(bench.end(task));
  EXPECT_EQ(bench.state(promise), ObligationState::aborted);
}

TEST_F(Promises, OBL_5_of_a_task_that_was_not_cancelled_are_lost_and_reported_with_their_site) {
  const ChildEnd ends[] = {ok(), err(Errc::io), thrown()};
  std::uint64_t lost = 0;
  for (const ChildEnd& end : ends) {
    bench.host.findings.clear();
    const TaskId task = bench.running(region);
    const Site site = Site::current();
    const ObligationId promise = bench.kernel->reserve(bench.worker, region, {.holder = task, .site = site}).id;
    EXPECT_TRUE(bench.end(task, end));
    EXPECT_EQ(bench.state(promise), ObligationState::leaked);
    ASSERT_EQ(bench.host.findings.size(), 1U);
    EXPECT_EQ(bench.host.findings[0].kind, FindingKind::leak);
    EXPECT_EQ(bench.host.findings[0].obligation, promise);
    EXPECT_EQ(bench.host.findings[0].task, task);
    EXPECT_EQ(bench.host.findings[0].site.line(), site.line());
    EXPECT_FALSE(bench.host.findings[0].must_fail);
    EXPECT_EQ(bench.kernel->leaks(bench.worker), ++lost);
    EXPECT_EQ(bench.view(region).leaked, lost);
  }
}

TEST_F(Promises, OBL_5_of_a_task_that_ended_before_it_acknowledged_are_lost) {
  const TaskId task = bench.running(region);
  const ObligationId promise = bench.reserve(region, task);
  EXPECT_TRUE(bench.request(task));
  EXPECT_TRUE(bench.end(task, ok()));
  EXPECT_EQ(bench.state(promise), ObligationState::leaked) << "it ended well and forgot a promise";
}

TEST_F(Promises, OBL_5_that_are_counted_are_lost_too_and_each_counts) {
  const TaskId task = bench.running(region);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(count(task));
  EXPECT_TRUE(bench.end(task));
  ASSERT_EQ(bench.host.findings.size(), 1U);
  EXPECT_EQ(bench.host.findings[0].kind, FindingKind::leak);
  EXPECT_EQ(bench.host.findings[0].obligation_kind, ObligationKind::lock_guard);
  EXPECT_EQ(bench.host.findings[0].count, 3U);
  EXPECT_EQ(bench.view(region).leaked, 3U);
  EXPECT_EQ(bench.kernel->leaks(bench.worker), 3U);
}

TEST_F(Promises, OBL_5_that_were_handed_over_are_the_new_holders) {
  const TaskId giver = bench.running(region);
  const TaskId taker = bench.running(region);
  const ObligationId promise = bench.reserve(region, giver);
  EXPECT_TRUE(hand_over(promise, taker));
  EXPECT_EQ(bench.view(promise).holder, Holder(taker));
  EXPECT_TRUE(bench.end(giver));
  EXPECT_EQ(bench.state(promise), ObligationState::reserved);
  EXPECT_TRUE(bench.host.findings.empty());
  EXPECT_TRUE(bench.end(taker));
  EXPECT_EQ(bench.state(promise), ObligationState::leaked) << "it cannot end without noticing";
  EXPECT_EQ(bench.host.findings.back().task, taker);
}

TEST_F(Promises, OBL_5_are_not_handed_to_a_task_that_has_ended) {
  const TaskId giver = bench.running(region);
  const TaskId ended = bench.running(region);
  EXPECT_TRUE(bench.end(ended));
  const ObligationId promise = bench.reserve(region, giver);
  expect_unchanged(bench, Errc::stale_handle, [&] { return hand_over(promise, ended); });
  EXPECT_TRUE(hand_over(promise, bench.parked(region))) << "to one that is parked they are";
}

struct RecoveredPromises : Promises {
  RecoveredPromises() : Promises({.leaks = {.policy = LeakPolicy::recover}}) {}
};
struct PanickingPromises : Promises {
  PanickingPromises() : Promises({.leaks = {.policy = LeakPolicy::panic}}) {}
};
struct EscalatingPromises : Promises {
  EscalatingPromises()
      : Promises({.leaks = {.policy = LeakPolicy::recover, .threshold = 3, .then = LeakPolicy::panic}}) {}
};

TEST_F(RecoveredPromises, OBL_5_are_aborted_by_the_policy_recover) {
  const TaskId task = bench.running(region);
  const ObligationId promise = bench.reserve(region, task);
  EXPECT_TRUE(count(task));
  EXPECT_TRUE(bench.end(task));
  EXPECT_EQ(bench.state(promise), ObligationState::aborted);
  EXPECT_EQ(bench.host.found(FindingKind::leak), 0U);
  EXPECT_EQ(bench.view(region).leaked, 0U);
}

TEST_F(PanickingPromises, OBL_5_fail_the_run_by_the_policy_panic) {
  const TaskId task = bench.running(region);
  const ObligationId promise = bench.reserve(region, task);
  EXPECT_TRUE(count(task));
  EXPECT_TRUE(bench.end(task));
  EXPECT_EQ(bench.state(promise), ObligationState::leaked);
  ASSERT_EQ(bench.host.findings.size(), 2U);
  for (const Finding& finding : bench.host.findings) EXPECT_TRUE(finding.must_fail);
}

TEST_F(EscalatingPromises, OBL_5_from_the_threshold_on_get_the_stricter_response) {
  std::vector<ObligationState> seen;
  for (int i = 0; i < 4; ++i) {
    const TaskId task = bench.running(region);
    const ObligationId promise = bench.reserve(region, task);
    EXPECT_TRUE(bench.end(task));
    seen.push_back(bench.state(promise).value());
  }
  using enum ObligationState;
  EXPECT_EQ(seen, (std::vector<ObligationState>{aborted, aborted, leaked, leaked})) << "the third is the third leak";
  ASSERT_EQ(bench.host.findings.size(), 2U);
  EXPECT_TRUE(bench.host.findings[0].must_fail);
}

// --- OBL-6 ---

TEST_F(Promises, OBL_6_that_nobody_holds_are_lost_at_the_close_in_ascending_id_order_with_their_sites) {
  std::vector<ObligationId> freed;
  for (int i = 0; i < 20; ++i) freed.push_back(bench.reserve(region));
  for (const std::size_t i : {7U, 3U, 12U, 5U}) EXPECT_TRUE(drop(freed[i]));
  bench.host.findings.clear();
  std::vector<ObligationId> open;
  for (std::size_t i = 0; i < freed.size(); ++i) {
    if (bench.state(freed[i])) open.push_back(freed[i]);
  }
  Site site{};
  for (int i = 0; i < 4; ++i) {
    site = Site::current();
    open.push_back(bench.kernel->reserve(bench.worker, region, {.site = site}).id);
  }
  ASSERT_FALSE(std::is_sorted(open.begin(), open.end())) << "slots are used again in another order";
  EXPECT_TRUE(bench.close(region));
  EXPECT_EQ(bench.state(region), RegionState::closed);
  std::sort(open.begin(), open.end());
  ASSERT_EQ(bench.host.findings.size(), open.size() + 1);
  for (std::size_t i = 0; i < open.size(); ++i) {
    const Finding& finding = bench.host.findings[i];
    EXPECT_EQ(finding.kind, FindingKind::leak);
    EXPECT_EQ(finding.obligation, open[i]);
    EXPECT_NE(finding.site.line(), 0U);
    EXPECT_EQ(bench.state(open[i]), ObligationState::leaked);
  }
  EXPECT_EQ(bench.host.findings.back().kind, FindingKind::unresolved);
  EXPECT_EQ(bench.host.findings.back().region, region);
  EXPECT_EQ(bench.host.findings.back().count, open.size()) << "told once, for all of them";
  EXPECT_EQ(bench.kernel->leaks(bench.worker), open.size());
  EXPECT_EQ(bench.view(region).leaked, open.size());
}

TEST_F(Promises, OBL_6_that_are_lost_do_not_keep_the_region_or_its_parent) {
  const RegionId child = bench.region(region);
  const ObligationId promise = bench.reserve(child);
  EXPECT_TRUE(bench.cancel(region));
  EXPECT_EQ(bench.state(promise), ObligationState::leaked);
  EXPECT_EQ(bench.state(region), RegionState::closed);
}

TEST_F(Promises, OBL_6_a_region_without_open_promises_reports_nothing) {
  in_state(ObligationState::committed);
  in_state(ObligationState::aborted);
  EXPECT_TRUE(bench.cancel(region));
  bench.run_all();
  for (const TaskView& task : bench.kernel->snapshot(bench.worker).tasks) (void)bench.end(task.id);
  EXPECT_EQ(bench.state(region), RegionState::closed);
  EXPECT_TRUE(bench.host.findings.empty());
}

// --- OBL-11 ---

TEST_F(Promises, OBL_11_held_by_a_service_or_in_another_region_keep_the_region_finalizing) {
  const TaskId holder = bench.running(bench.root());
  for (const Holder who :
       {Holder(Service::reactor), Holder(Service::lease_keeper), Holder(Service::reactor, holder), Holder(holder)}) {
    const RegionId waiting = bench.region(bench.root(), {.owner = holder});
    const ObligationId promise = bench.reserve(waiting, who);
    EXPECT_TRUE(bench.close(waiting));
    EXPECT_EQ(bench.state(waiting), RegionState::finalizing);
    EXPECT_TRUE(bench.cancel(waiting, {.kind = CancelKind::shutdown}));
    EXPECT_EQ(bench.state(waiting), RegionState::finalizing) << "also when it is cancelled";
    EXPECT_EQ(bench.state(promise), ObligationState::reserved);
    expect_unchanged(bench, Errc::unresolved_obligations, [&] { return bench.kernel->advance(bench.worker, waiting); });
    EXPECT_TRUE(commit(promise));
    EXPECT_EQ(bench.state(waiting), RegionState::closed) << "the resolution lets it go on in the same step";
  }
  EXPECT_TRUE(bench.host.findings.empty());
}

TEST_F(Promises, OBL_11_of_a_holder_elsewhere_are_settled_by_its_end_and_the_region_goes_on) {
  for (const bool is_cancelled : {false, true}) {
    const RegionId elsewhere = bench.region(bench.root());
    const TaskId holder = bench.running(elsewhere);
    const RegionId waiting = bench.region(bench.root());
    const ObligationId promise = bench.reserve(waiting, holder);
    EXPECT_TRUE(bench.close(waiting));
    if (is_cancelled) {
      EXPECT_TRUE(bench.request(holder));
      EXPECT_EQ(bench.checkpoint(holder), Status(Errc::cancelled));
    }
    EXPECT_EQ(bench.state(waiting), RegionState::finalizing);
    EXPECT_TRUE(bench.end(holder));
    EXPECT_EQ(bench.state(promise), is_cancelled ? ObligationState::aborted : ObligationState::leaked);
    EXPECT_EQ(bench.state(waiting), RegionState::closed);
  }
}

TEST_F(Promises, OBL_11_given_up_by_their_service_are_found_by_the_audit) {
  const ObligationId promise = bench.reserve(region, Service::reactor);
  EXPECT_TRUE(bench.close(region));
  EXPECT_EQ(bench.state(region), RegionState::finalizing);
  EXPECT_TRUE(hand_over(promise, Service::lease_keeper));
  EXPECT_EQ(bench.state(region), RegionState::finalizing);
  EXPECT_TRUE(hand_over(promise, {}));
  EXPECT_EQ(bench.state(promise), ObligationState::leaked);
  EXPECT_EQ(bench.state(region), RegionState::closed);
  EXPECT_EQ(bench.host.found(FindingKind::unresolved), 1U);
}

TEST_F(Promises, OBL_11_the_last_of_several_lets_the_region_close) {
  const TaskId holder = bench.running(bench.root());
  std::vector<ObligationId> open = {bench.reserve(region, Service::reactor), bench.reserve(region, holder),
                                    bench.reserve(region, Service::lease_keeper)};
  EXPECT_TRUE(bench.close(region));
  while (!open.empty()) {
    EXPECT_EQ(bench.state(region), RegionState::finalizing);
    EXPECT_TRUE(commit(open.back()));
    open.pop_back();
  }
  EXPECT_EQ(bench.state(region), RegionState::closed);
}

TEST_F(Promises, I2_OBL_11_the_parent_waits_for_a_child_region_that_waits_for_the_reactor) {
  const RegionId child = bench.region(region);
  const ObligationId operation = bench.reserve(child, Service::reactor, ObligationKind::io_operation);
  EXPECT_TRUE(bench.cancel(region));
  EXPECT_EQ(bench.state(child), RegionState::finalizing);
  EXPECT_EQ(bench.state(region), RegionState::draining);
  EXPECT_TRUE(abort(operation));
  EXPECT_EQ(bench.state(region), RegionState::closed);
}

}  // namespace
}  // namespace calm::kernel
