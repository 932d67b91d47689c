// What a worker dispatches next, law by law.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "calm/sched/certificate.hpp"
#include "calm/sched/seeded_ties.hpp"
#include "calm/sched/victim_order.hpp"
#include "tests/unit/sched/lane_tasks.hpp"

namespace calm::sched {
namespace {

/// Dispatches so many, `quick` saying whether the quick queue has entries. Gives: a letter for each: c, t, r, q; O and Q for
/// the oldest of the ready lane and of the quick queue, F for a fallback, - when there is nothing.
std::string picks_of(LocalLanes& lanes, int count, bool quick) {
  std::string letters;
  for (int i = 0; i < count; ++i) {
    const Pick pick = lanes.choose(quick);
    letters += "-ctrOqQF"[static_cast<std::uint8_t>(pick)];
    if (pick == Pick::none) {
      lanes.parked();
    } else if (pick == Pick::quick || pick == Pick::oldest_quick) {
      lanes.ran_quick();
    } else {
      (void)lanes.take(pick);
    }
    lanes.verify();
  }
  return letters;
}

std::vector<std::uint64_t> all_of(LocalLanes& lanes) {
  std::vector<std::uint64_t> order;
  while (!lanes.empty()) order.push_back(lanes.take(lanes.choose(false)).creation);
  return order;
}

TEST(Lanes, SCH_1_cancel_goes_before_timed_and_timed_before_ready) {
  LaneTasks tasks;
  LocalLanes lanes;
  lanes.push(tasks.ready(200));
  lanes.push(tasks.timed(1));
  lanes.push(tasks.cancelled());
  EXPECT_EQ(picks_of(lanes, 5, true), "ctrqq");
}

TEST(Lanes, SCH_1_SCH_5_the_short_way_takes_what_the_long_one_takes) {
  for (const Suggestion suggestion : {Suggestion::none, Suggestion::drain_regions}) {
    LaneTasks tasks;
    LaneTasks twins;
    LocalLanes brief;
    LocalLanes full;
    brief.follow(suggestion);
    full.follow(suggestion);
    for (std::uint64_t i = 0; i < 200; ++i) {
      const bool timed = i % 50 == 49;
      const auto priority = static_cast<std::uint8_t>(i % 3);
      brief.push(timed ? tasks.timed(i) : tasks.cancelled(priority));
      full.push(timed ? twins.timed(i) : twins.cancelled(priority));
    }
    int taken_briefly = 0;
    for (int i = 0; !full.empty(); ++i) {
      const bool quick = i % 40 < 3;
      const Pick pick = full.choose(quick);
      const LaneTask* const task = brief.take_if_all_cancelled(quick);
      if (task != nullptr) {
        ++taken_briefly;
        ASSERT_EQ(pick, Pick::cancel) << i;
        ASSERT_EQ(full.take(pick).creation, task->creation) << i;
      } else {
        ASSERT_EQ(brief.choose(quick), pick) << i;
        if (pick == Pick::quick || pick == Pick::oldest_quick) {
          brief.ran_quick();
          full.ran_quick();
        } else {
          ASSERT_EQ(full.take(pick).creation, brief.take(pick).creation) << i;
        }
      }
      ASSERT_EQ(brief.certificate().hash(), full.certificate().hash()) << i;
      brief.verify();
    }
    EXPECT_TRUE(brief.empty());
    EXPECT_EQ(brief.take_if_all_cancelled(false), nullptr);
    EXPECT_GT(taken_briefly, 30);
  }
}

TEST(Lanes, SCH_3_a_look_at_the_cancel_lane_shows_who_is_next_in_it) {
  LaneTasks tasks;
  LocalLanes lanes;
  std::array<LaneTask*, 4> next{};
  EXPECT_EQ(lanes.peek_cancel(next), 0U);
  for (const int priority : {0, 200, 63, 200, 255, 64}) {
    lanes.push(tasks.cancelled(static_cast<std::uint8_t>(priority)));
  }
  lanes.push(tasks.timed(1));
  ASSERT_EQ(lanes.peek_cancel(next), next.size());
  for (LaneTask* const expected : next) EXPECT_EQ(&lanes.take(lanes.choose(false)), expected);
  ASSERT_EQ(lanes.peek_cancel(next), 2U);
  EXPECT_EQ(next[0]->priority(), 63);
  EXPECT_EQ(next[1]->priority(), 0);
  EXPECT_EQ(lanes.size(), 3U);  // it only looked
}

TEST(Lanes, SCH_6_what_is_given_away_was_not_dispatched_and_the_lanes_go_on_without_it) {
  LaneTasks tasks;
  LocalLanes lanes;
  lanes.push(tasks.ready(200));
  lanes.push(tasks.timed(1));
  lanes.push(tasks.cancelled());
  lanes.push(tasks.ready(1));
  std::vector<LaneTask*> given;
  lanes.give_away([&given](LaneTask& task) { given.push_back(&task); });
  EXPECT_EQ(given.size(), 4U);
  EXPECT_TRUE(lanes.empty());
  EXPECT_EQ(lanes.certificate().dispatches(), 0U);
  lanes.verify();
  for (LaneTask* const task : given) lanes.push(*task);
  EXPECT_EQ(picks_of(lanes, 5, false), "ctrr-");
}

TEST(Lanes, SCH_6_what_is_in_common_runs_where_it_comes_first) {
  LaneTasks tasks;
  LocalLanes lanes;
  LocalLanes::Queues common;
  lanes.push(tasks.ready(3));            // 1
  (void)common.push(tasks.ready(9));     // 2
  (void)common.push(tasks.ready(3));     // 3: its own go first
  (void)common.push(tasks.timed(7));     // 4
  lanes.push(tasks.timed(8));            // 5
  (void)common.push(tasks.cancelled());  // 6
  lanes.push(tasks.cancelled(1));        // 7
  lanes.share(&common);
  std::vector<std::uint64_t> order;
  for (Pick pick = lanes.choose(false); pick != Pick::none; pick = lanes.choose(false)) {
    order.push_back(lanes.take(pick).creation);
    lanes.verify();
  }
  EXPECT_EQ(order, (std::vector<std::uint64_t>{7, 6, 4, 5, 2, 1, 3}));
  EXPECT_TRUE(common.empty());
  EXPECT_EQ(lanes.certificate().dispatches(), 7U);
}

TEST(Lanes, SCH_4_what_is_in_common_is_not_passed_over_for_ever) {
  LaneTasks tasks;
  LocalLanes lanes;
  LocalLanes::Queues common;
  LaneTask& low = tasks.ready(1);
  (void)common.push(low);
  int passed = 0;
  for (;; ++passed) {
    lanes.push(tasks.ready(9));
    lanes.share(&common);
    const LaneTask& task = lanes.take(lanes.choose(false));
    lanes.share(nullptr);
    if (&task == &low) break;
    ASSERT_LE(passed, 64);
  }
  EXPECT_EQ(passed, 64);
  // The next one that comes there has its own count, however long there was none.
  for (int i = 0; i < 200; ++i) {
    lanes.push(tasks.ready(9));
    (void)lanes.take(lanes.choose(false));
  }
  (void)common.push(low);
  lanes.push(tasks.ready(9));
  lanes.share(&common);
  EXPECT_NE(&lanes.take(lanes.choose(false)), &low);
}

TEST(Lanes, SCH_1_a_task_under_cancellation_has_the_first_lane_whatever_its_deadline) {
  LaneTasks tasks;
  for (const TaskState state : task_states) {
    LaneTask& task = tasks.make(state, Time::at_ns(5), 7);
    const bool cancelled =
        state == TaskState::cancel_requested || state == TaskState::cancelling || state == TaskState::finalizing;
    EXPECT_EQ(lane_of(task), cancelled ? Lane::cancel : Lane::timed) << to_string(state);
    EXPECT_FALSE(is_plain(task));
    EXPECT_EQ(lane_of(tasks.make(state, Deadline::none(), 7)), cancelled ? Lane::cancel : Lane::ready);
    EXPECT_EQ(is_plain(tasks.make(state, Deadline::none(), 0)), !cancelled) << to_string(state);
  }
  EXPECT_FALSE(is_plain(tasks.ready(1)));
}

TEST(Lanes, SCH_1_within_a_lane_priority_then_first_come) {
  LaneTasks tasks;
  LocalLanes lanes;
  for (const int priority : {1, 255, 64, 255, 63, 1, 128}) lanes.push(tasks.ready(static_cast<std::uint8_t>(priority)));
  EXPECT_EQ(all_of(lanes), (std::vector<std::uint64_t>{2, 4, 7, 3, 5, 1, 6}));
  LaneTasks others;
  for (const int priority : {0, 255, 64, 255, 63, 0, 128}) {
    lanes.push(others.cancelled(static_cast<std::uint8_t>(priority)));
  }
  EXPECT_EQ(all_of(lanes), (std::vector<std::uint64_t>{2, 4, 7, 3, 5, 1, 6}));
}

TEST(Lanes, SCH_1_the_earliest_deadline_first_and_ties_in_the_order_of_arrival) {
  LaneTasks tasks;
  LocalLanes lanes;
  EXPECT_TRUE(lanes.next_deadline().is_none());
  for (const std::uint64_t deadline : {30U, 10U, 20U, 10U, 30U, 10U}) lanes.push(tasks.timed(deadline));
  EXPECT_EQ(lanes.next_deadline(), Deadline(Time::at_ns(10)));
  EXPECT_EQ(all_of(lanes), (std::vector<std::uint64_t>{2, 4, 6, 3, 1, 5}));
}

TEST(Lanes, SCH_7_of_equals_any_may_be_taken_and_the_others_keep_their_order) {
  LaneTasks tasks;
  LocalLanes lanes;
  for (const int priority : {1, 9, 9, 1, 9, 9}) lanes.push(tasks.ready(static_cast<std::uint8_t>(priority)));
  for (const std::uint64_t deadline : {30U, 10U, 10U}) lanes.push(tasks.timed(deadline));
  for (int i = 0; i < 3; ++i) lanes.push(tasks.cancelled(7));
  const auto take = [&lanes](std::size_t equals, std::size_t nth) {
    const Pick pick = lanes.choose(false);
    EXPECT_EQ(lanes.equals(pick), equals);
    const std::uint64_t taken = lanes.take_equal(pick, nth).creation;
    lanes.verify();
    return taken;
  };
  EXPECT_EQ(take(3, 2), 12U) << "the last of the cancel lane";
  EXPECT_EQ(take(2, 1), 11U);
  lanes.push(tasks.cancelled(7));
  EXPECT_EQ(take(2, 1), 13U) << "it stands behind who was left";
  EXPECT_EQ(take(1, 0), 10U);
  EXPECT_EQ(take(2, 1), 9U) << "the second of the same deadline";
  EXPECT_EQ(take(1, 0), 8U);
  EXPECT_EQ(take(1, 0), 7U);
  EXPECT_EQ(take(4, 2), 5U);
  lanes.push(tasks.ready(9));
  EXPECT_EQ(take(4, 3), 14U);
  EXPECT_EQ(take(3, 1), 3U);
  EXPECT_EQ(all_of(lanes), (std::vector<std::uint64_t>{2, 6, 1, 4}));
}

TEST(SeededTies, SCH_7_a_seed_chooses_among_equals_and_never_past_a_better_key) {
  std::set<std::vector<std::uint64_t>> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto run = [](std::uint64_t its_seed) {
      LaneTasks tasks;
      LocalLanes lanes;
      SeededTies ties(its_seed);
      struct Waiting {
        Lane lane;
        std::uint64_t rank;
        std::uint64_t creation;
      };
      std::vector<Waiting> waiting;
      std::vector<std::uint64_t> order;
      const auto push = [&](LaneTask& task, std::uint64_t rank) {
        waiting.push_back({lane_of(task), rank, task.creation});
        lanes.push(task);
      };
      // Fewer than age: the key alone decides.
      for (std::uint64_t i = 0; order.size() != 45; ++i) {
        if (i < 15) {
          const auto priority = static_cast<std::uint8_t>(1 + i % 2);
          push(tasks.cancelled(priority), rank_of(priority));
          push(tasks.timed(1 + i % 3), 1 + i % 3);
          push(tasks.ready(priority), rank_of(priority));
        }
        if (i % 3 == 0 && i < 15) continue;
        const std::uint64_t taken = ties.take(lanes, lanes.choose(false)).creation;
        lanes.verify();
        const auto it =
            std::find_if(waiting.begin(), waiting.end(), [taken](const Waiting& one) { return one.creation == taken; });
        if (it == waiting.end()) {
          ADD_FAILURE() << taken << " was taken twice";
          break;
        }
        for (const Waiting& other : waiting) {
          EXPECT_LE(std::tuple(it->lane, it->rank), std::tuple(other.lane, other.rank)) << "past a better key";
        }
        waiting.erase(it);
        order.push_back(taken);
      }
      return order;
    };
    const std::vector<std::uint64_t> order = run(seed);
    EXPECT_EQ(run(seed), order) << "the same seed";
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 20U) << "other seeds";
}

TEST(Lanes, SCH_1_a_queue_that_is_filled_and_emptied_for_long_keeps_its_order_and_its_size) {
  struct ByPriority {
    static std::uint64_t of(const LaneTask& task) noexcept { return rank_of(task.priority()); }
  };
  LaneTasks tasks;
  Ranked<LaneTask, ByPriority> queue;
  for (int i = 0; i < 40; ++i) queue.push(tasks.ready(1));
  LaneTask* const urgent = &tasks.ready(9);
  LaneTask* late = &tasks.ready(1);
  for (int i = 0; i < 2000; ++i) {  // places are left in the middle, and in the heap at its end
    queue.push(*urgent);
    queue.push(*late);
    const auto taken = queue.take_best();
    ASSERT_EQ(&taken.entry, urgent);
    ASSERT_FALSE(taken.oldest);
    late = &queue.take_oldest();
    ASSERT_EQ(late->creation, i % 41 == 40 ? 42U : static_cast<std::uint64_t>(i % 41 + 1));
    ASSERT_EQ(queue.size(), 40U);
  }
  EXPECT_LE(queue.capacity(), 128U);
}

TEST(Lanes, SCH_2_the_key_orders_lane_then_rank_then_sequence_then_id) {
  const TaskId one(1, Generation(1));
  const TaskId two(2, Generation(1));
  const Key keys[] = {{Lane::cancel, 5, 9, two}, {Lane::timed, 1, 1, one}, {Lane::timed, 1, 2, one},
                      {Lane::timed, 1, 2, two},  {Lane::timed, 2, 0, one}, {Lane::ready, 0, 0, one}};
  for (std::size_t i = 0; i < std::size(keys); ++i) {
    for (std::size_t k = 0; k < std::size(keys); ++k) EXPECT_EQ(keys[i] < keys[k], i < k) << i << ' ' << k;
  }
}

TEST(Lanes, SCH_3_deadlines_go_before_cancel_work_only_when_that_is_suggested_and_only_sixteen_times) {
  LaneTasks tasks;
  LocalLanes lanes;
  for (int i = 0; i < 40; ++i) {
    lanes.push(tasks.timed(1));
    lanes.push(tasks.cancelled());
  }
  EXPECT_EQ(picks_of(lanes, 3, false), "ccc");
  lanes.follow(Suggestion::meet_deadlines);
  EXPECT_EQ(picks_of(lanes, 35, false), std::string(16, 't') + 'c' + std::string(16, 't') + 'c' + 't');
  lanes.follow(Suggestion::none);
  EXPECT_EQ(picks_of(lanes, 1, false), "c");
}

TEST(Lanes, SCH_4_sixteen_cancel_dispatches_in_a_row_then_other_work) {
  const std::string streak(16, 'c');
  for (const char other : {'t', 'r', 'q'}) {
    LaneTasks tasks;
    LocalLanes lanes;
    for (int i = 0; i < 50; ++i) lanes.push(tasks.cancelled());
    if (other == 't') lanes.push(tasks.timed(1));
    if (other == 'r') lanes.push(tasks.ready(9));
    EXPECT_EQ(picks_of(lanes, 17, other == 'q'), streak + other);
  }
}

TEST(Lanes, SCH_4_draining_doubles_the_limit_and_nothing_else) {
  for (const Suggestion draining : {Suggestion::drain_obligations, Suggestion::drain_regions}) {
    LaneTasks tasks;
    LocalLanes lanes;
    lanes.follow(draining);
    for (int i = 0; i < 70; ++i) lanes.push(tasks.cancelled());
    EXPECT_EQ(picks_of(lanes, 34, true), std::string(32, 'c') + "qc");
    EXPECT_EQ(lanes.certificate().base_exceedances, 16U);
    EXPECT_EQ(lanes.certificate().effective_exceedances, 0U);
    EXPECT_EQ(lanes.certificate().largest_limit, 32U);
    lanes.follow(Suggestion::none);
    EXPECT_EQ(picks_of(lanes, 17, true), std::string(15, 'c') + "qc") << "the streak had begun";
    EXPECT_EQ(lanes.certificate().largest_limit, 32U);
  }
}

TEST(Lanes, SCH_4_a_limit_that_shrinks_in_a_streak_ends_it) {
  LaneTasks tasks;
  LocalLanes lanes;
  lanes.follow(Suggestion::drain_regions);
  for (int i = 0; i < 70; ++i) lanes.push(tasks.cancelled());
  EXPECT_EQ(picks_of(lanes, 20, true), std::string(20, 'c'));
  lanes.follow(Suggestion::none);
  EXPECT_EQ(picks_of(lanes, 2, true), "qc");
}

TEST(Lanes, SCH_4_with_nothing_else_anywhere_cancel_work_goes_on_as_the_fallback) {
  LaneTasks tasks;
  LocalLanes lanes;
  for (int i = 0; i < 40; ++i) lanes.push(tasks.cancelled());
  EXPECT_EQ(picks_of(lanes, 20, false), std::string(16, 'c') + "Fccc");
  EXPECT_EQ(lanes.certificate().fallback_cancel, 1U);
  EXPECT_EQ(picks_of(lanes, 13, true), std::string(12, 'c') + 'q') << "the fallback begins a streak";
}

TEST(Lanes, SCH_4_what_was_found_elsewhere_ends_the_streak) {
  LaneTasks tasks;
  LocalLanes lanes;
  for (int i = 0; i < 40; ++i) lanes.push(tasks.cancelled());
  EXPECT_EQ(picks_of(lanes, 16, false), std::string(16, 'c'));
  ASSERT_EQ(lanes.choose(false), Pick::elsewhere);
  lanes.ran_newer();
  EXPECT_EQ(picks_of(lanes, 17, false), std::string(16, 'c') + 'F');
  EXPECT_EQ(lanes.certificate().ready, 1U);
}

TEST(Lanes, SCH_4_a_park_ends_the_streak) {
  for (const bool parks : {false, true}) {
    LaneTasks tasks;
    LocalLanes lanes;
    for (int i = 0; i < 10; ++i) lanes.push(tasks.cancelled());
    EXPECT_EQ(picks_of(lanes, 10, true), std::string(10, 'c'));
    if (parks) lanes.parked();
    for (int i = 0; i < 20; ++i) lanes.push(tasks.cancelled());
    EXPECT_EQ(picks_of(lanes, 7, true), parks ? "ccccccc" : "ccccccq");
  }
}

TEST(Lanes, SCH_4_quick_work_ends_the_streak_while_the_lanes_are_empty_too) {
  LaneTasks tasks;
  LocalLanes lanes;
  for (int i = 0; i < 10; ++i) lanes.push(tasks.cancelled());
  EXPECT_EQ(picks_of(lanes, 11, true), std::string(10, 'c') + 'q');
  for (int i = 0; i < 20; ++i) lanes.push(tasks.cancelled());
  EXPECT_EQ(picks_of(lanes, 17, true), std::string(16, 'c') + 'q');
}

TEST(Lanes, SCH_4_the_oldest_ready_entry_runs_after_sixty_four_that_passed_it_over) {
  LaneTasks tasks;
  LocalLanes lanes;
  LaneTask& low = tasks.ready(1);
  lanes.push(low);
  for (int i = 0; i < 200; ++i) lanes.push(tasks.ready(9));
  EXPECT_EQ(picks_of(lanes, 64, false), std::string(64, 'r'));
  ASSERT_EQ(lanes.choose(false), Pick::oldest_ready);
  EXPECT_EQ(&lanes.take(Pick::oldest_ready), &low);
  EXPECT_EQ(picks_of(lanes, 1, false), "r");
}

TEST(Lanes, SCH_4_the_oldest_of_the_quick_queue_counts_as_ready_work_of_priority_zero) {
  LaneTasks tasks;
  LocalLanes lanes;
  for (int i = 0; i < 200; ++i) lanes.push(tasks.timed(5));
  EXPECT_EQ(picks_of(lanes, 65, true), std::string(64, 't') + 'Q');
  EXPECT_EQ(picks_of(lanes, 64, true), std::string(63, 't') + 'Q') << "the next was passed over by the one before it";
  EXPECT_EQ(picks_of(lanes, 10, false), std::string(10, 't'));
  EXPECT_EQ(picks_of(lanes, 62, true), std::string(62, 't')) << "the queue was empty: it counts from when it is not";
}

TEST(Lanes, SCH_4_when_both_oldest_are_due_one_is_a_dispatch_late_and_stays_only_that) {
  LaneTasks tasks;
  LocalLanes lanes;
  for (int i = 0; i < 10; ++i) lanes.push(tasks.ready(1));
  for (int i = 0; i < 400; ++i) lanes.push(tasks.timed(5));
  std::vector<std::size_t> at;
  const std::string letters = picks_of(lanes, 64 * 5 + 2, true);
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (letters[i] == 'Q') at.push_back(i + 1);
  }
  EXPECT_EQ(at, (std::vector<std::size_t>{66, 130, 194, 258, 322})) << letters;
}

