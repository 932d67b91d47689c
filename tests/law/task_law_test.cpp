// The life of a task in the kernel: its moves, wakes, handle, and what a cancellation makes of it.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "calm/model/task_state.hpp"
#include "tests/law/law_bench.hpp"

namespace calm::kernel {
namespace {

const CancelSpec by_user{.kind = CancelKind::user};
const CancelSpec by_shutdown{.kind = CancelKind::shutdown};

/// Gives: a task in this state, being polled unless it is Created or Completed.
TaskId in_state(LawBench& bench, TaskState state) {
  const TaskId task = bench.task(bench.root());
  if (state == TaskState::created) return task;
  EXPECT_EQ(bench.poll(task), PollStart::run);
  if (state == TaskState::completed) {
    EXPECT_TRUE(bench.end(task));
  }
  if (state == TaskState::running || state == TaskState::completed) return task;
  EXPECT_TRUE(bench.request(task, by_user));
  if (state == TaskState::cancel_requested) return task;
  EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled));
  if (state == TaskState::finalizing) {
    EXPECT_TRUE(bench.kernel->begin_finalizing(bench.worker, task));
  }
  EXPECT_EQ(bench.state(task), state);
  return task;
}

// --- TSK-1, TSK-2 ---

TEST(Task, TSK_1_each_of_the_13_moves_has_an_operation_that_makes_it) {
  using Step = std::function<void(LawBench&, TaskId)>;
  struct Row {
    TaskState from;
    TaskState to;
    Step step;
  };
  const Step strengthen = [](LawBench& bench, TaskId task) { EXPECT_TRUE(bench.request(task, by_shutdown)); };
  const Step complete = [](LawBench& bench, TaskId task) { EXPECT_TRUE(bench.end(task, err(Errc::io))); };
  const Row rows[] = {
      {TaskState::created, TaskState::running, [](LawBench& bench, TaskId task) { (void)bench.poll(task); }},
      {TaskState::created, TaskState::cancel_requested, strengthen},
      {TaskState::created, TaskState::completed, complete},
      {TaskState::running, TaskState::cancel_requested, strengthen},
      {TaskState::running, TaskState::completed, complete},
      {TaskState::cancel_requested, TaskState::cancel_requested, strengthen},
      {TaskState::cancel_requested, TaskState::cancelling,
       [](LawBench& bench, TaskId task) { (void)bench.checkpoint(task); }},
      {TaskState::cancel_requested, TaskState::completed, complete},
      {TaskState::cancelling, TaskState::cancelling, strengthen},
      {TaskState::cancelling, TaskState::finalizing,
       [](LawBench& bench, TaskId task) { EXPECT_TRUE(bench.kernel->begin_finalizing(bench.worker, task)); }},
      {TaskState::cancelling, TaskState::completed, complete},
      {TaskState::finalizing, TaskState::finalizing, strengthen},
      {TaskState::finalizing, TaskState::completed, complete},
  };
  std::set<std::pair<TaskState, TaskState>> made;
  for (const Row& row : rows) {
    LawBench bench;
    const TaskId task = in_state(bench, row.from);
    const std::uint64_t before = bench.digest();
    row.step(bench, task);
    EXPECT_EQ(bench.state(task), row.to) << "from " << row.from;
    EXPECT_NE(bench.digest(), before) << row.from << " -> " << row.to;
    if (row.from == row.to) {
      EXPECT_EQ(bench.reason(task).kind(), CancelKind::shutdown) << "self moves only strengthen";
    }
    made.emplace(row.from, row.to);
  }
  for (const Move<TaskState>& move : task_moves) EXPECT_TRUE(made.contains({move.from, move.to}));
}

