// The word of a task on one thread: every step in every wake state does what the table says.
#include "calm/kernel/task_word.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "calm/lockfree/local_atomics.hpp"

namespace calm::kernel {
namespace {

using lockfree::WakeState;
using lockfree::WakeStep;
using Word = TaskWord<lockfree::RealAtomics>;

constexpr std::uint32_t generation = 5;

/// Gives: whether the one who takes the step must enqueue; nothing when the step is refused.
std::optional<bool> take(Word& word, WakeStep step) {
  TaskLife life = word.look();
  switch (step) {
    case WakeStep::wake:
      return word.wake().enqueue;
    case WakeStep::begin_poll:
      if (!word.begin_poll(generation, life, [] { return true; })) return std::nullopt;
      return false;
    case WakeStep::end_poll:
      return word.end_poll();
    case WakeStep::finish:
      EXPECT_TRUE(word.step(life, life.with(TaskState::completed).with(WakeState::done)));
      return false;
  }
  return std::nullopt;
}

TEST(TaskWord, TSK_6_each_allowed_step_does_what_the_table_says) {
  for (const lockfree::WakeMove& move : lockfree::wake_moves) {
    Word word;
    word.renew(TaskLife(generation, TaskState::running, move.from));
    EXPECT_EQ(take(word, move.step), move.enqueue);
    EXPECT_EQ(word.look().wake(), move.to);
    EXPECT_EQ(word.look().generation(), generation);
  }
}

TEST(TaskWord, TSK_6_who_is_alone_ends_a_poll_as_anybody_does) {
  for (const WakeState state : {WakeState::running, WakeState::running_woken}) {
    Word plain;
    Word careful;
    plain.renew(TaskLife(generation, TaskState::running, state));
    careful.renew(plain.look());
    const bool enqueue = careful.end_poll();
    EXPECT_EQ(plain.end_poll_alone(), enqueue);
    EXPECT_EQ(plain.look(), careful.look());

    plain.renew(TaskLife(generation, TaskState::running, state));
    careful.renew(plain.look());
    careful.end_poll_woken();
    EXPECT_EQ(plain.end_poll_woken_alone(), careful.look());
    EXPECT_EQ(plain.look(), careful.look());
  }
}

TEST(TaskWord, TSK_6_CAN_13_who_is_alone_claims_a_poll_as_anybody_does) {
  for (const TaskState state : {TaskState::created, TaskState::running, TaskState::cancel_requested,
                                TaskState::cancelling, TaskState::completed}) {
    for (const WakeState wake : lockfree::wake_states) {
      for (const bool may_start : {true, false}) {
        for (const std::uint32_t named : {generation, generation + 1}) {
          Word plain;
          Word careful;
          plain.renew(TaskLife(generation, state, wake));
          careful.renew(plain.look());
          TaskLife plain_life;
          TaskLife careful_life;
          const auto ask = [may_start] { return may_start; };
          const bool claimed = careful.begin_poll(named, careful_life, ask);
          EXPECT_EQ(plain.begin_poll(named, plain_life, ask, true), claimed);
          EXPECT_EQ(plain.look(), careful.look());
          EXPECT_EQ(plain_life, careful_life);
        }
      }
    }
  }
}

TEST(TaskWord, TSK_6_a_poll_begins_only_when_the_task_is_queued) {
  for (const WakeState state : lockfree::wake_states) {
    Word word;
    word.renew(TaskLife(generation, TaskState::running, state));
    EXPECT_EQ(take(word, WakeStep::begin_poll).has_value(), state == WakeState::queued);
  }
}

/// The quick way into a poll leaves the word that the careful one leaves.
void expect_plain_poll(TaskLife life) {
  TaskWord<lockfree::LocalAtomics> quick;
  TaskWord<lockfree::LocalAtomics> careful;
  quick.renew(life);
  careful.renew(life);
  TaskLife now;
  EXPECT_TRUE(quick.begin_plain_poll(TaskId(3, Generation(generation)))) << life.bits();
  EXPECT_TRUE(careful.begin_poll(generation, now, [] { return true; })) << life.bits();
  EXPECT_EQ(quick.look(), careful.look());
  quick.renew(life);
  EXPECT_TRUE(quick.begin_plain_poll()) << life.bits();
  EXPECT_EQ(quick.look(), careful.look()) << "and so does the one that knows the life";
}

TEST(TaskWord, TSK_1_the_first_poll_of_a_newborn_is_that_of_any_task) {
  const TaskLife born(generation, TaskState::created, WakeState::queued);
  expect_plain_poll(born);
  expect_plain_poll(born.with(TaskFlag::handle));
  expect_plain_poll(born.with(TaskFlag::awaited));
}

TEST(TaskWord, TSK_6_another_poll_with_nothing_to_see_is_that_of_any_task) {
  const TaskLife again = TaskLife(generation, TaskState::running, WakeState::queued).with(TaskFlag::started);
  expect_plain_poll(again);
  expect_plain_poll(again.with(TaskFlag::handle));
  expect_plain_poll(again.with(TaskFlag::handle).with(TaskFlag::awaited));
}

TEST(TaskWord, TSK_6_a_poll_that_is_not_the_first_is_begun_by_who_knows_so) {
  const TaskLife again = TaskLife(generation, TaskState::running, WakeState::queued).with(TaskFlag::started);
  for (const TaskLife life : {again, again.with(TaskFlag::handle), again.with(TaskFlag::awaited)}) {
    TaskWord<lockfree::LocalAtomics> knows;
    TaskWord<lockfree::LocalAtomics> asks;
    knows.renew(life);
    asks.renew(life);
    EXPECT_TRUE(knows.begin_next_poll()) << life.bits();
    EXPECT_TRUE(asks.begin_plain_poll()) << life.bits();
    EXPECT_EQ(knows.look(), asks.look());
  }
  const TaskLife born(generation, TaskState::created, WakeState::queued);
  for (const TaskLife life :
       {born, again.with(WakeState::running), again.with(TaskFlag::holds), again.with(TaskState::cancel_requested)}) {
    TaskWord<lockfree::LocalAtomics> word;
    word.renew(life);
    EXPECT_FALSE(word.begin_next_poll()) << life.bits();
    EXPECT_EQ(word.look(), life) << "nothing has changed";
  }
}

TEST(TaskWord, TSK_6_a_plain_end_of_a_poll_with_a_wish_for_another_is_that_of_any_task) {
  const TaskLife polled = TaskLife(generation, TaskState::running, WakeState::running).with(TaskFlag::started);
  for (const TaskLife life : {polled, polled.with(TaskFlag::handle), polled.with(TaskFlag::awaited)}) {
    TaskWord<lockfree::LocalAtomics> plain;
    TaskWord<lockfree::LocalAtomics> careful;
    plain.renew(life);
    careful.renew(life);
    EXPECT_TRUE(plain.end_plain_poll_woken_alone()) << life.bits();
    (void)careful.end_poll_woken_alone();
    EXPECT_EQ(plain.look(), careful.look());
  }
  for (const TaskLife life : {polled.with(WakeState::running_woken), polled.with(TaskState::cancel_requested),
                              polled.with(TaskFlag::holds)}) {
    TaskWord<lockfree::LocalAtomics> word;
    word.renew(life);
    EXPECT_FALSE(word.end_plain_poll_woken_alone()) << life.bits();
    EXPECT_EQ(word.look(), life) << "nothing has changed";
  }
}

TEST(TaskWord, BUD_5_SCH_1_the_word_says_what_of_its_budget_others_have_to_know) {
  const TaskLife born(generation, TaskState::created, WakeState::queued);
  EXPECT_EQ(born.with(Budget()), born);
  EXPECT_FALSE(born.has_budget());
  const TaskLife metered = born.with(Budget{.polls = Quota(3)});
  const TaskLife costly = born.with(Budget{.cost = Quota(3)});
  EXPECT_TRUE(metered.is_unranked());
  EXPECT_TRUE(costly.is_unranked());
  const TaskLife late = born.with(Budget{.deadline = Time::at_ns(1)});
  const TaskLife urgent = born.with(Budget{.priority = 1});
  EXPECT_FALSE(late.is_unranked());
  EXPECT_FALSE(urgent.is_unranked());
  for (const TaskLife life : {metered, costly, late, urgent}) {
    EXPECT_TRUE(life.has_budget());
    EXPECT_FALSE(life.is_unbounded());
    EXPECT_FALSE(life.is_newborn()) << "its first poll is not a plain one";
    EXPECT_FALSE(life.with(TaskState::running).with(TaskFlag::started).is_queued_again());
  }
  EXPECT_TRUE(born.is_unbounded());
  for (const TaskState state : {TaskState::cancel_requested, TaskState::cancelling, TaskState::finalizing}) {
    EXPECT_FALSE(born.with(state).is_unranked()) << to_string(state);
    EXPECT_FALSE(born.with(state).is_unbounded()) << to_string(state);
  }
}

TEST(TaskWord, CAN_3_a_plain_request_and_a_plain_step_leave_what_the_careful_ones_leave) {
  for (const TaskState state : {TaskState::created, TaskState::running, TaskState::cancelling, TaskState::completed}) {
    const TaskLife life(generation, state, WakeState::queued);
    Word plain;
    Word careful;
    plain.renew(life);
    careful.renew(life);
    EXPECT_EQ(plain.request(generation, true), careful.request(generation));
    EXPECT_EQ(plain.look(), careful.look()) << to_string(state);
    TaskLife stale(generation, TaskState::finalizing, WakeState::idle);
    EXPECT_FALSE(plain.step(stale, life, true));
    EXPECT_EQ(stale, plain.look()) << "who comes too late is told what there is";
  }
}

TEST(TaskWord, TSK_1_whoever_has_something_to_see_has_no_plain_poll) {
  const TaskId id(3, Generation(generation));
  const TaskLife born(generation, TaskState::created, WakeState::queued);
  const TaskLife others[] = {TaskLife(generation + 1, TaskState::created, WakeState::queued),
                             born.with(TaskState::cancel_requested),
                             born.with(TaskState::running),
                             born.with(WakeState::running),
                             born.with(TaskFlag::cleanup),
                             born.with(TaskFlag::holds),
                             born.with(TaskState::running).with(TaskFlag::started).with(TaskFlag::cleanup),
                             born.with(TaskState::cancelling).with(TaskFlag::started),
                             born.with(TaskState::running).with(TaskFlag::started).with(WakeState::idle)};
  for (const TaskLife life : others) {
    TaskWord<lockfree::LocalAtomics> word;
    word.renew(life);
    EXPECT_FALSE(word.begin_plain_poll(id)) << life.bits();
    EXPECT_EQ(word.look(), life) << "nothing has changed";
    if (life.generation() != generation) continue;
    EXPECT_FALSE(word.begin_plain_poll()) << life.bits();
    EXPECT_EQ(word.look(), life) << "nothing has changed";
  }
}

TEST(TaskWord, HND_1_after_a_life_the_slot_is_free_with_the_next_generation) {
  for (const std::uint32_t number : {Generation::first, generation}) {
    const TaskLife life(number, TaskState::running, WakeState::running);
    EXPECT_EQ(life.over(), TaskLife(number + 1, TaskState::completed, WakeState::done));
  }
  EXPECT_TRUE(TaskLife(Generation::last, TaskState::running, WakeState::running).over().retired());
}

TEST(TaskWord, HND_1_a_step_that_names_another_generation_changes_nothing) {
  Word word;
  const TaskLife life(generation, TaskState::running, WakeState::queued);
  word.renew(life);
  TaskLife now;
  EXPECT_FALSE(word.begin_poll(generation + 1, now, [] { return true; }));
  EXPECT_EQ(word.request(generation - 1).generation(), generation);
  EXPECT_EQ(word.flag(generation - 1, TaskFlag::holds, true).generation(), generation);
  EXPECT_FALSE(word.flag_unless_completed(generation + 1, TaskFlag::awaited));
  EXPECT_EQ(word.look(), life);
}

TEST(TaskWord, a_slot_that_never_had_a_task_takes_wakes_without_effect) {
  Word word;
  EXPECT_FALSE(word.wake().enqueue);
  EXPECT_EQ(word.look().state(), TaskState::completed);
}

TEST(TaskWord, parts_of_a_life_do_not_touch_each_other) {
  TaskLife life(Generation::last, TaskState::created, WakeState::idle);
  for (const TaskFlag flag :
       {TaskFlag::handle, TaskFlag::left, TaskFlag::cleanup, TaskFlag::started, TaskFlag::awaited, TaskFlag::holds,
        TaskFlag::forced, TaskFlag::witnessed, TaskFlag::expired, TaskFlag::told, TaskFlag::unmasked}) {
    EXPECT_FALSE(life.has(flag));
    life = life.with(flag);
    EXPECT_TRUE(life.has(flag));
    EXPECT_FALSE(life.without(flag).has(flag));
  }
  for (const TaskState state : task_states) {
    for (const WakeState wake : lockfree::wake_states) {
      for (const OutcomeKind kind :
           {OutcomeKind::ok, OutcomeKind::err, OutcomeKind::cancelled, OutcomeKind::panicked}) {
        life = life.with(state).with(wake).with(kind);
        EXPECT_EQ(life.state(), state);
        EXPECT_EQ(life.wake(), wake);
        EXPECT_EQ(life.outcome(), kind);
        EXPECT_EQ(life.generation(), Generation::last);
        EXPECT_TRUE(life.has(TaskFlag::unmasked));
      }
    }
  }
}

}  // namespace
}  // namespace calm::kernel