TEST(Lanes, SCH_4_younger_quick_work_passes_the_oldest_over) {
  LaneTasks tasks;
  LocalLanes lanes;
  lanes.push(tasks.cancelled());
  EXPECT_EQ(picks_of(lanes, 1, true), "c");
  for (int i = 0; i < 5; ++i) lanes.push(tasks.ready(1));
  for (int i = 0; i < 63; ++i) {
    ASSERT_EQ(lanes.choose(true), Pick::ready) << i;
    lanes.ran_newer();
  }
  EXPECT_EQ(lanes.choose(true), Pick::oldest_quick);
}

TEST(Certificate, SCH_5_the_hash_is_fnv_1a_over_seven_numbers_least_byte_first) {
  EXPECT_EQ(Fnv1a().add_byte('f').add_byte('o').add_byte('o').add_byte('b').add_byte('a').add_byte('r').hash(),
            0x85944171F73967E8);
  const Certificate certificate{1, 2, 3, 4, 5, 6, 0x0807060504030201};
  Fnv1a bytes;
  for (std::uint8_t number = 1; number <= 6; ++number) {
    bytes.add_byte(number);
    for (int i = 0; i < 7; ++i) bytes.add_byte(0);
  }
  for (std::uint8_t byte = 1; byte <= 8; ++byte) bytes.add_byte(byte);
  EXPECT_EQ(certificate.hash(), bytes.hash());
  EXPECT_EQ(Certificate().hash(), 0x8AC123D6F7DCE585) << "seven zeros";
}