TEST(Task, TSK_1_every_other_attempt_is_an_invalid_transition_and_changes_nothing) {
  for (const TaskState state : task_states) {
    LawBench bench;
    const TaskId task = in_state(bench, state);
    SCOPED_TRACE(to_string(state));
    const auto refused = [&](auto attempt) { expect_unchanged(bench, Errc::invalid_transition, attempt); };
    if (state != TaskState::cancelling) {
      refused([&] { return bench.kernel->begin_finalizing(bench.worker, task); });
    }
    if (state == TaskState::created) {
      refused([&] { return bench.end(task, ok()); });
    }
    if (state == TaskState::created || state == TaskState::completed) {
      refused([&] { return bench.park(task); });
      refused([&] { return bench.kernel->enter_mask(bench.worker, task); });
      refused([&] { return bench.kernel->leave_mask(bench.worker, task); });
      refused([&] { return bench.kernel->spend(bench.worker, task, 1); });
    } else {
      refused([&] { return bench.kernel->leave_mask(bench.worker, task); });
    }
    if (state == TaskState::completed) {
      for (const ChildEnd& end : {ChildEnd(ok()), ChildEnd(err(Errc::io)), thrown()}) {
        refused([&] { return bench.end(task, end); });
      }
    }
  }
}

TEST(Task, TSK_1_a_task_that_is_parked_or_queued_does_not_end_by_itself) {
  for (const bool woken : {false, true}) {
    LawBench bench;
    const TaskId task = bench.parked(bench.root());
    if (woken) {
      EXPECT_TRUE(bench.wake(task));
    }
    for (const ChildEnd& end : {ChildEnd(ok()), ChildEnd(err(Errc::io)), thrown()}) {
      expect_unchanged(bench, Errc::invalid_transition, [&] { return bench.end(task, end); });
    }
    expect_unchanged(bench, Errc::invalid_transition, [&] { return bench.park(task); });
    EXPECT_TRUE(bench.request(task));
    expect_unchanged(bench, Errc::invalid_transition,
                     [&] { return bench.kernel->begin_finalizing(bench.worker, task); });
  }
}

TEST(Task, TSK_1_no_poll_begins_without_a_queue_entry) {
  LawBench bench;
  const TaskId parked = bench.parked(bench.root());
  const TaskId running = bench.running(bench.root());
  const TaskId ended = in_state(bench, TaskState::completed);
  for (const TaskId task : {parked, running, ended, TaskId(), TaskId(UINT32_MAX, Generation())}) {
    const LawBench::Marks before = bench.marks();
    EXPECT_EQ(bench.kernel->begin_poll(bench.worker, task), PollStart::stale);
    EXPECT_EQ(bench.marks(), before);
  }
}

TEST(Task, TSK_2_a_task_that_was_never_polled_ends_otherwise_than_ok) {
  const ChildEnd ends[] = {err(Errc::io), cancelled(Reason({.kind = CancelKind::user})), thrown()};
  for (const ChildEnd& end : ends) {
    LawBench bench;
    const TaskId task = bench.task(bench.root());
    expect_unchanged(bench, Errc::invalid_transition, [&] { return bench.end(task, ok()); });
    EXPECT_TRUE(bench.end(task, end));
    EXPECT_EQ(bench.kernel->outcome_of(task), end.kind());
    EXPECT_EQ(bench.poll(task), PollStart::stale) << "the entry in the queue is stale";
    EXPECT_EQ(bench.view(bench.root()).live_tasks, 0U);
  }
}

// --- TSK-3 ---

TEST(Task, TSK_3_dropping_the_handle_does_not_detach_the_task) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const TaskId task = bench.parked(region);
  EXPECT_TRUE(bench.kernel->release(bench.worker, task));
  EXPECT_EQ(bench.state(task), TaskState::running);
  EXPECT_EQ(bench.view(task).region, region);
  EXPECT_TRUE(bench.cancel(region));
  EXPECT_TRUE(bench.kernel->is_cancel_requested(task)) << "it is its region's";
  EXPECT_EQ(bench.state(region), RegionState::draining) << "and the region waits for it";
  bench.run_all();
  EXPECT_EQ(bench.state(region), RegionState::closed);
  EXPECT_TRUE(bench.end_of(region).is_ok()) << "it ended before it acknowledged";
}

