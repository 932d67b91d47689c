// What workers have in common, under every interleaving: each task is taken once, the first first, and who has offered some does not
// rest while one is left.
#include "calm/sched/commons.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/model/explored.hpp"

namespace calm::explored {
namespace {

using SharedTask = kernel::TaskRecord<ModelAtomics>;
using ModelCommons = sched::Commons<ModelAtomics, 0>;

struct Offers {
  ModelCommons commons;
  SharedTask::SlabType records{1, 3};
  std::array<SharedTask*, 3> tasks{};
  std::vector<std::uint64_t> taken;  // deadlines, by who has a visit

  Offers() {
    // The later in the array the earlier its deadline.
    CALM_REQUIRE(HND_3, records.reserve());
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      tasks[i] = records.take(0);
      tasks[i]->word.renew(kernel::TaskLife(1, TaskState::running, lockfree::WakeState::queued));
      tasks[i]->terms().deadline.set(tasks.size() - i);
    }
  }
  void offer(std::size_t from, std::size_t to) {
    const ModelCommons::Visit visit(commons);
    for (std::size_t i = from; i < to; ++i) (void)visit.queues().push(*tasks[i]);
  }
  /// Gives: false when there was none.
  bool take() {
    if (commons.empty()) return false;
    const ModelCommons::Visit visit(commons);
    if (visit.queues().empty()) return false;
    taken.push_back(visit.queues().take_timed().terms().deadline.raw());
    return true;
  }
};

Body<Offers> offers_and_works(std::size_t from, std::size_t to) {
  return [=](Offers& state) {
    state.offer(from, to);
    while (state.take()) {
    }
  };
}
void helps_once(Offers& state) { (void)state.take(); }

Body<Offers> all_were_taken(std::size_t count) {
  return [=](Offers& state) {
    EXPECT_EQ(state.commons.size(), 0U);
    ASSERT_EQ(state.taken.size(), count);
    std::array<int, 4> times{};
    for (const std::uint64_t deadline : state.taken) EXPECT_EQ(++times[deadline], 1) << "task " << deadline;
  };
}

TEST(CommonsModel, SCH_6_one_offers_two_and_another_helps) {
  const Report report = explore<Offers>({offers_and_works(0, 2), helps_once}, [](Offers& state) {
    all_were_taken(2)(state);
    EXPECT_EQ(state.taken, (std::vector<std::uint64_t>{2, 3})) << "the earlier deadline first, whoever takes it";
  });
  expect_exhausted(report);
  RecordProperty("executions", std::to_string(report.executions));
}

TEST(CommonsModel, SCH_6_one_offers_one_and_two_others_help) {
  const Report report = explore<Offers>({offers_and_works(0, 1), helps_once, helps_once}, all_were_taken(1));
  expect_exhausted(report);
  RecordProperty("executions", std::to_string(report.executions));
}

TEST(CommonsModel, SCH_6_two_offer_and_nobody_rests_while_something_is_left) {
  const Report report = explore<Offers>({offers_and_works(0, 1), offers_and_works(1, 2)}, all_were_taken(2));
  expect_exhausted(report);
  RecordProperty("executions", std::to_string(report.executions));
}

}  // namespace
}  // namespace calm::explored