TEST(Certificate, SCH_5_counts_what_was_dispatched_and_shows_an_unfair_worker) {
  LaneTasks tasks;
  LocalLanes lanes;
  for (int i = 0; i < 20; ++i) lanes.push(tasks.cancelled());
  lanes.push(tasks.timed(1));
  lanes.push(tasks.ready(1));
  EXPECT_EQ(picks_of(lanes, 23, true), std::string(16, 'c') + "tccccrq");
  EXPECT_EQ(lanes.certificate(), (Certificate{20, 1, 2, 0, 0, 0, 16}));
  for (int i = 0; i < 20; ++i) lanes.push(tasks.cancelled());
  for (int i = 0; i < 20; ++i) (void)lanes.take(Pick::cancel);  // a worker that does not ask
  EXPECT_EQ(lanes.certificate(), (Certificate{40, 1, 2, 0, 4, 4, 16}));
}

TEST(VictimOrder, SCH_7_every_round_names_each_other_worker_once_in_a_circle) {
  for (const std::uint16_t workers : std::initializer_list<std::uint16_t>{1, 2, 3, 8}) {
    for (std::uint16_t self = 0; self < workers; ++self) {
      VictimOrder order(99, self, workers);
      EXPECT_EQ(order.next(), std::nullopt) << "no round has begun";
      for (int round = 0; round < 20; ++round) {
        order.restart();
        std::vector<std::uint16_t> named;
        while (const auto victim = order.next()) named.push_back(*victim);
        ASSERT_EQ(named.size(), workers - 1U);
        for (std::size_t i = 0; i < named.size(); ++i) {
          EXPECT_NE(named[i], self);
          std::uint16_t next = static_cast<std::uint16_t>((named[i] + 1) % workers);
          if (next == self) next = static_cast<std::uint16_t>((next + 1) % workers);
          EXPECT_EQ(named[(i + 1) % named.size()], next);
        }
      }
    }
  }
}

TEST(VictimOrder, SCH_7_the_first_victims_come_from_the_seed_of_the_worker) {
  const auto starts = [](std::uint64_t seed, std::uint16_t worker) {
    std::vector<std::uint16_t> first;
    VictimOrder order(seed, worker, 8);
    for (int i = 0; i < 30; ++i) {
      order.restart();
      first.push_back(order.next().value_or(8));
    }
    return first;
  };
  EXPECT_EQ(starts(5, 2), starts(5, 2));
  EXPECT_NE(starts(5, 2), starts(6, 2));
  SplitMix numbers(5 ^ 2 * 0x9E3779B97F4A7C15U);
  for (const std::uint16_t victim : starts(5, 2)) {
    const std::uint64_t other = numbers.below(7);
    EXPECT_EQ(victim, other < 2 ? other : other + 1);
  }
}

}  // namespace
}  // namespace calm::sched