TEST(Task, TSK_3_a_handle_is_dropped_once_and_keeps_the_end_until_then) {
  LawBench bench;
  const TaskId task = bench.running(bench.root());
  EXPECT_TRUE(bench.end(task, ok()));
  EXPECT_EQ(bench.kernel->outcome_of(task), OutcomeKind::ok);
  EXPECT_TRUE(bench.kernel->release(bench.worker, task));
  expect_unchanged(bench, Errc::stale_handle, [&] { return bench.kernel->release(bench.worker, task); });
  EXPECT_EQ(bench.kernel->outcome_of(task), std::nullopt);

  const TaskId live = bench.parked(bench.root());
  EXPECT_TRUE(bench.kernel->release(bench.worker, live));
  expect_unchanged(bench, Errc::stale_handle, [&] { return bench.kernel->release(bench.worker, live); });
  EXPECT_TRUE(bench.poll_and_end(live));
  EXPECT_EQ(bench.kernel->find(live), nullptr) << "nobody can ask for it any more";

  const TaskId without = bench.running(bench.root(), {.handle = false});
  expect_unchanged(bench, Errc::stale_handle, [&] { return bench.kernel->release(bench.worker, without); });
}

TEST(Task, TSK_3_CAN_13_who_waits_for_the_end_is_woken_by_it) {
  for (const bool is_cancelled : {false, true}) {
    LawBench bench;
    const TaskId joiner = bench.parked(bench.root());
    const TaskId task = bench.running(bench.root());
    EXPECT_EQ(bench.kernel->await_end(bench.worker, task, joiner), Status(Errc::would_block));
    expect_unchanged(bench, Errc::busy, [&] { return bench.kernel->await_end(bench.worker, task, joiner); });
    if (is_cancelled) {
      EXPECT_TRUE(bench.request(task));
      EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled));
    }
    EXPECT_TRUE(bench.host.queue.empty());
    EXPECT_TRUE(bench.end(task));
    EXPECT_EQ(bench.host.queue, std::deque<TaskId>{joiner});
    expect_unchanged(bench, {}, [&] { return bench.kernel->await_end(bench.worker, task, joiner); });
    EXPECT_FALSE(bench.kernel->forget_end(bench.worker, task)) << "the wake has come";
  }
}

TEST(Task, TSK_3_a_joiner_that_leaves_is_not_woken) {
  LawBench bench;
  const TaskId joiner = bench.parked(bench.root());
  const TaskId task = bench.running(bench.root());
  EXPECT_EQ(bench.kernel->await_end(bench.worker, task, joiner), Status(Errc::would_block));
  EXPECT_TRUE(bench.kernel->forget_end(bench.worker, task));
  EXPECT_FALSE(bench.kernel->forget_end(bench.worker, task));
  EXPECT_TRUE(bench.end(task));
  EXPECT_TRUE(bench.host.queue.empty());
}

// --- TSK-6 ---

TEST(Task, TSK_6_any_number_of_wakes_makes_one_further_poll) {
  LawBench bench;
  const TaskId task = bench.task(bench.root());
  EXPECT_EQ(bench.host.queue.size(), 1U) << "the first poll";
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(bench.wake(task));
  EXPECT_EQ(bench.host.queue.size(), 1U) << "queued before its first poll";
  EXPECT_EQ(bench.poll(task), PollStart::run);
  EXPECT_TRUE(bench.park(task));
  EXPECT_TRUE(bench.host.queue.empty()) << "wakes before a poll are taken by it";

  for (int i = 0; i < 3; ++i) EXPECT_TRUE(bench.wake(task));
  EXPECT_EQ(bench.host.queue.size(), 1U) << "while parked";

  EXPECT_EQ(bench.poll(task), PollStart::run);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(bench.wake(task));
  EXPECT_TRUE(bench.host.queue.empty()) << "while polled: not before the poll ends";
  EXPECT_TRUE(bench.park(task));
  EXPECT_EQ(bench.host.queue.size(), 1U) << "exactly one further poll";
  EXPECT_EQ(bench.poll(task), PollStart::run);
  EXPECT_TRUE(bench.park(task));
  EXPECT_TRUE(bench.host.queue.empty());
}

TEST(Task, TSK_6_a_wake_of_a_task_that_has_ended_does_nothing) {
  LawBench bench;
  const TaskId task = bench.running(bench.root());
  EXPECT_TRUE(bench.wake(task));
  EXPECT_TRUE(bench.end(task));
  EXPECT_TRUE(bench.host.queue.empty());
  EXPECT_TRUE(bench.wake(task));
  EXPECT_TRUE(bench.host.queue.empty());
  EXPECT_TRUE(bench.kernel->release(bench.worker, task));
  expect_unchanged(bench, Errc::stale_handle, [&] { return bench.wake(task); });
}

// --- TSK-8, CAN-9 ---

TEST(Task, TSK_8_a_task_cancelled_in_created_never_runs_its_body) {
  for (const bool by_region : {false, true}) {
    LawBench bench;
    const RegionId region = bench.region(bench.root());
    const TaskId task = bench.task(region);
    EXPECT_TRUE(by_region ? bench.cancel(region) : bench.request(task));
    EXPECT_EQ(bench.state(task), TaskState::cancel_requested);
    EXPECT_EQ(bench.poll(task), PollStart::drop);
    EXPECT_EQ(bench.state(task), TaskState::cancelling) << "the first poll is a checkpoint";
    EXPECT_FALSE(bench.view(task).started);
    EXPECT_FALSE(bench.view(task).forced);
    EXPECT_TRUE(bench.end(task, ok()));
    EXPECT_EQ(bench.kernel->outcome_of(task), OutcomeKind::cancelled);
    EXPECT_EQ(bench.kernel->witness_of(bench.worker, task)->phase, CancelPhase::completed);
  }
}

TEST(Task, TSK_8_cancelling_lasts_until_the_frame_is_gone_and_finalizing_settles_what_is_held) {
  LawBench bench;
  const TaskId task = bench.running(bench.root());
  const ObligationId promise = bench.reserve(bench.root(), task);
  EXPECT_TRUE(bench.request(task));
  EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(bench.park(task));
    EXPECT_EQ(bench.poll_again(task), PollStart::run);
    EXPECT_EQ(bench.state(task), TaskState::cancelling);
  }
  EXPECT_TRUE(bench.kernel->begin_finalizing(bench.worker, task));
  EXPECT_EQ(bench.state(promise), ObligationState::reserved);
  EXPECT_TRUE(bench.end(task));
  EXPECT_EQ(bench.state(promise), ObligationState::aborted);
  const auto witness = bench.kernel->witness_of(bench.worker, task);
  ASSERT_TRUE(witness);
  EXPECT_EQ(witness->phase, CancelPhase::completed);
  EXPECT_EQ(witness->region, bench.root());
}

TEST(Task, TSK_8_a_task_cancelled_only_because_it_awaited_a_cancelled_one_has_no_witness) {
  LawBench bench;
  const RegionId region = bench.region(bench.root(), {.policy = FoldPolicy::collect});
  const Reason of_the_other({.kind = CancelKind::timeout, .message = "the awaited one"});
  const TaskId task = bench.running(region);
  EXPECT_TRUE(bench.end(task, cancelled(of_the_other)));
  EXPECT_EQ(bench.kernel->outcome_of(task), OutcomeKind::cancelled);
  EXPECT_FALSE(bench.kernel->witness_of(bench.worker, task));
  EXPECT_FALSE(bench.kernel->cancellation_of(bench.worker, task));
  EXPECT_TRUE(bench.events(trace::EventKind::cancel_done).empty());
  EXPECT_TRUE(bench.close(region));
  EXPECT_EQ(bench.end_of(region).reason(), of_the_other);
}

TEST(Task, CAN_9_who_completes_before_acknowledging_keeps_its_outcome_and_leaves_no_witness) {
  const ChildEnd ends[] = {ok(), err(Errc::io), thrown()};
  for (const ChildEnd& end : ends) {
    LawBench bench;
    const RegionId region = bench.region(bench.root(), {.policy = FoldPolicy::collect});
    const TaskId task = bench.running(region);
    EXPECT_TRUE(bench.cancel(region, by_shutdown));
    EXPECT_TRUE(bench.kernel->witness_of(bench.worker, task)) << "so far it was requested";
    EXPECT_TRUE(bench.end(task, end));
    EXPECT_EQ(bench.kernel->outcome_of(task), end.kind());
    EXPECT_FALSE(bench.kernel->witness_of(bench.worker, task));
    EXPECT_EQ(bench.end_of(region), end);
    EXPECT_TRUE(bench.events(trace::EventKind::cancel_done).empty());
  }
}

TEST(Task, CAN_9_after_the_acknowledgement_ok_and_err_become_cancelled_and_panicked_stays) {
  const ChildEnd ends[] = {ok(), err(Errc::io), thrown()};
  for (const ChildEnd& end : ends) {
    LawBench bench;
    const RegionId region = bench.region(bench.root(), {.policy = FoldPolicy::collect});
    const TaskId task = bench.running(region);
    EXPECT_TRUE(bench.cancel(region, by_shutdown));
    EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled));
    EXPECT_TRUE(bench.end(task, end));
    const ChildEnd folded = bench.end_of(region);
    if (end.is_panicked()) {
      EXPECT_EQ(folded, end);
    } else {
      ASSERT_TRUE(folded.is_cancelled());
      EXPECT_EQ(folded.reason().kind(), CancelKind::shutdown);
    }
    EXPECT_EQ(bench.kernel->outcome_of(task), folded.kind());
    EXPECT_TRUE(bench.kernel->witness_of(bench.worker, task));
    EXPECT_EQ(bench.events(trace::EventKind::cancel_done).size(), 1U);
  }
}

// --- CAN-7 ---

TEST(Task, CAN_7_asking_whether_a_cancel_is_requested_only_looks) {
  LawBench bench;
  const TaskId task = bench.running(bench.root());
  EXPECT_FALSE(bench.kernel->is_cancel_requested(task));
  EXPECT_TRUE(bench.request(task));
  const LawBench::Marks before = bench.marks();
  EXPECT_TRUE(bench.kernel->is_cancel_requested(task));
  EXPECT_TRUE(bench.kernel->is_cancel_requested(task));
  EXPECT_EQ(bench.marks(), before);
  EXPECT_EQ(bench.state(task), TaskState::cancel_requested) << "between request and acknowledgement it runs on";
  EXPECT_TRUE(bench.park(task));
  EXPECT_EQ(bench.poll(task), PollStart::run);
  EXPECT_EQ(bench.state(task), TaskState::cancel_requested) << "a poll alone does not acknowledge";
}

TEST(Task, CAN_7_a_checkpoint_acknowledges_once_and_answers_cancelled_every_time_from_then_on) {
  LawBench bench;
  const TaskId task = bench.running(bench.root());
  for (int i = 0; i < 3; ++i) expect_unchanged(bench, {}, [&] { return bench.checkpoint(task); });
  EXPECT_TRUE(bench.request(task));
  EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled));
  EXPECT_EQ(bench.state(task), TaskState::cancelling);
  for (int i = 0; i < 3; ++i) expect_unchanged(bench, Errc::cancelled, [&] { return bench.checkpoint(task); });
  EXPECT_TRUE(bench.park(task));
  EXPECT_EQ(bench.poll_again(task), PollStart::run);
  expect_unchanged(bench, Errc::cancelled, [&] { return bench.checkpoint(task); });
  EXPECT_TRUE(bench.kernel->begin_finalizing(bench.worker, task));
  expect_unchanged(bench, Errc::cancelled, [&] { return bench.checkpoint(task); });
  EXPECT_EQ(bench.events(trace::EventKind::cancel_ack).size(), 1U);
}

// --- CAN-10, CAN-11 ---

TEST(Task, CAN_10_the_witnesses_of_a_task_go_forward_through_all_phases) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const TaskId task = bench.running(region);
  std::vector<Witness> seen;
  const auto look = [&] {
    const auto witness = bench.kernel->witness_of(bench.worker, task);
    ASSERT_TRUE(witness);
    EXPECT_EQ(witness->task, task);
    EXPECT_EQ(witness->region, region);
    seen.push_back(*witness);
  };
  EXPECT_FALSE(bench.kernel->witness_of(bench.worker, task)) << "nothing was requested";
  EXPECT_TRUE(bench.request(task, by_user));
  look();
  EXPECT_TRUE(bench.cancel(region, {.kind = CancelKind::timeout}));
  look();
  EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled));
  look();
  EXPECT_TRUE(bench.cancel(bench.root(), by_shutdown));
  look();
  EXPECT_TRUE(bench.request(task, by_user));
  look();
  EXPECT_TRUE(bench.kernel->begin_finalizing(bench.worker, task));
  look();
  EXPECT_TRUE(bench.end(task));
  look();
  EXPECT_TRUE(bench.request(task, by_shutdown));
  look();
  EXPECT_TRUE(bench.kernel->release(bench.worker, region));
  look();  // the slot of its region is free by now
  std::vector<CancelPhase> phases;
  for (const Witness& witness : seen) phases.push_back(witness.phase);
  using enum CancelPhase;
  EXPECT_EQ(phases, (std::vector<CancelPhase>{requested, requested, cancelling, cancelling, cancelling, finalizing,
                                              completed, completed, completed}));
  for (std::size_t before = 0; before < seen.size(); ++before) {
    for (std::size_t after = before; after < seen.size(); ++after) {
      EXPECT_TRUE(check_step(seen[before], seen[after])) << before << " -> " << after;
    }
  }
}

TEST(Task, CAN_10_phases_may_be_skipped_forward) {
  LawBench bench;
  const TaskId task = bench.running(bench.root());
  EXPECT_TRUE(bench.request(task));
  const auto requested = bench.kernel->witness_of(bench.worker, task);
  EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled));
  EXPECT_TRUE(bench.end(task));
  const auto completed = bench.kernel->witness_of(bench.worker, task);
  ASSERT_TRUE(requested && completed);
  EXPECT_EQ(completed->phase, CancelPhase::completed);
  EXPECT_TRUE(check_step(*requested, *completed));
}

TEST(Task, CAN_11_the_first_request_takes_the_next_epoch_of_the_kernel_and_keeps_it) {
  LawBench bench;
  const RegionId region = bench.region(bench.root());
  const RegionId child = bench.region(region);
  const TaskId first = bench.parked(region);
  const TaskId second = bench.parked(child);
  const TaskId alone = bench.parked(bench.root());
  const auto epoch = [&](TaskId task) { return bench.view(task).epoch.value; };
  EXPECT_EQ(epoch(first), 0U) << "0 means never cancelled";
  EXPECT_EQ(bench.view(region).epoch.value, 0U);
  EXPECT_TRUE(bench.request(alone));
  EXPECT_EQ(epoch(alone), 1U);
  EXPECT_TRUE(bench.cancel(region));
  EXPECT_EQ(bench.view(region).epoch.value, 2U);
  EXPECT_EQ(epoch(first), 3U);
  EXPECT_EQ(bench.view(child).epoch.value, 4U);
  EXPECT_EQ(epoch(second), 5U) << "one counter for regions and tasks, in the order of the walk";
  EXPECT_TRUE(bench.request(alone, by_shutdown));
  EXPECT_TRUE(bench.cancel(bench.root(), by_shutdown));
  EXPECT_EQ(epoch(alone), 1U);
  EXPECT_EQ(bench.view(region).epoch.value, 2U);
  EXPECT_EQ(epoch(first), 3U);
  EXPECT_EQ(bench.view(child).epoch.value, 4U);
  EXPECT_EQ(epoch(second), 5U);
  EXPECT_EQ(bench.view(bench.root()).epoch.value, 6U);
  EXPECT_EQ(bench.kernel->cancellation_of(bench.worker, second)->epoch.value, 5U);
}

TEST(Task, CAN_11_the_next_life_of_a_slot_was_never_cancelled) {
  LawBench bench;
  const TaskId task = bench.running(bench.root());
  EXPECT_TRUE(bench.request(task));
  EXPECT_EQ(bench.checkpoint(task), Status(Errc::cancelled));
  EXPECT_TRUE(bench.end(task));
  EXPECT_TRUE(bench.kernel->release(bench.worker, task));
  const TaskId next = bench.running(bench.root());
  ASSERT_EQ(next.index(), task.index());
  EXPECT_EQ(bench.view(next).epoch.value, 0U);
  EXPECT_FALSE(bench.reason(next));
  EXPECT_FALSE(bench.kernel->witness_of(bench.worker, next));
  EXPECT_FALSE(bench.kernel->witness_of(bench.worker, task));
  EXPECT_TRUE(bench.checkpoint(next));
}

}  // namespace
}  // namespace calm::kernel
