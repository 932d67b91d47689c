#include "calm/mem/slab.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/model/explored.hpp"

namespace calm::explored {
namespace {

// Large: a chunk has 31 of them, and making one takes little time.
struct alignas(1024) Record {
  Record* free_link = nullptr;
  int held = 0;
  int constructed = 7;
};
using Slab = mem::Slab<Record, &Record::free_link, ModelAtomics>;
constexpr std::uint32_t first_index = 1;
constexpr std::uint32_t second_chunk = Slab::slots_per_chunk;

/// A slab of two workers and what they hold.
template <std::uint32_t records_max, std::uint32_t taken_before = 0>
struct Desk {
  Slab slab{2, records_max};
  std::array<std::vector<Record*>, 2> hands;
  std::array<int, 2> refused{};

  Desk() {
    EXPECT_TRUE(slab.reserve());
    for (std::uint32_t i = 0; i < taken_before; ++i) take(0);
  }

  Record* take(std::uint32_t worker) {
    Record* const record = slab.take(worker);
    if (record == nullptr) {
      ++refused[worker];
      return nullptr;
    }
    EXPECT_EQ(++record->held, 1) << "in two hands";
    EXPECT_EQ(record->constructed, 7);
    EXPECT_EQ(Slab::home_of(*record), worker);
    hands[worker].push_back(record);
    return record;
  }

  /// The worker gives back a record that the other one took.
  void give_back(std::uint32_t worker, Record& record) {
    --record.held;
    slab.give_back(worker, record);
  }

  /// Needs: the end. Gives: every record made is held or can be taken once more, none is lost and none is double.
  void account_for(std::set<Record*> held) {
    for (std::uint32_t worker = 0; worker < 2; ++worker) {
      while (Record* const record = slab.take(worker)) EXPECT_TRUE(held.insert(record).second) << "given out twice";
    }
    EXPECT_EQ(held.size(), records_max);
    EXPECT_EQ(slab.made(), records_max);
    std::uint32_t visited = 0;
    slab.for_each([&](Record& record) {
      ++visited;
      EXPECT_TRUE(held.contains(&record));
      EXPECT_EQ(slab.find(Slab::index_of(record)), &record);
    });
    EXPECT_EQ(visited, records_max);
  }
};

std::set<Record*> held_records(const auto& desk) {
  std::set<Record*> held;
  for (const std::vector<Record*>& hand : desk.hands) {
    for (Record* record : hand) {
      if (record->held == 1) held.insert(record);
    }
  }
  return held;
}

void expect_ok(const Report& report) {
  EXPECT_TRUE(report.ok()) << report;
  testing::Test::RecordProperty("executions", std::to_string(report.executions));
}

TEST(SlabModel, records_given_back_by_another_while_the_owner_takes_are_neither_lost_nor_doubled) {
  using State = Desk<4, 2>;
  expect_ok(explore<State>({[](State& desk) {
                              desk.take(0);
                              desk.take(0);
                            },
                            [](State& desk) {
                              Record* const first = desk.hands[0][0];
                              Record* const second = desk.hands[0][1];
                              desk.give_back(1, *first);
                              desk.give_back(1, *second);
                            }},
                           [](State& desk) {
                             EXPECT_EQ(desk.refused[0], 0);
                             desk.account_for(held_records(desk));
                           },
                           {.max_spurious = 1}));
}

TEST(SlabModel, an_owner_that_gives_back_and_takes_again_meets_a_return_from_another) {
  using State = Desk<3, 2>;
  expect_ok(explore<State>({[](State& desk) {
                              desk.give_back(0, *desk.hands[0][0]);
                              desk.take(0);
                              desk.take(0);
                            },
                            [](State& desk) {
                              Record* const second = desk.hands[0][1];
                              desk.give_back(1, *second);
                              desk.take(1);
                            }},
                           [](State& desk) { desk.account_for(held_records(desk)); }, {.max_spurious = 1}));
}

TEST(SlabModel, at_the_ceiling_a_refused_take_loses_no_return) {
  using State = Desk<2, 2>;
  expect_ok(explore<State>({[](State& desk) {
                              desk.take(0);
                              desk.take(0);
                            },
                            [](State& desk) { desk.give_back(1, *desk.hands[0][0]); },
                            [](State& desk) { desk.give_back(1, *desk.hands[0][1]); }},
                           [](State& desk) { desk.account_for(held_records(desk)); }));
}

// What is found while chunks are being made is complete: constructed, with index and home.
template <class State>
void find_and_check(State& desk, std::uint32_t index) {
  Record* const record = desk.slab.find(index);
  if (record == nullptr) return;
  EXPECT_EQ(record->constructed, 7);
  EXPECT_EQ(Slab::index_of(*record), index);
  EXPECT_LT(Slab::home_of(*record), 2U);
}

TEST(SlabModel, who_finds_while_two_grow_finds_whole_records_or_nothing) {
  using State = Desk<4>;
  expect_ok(explore<State>({[](State& desk) { desk.take(0); }, [](State& desk) { desk.take(1); },
                            [](State& desk) {
                              find_and_check(desk, second_chunk + first_index);
                              find_and_check(desk, first_index);
                            }},
                           [](State& desk) {
                             EXPECT_EQ(desk.slab.made(), 2U);
                             for (const std::uint32_t index : {first_index, second_chunk + first_index})
                               EXPECT_NE(desk.slab.find(index), nullptr);
                             EXPECT_NE(desk.hands[0], desk.hands[1]);
                           }));
}

TEST(SlabModel, a_record_told_to_another_thread_is_found_there) {
  struct State : Desk<4> {
    ModelAtomics::Atomic<std::uint32_t> told{0};
  };
  expect_ok(explore<State>({[](State& desk) {
                              const Record* const record = desk.take(0);
                              desk.told.store(Slab::index_of(*record), std::memory_order_release);
                            },
                            [](State& desk) { desk.take(1); },
                            [](State& desk) {
                              const std::uint32_t index = desk.told.load(std::memory_order_acquire);
                              EXPECT_TRUE(index == 0 || desk.slab.find(index) != nullptr);
                            }},
                           [](State& desk) { EXPECT_EQ(desk.slab.made(), 2U); }));
}

TEST(SlabModel, a_walk_while_others_grow_sees_ascending_whole_records) {
  using State = Desk<4, 1>;
  expect_ok(explore<State>({[](State& desk) { desk.take(0); }, [](State& desk) { desk.take(1); },
                            [](State& desk) {
                              std::uint32_t last = 0;
                              std::uint32_t visited = 0;
                              desk.slab.for_each([&](Record& record) {
                                ++visited;
                                EXPECT_EQ(record.constructed, 7);
                                EXPECT_GT(Slab::index_of(record), last);
                                last = Slab::index_of(record);
                              });
                              EXPECT_GE(visited, 1U) << "the one made before is always seen";
                            }},
                           [](State& desk) { EXPECT_EQ(desk.slab.made(), 3U); }));
}

TEST(SlabModel, of_two_growers_at_the_ceiling_one_is_refused_and_leaves_no_trace) {
  using State = Desk<1>;
  expect_ok(explore<State>({[](State& desk) { desk.take(0); }, [](State& desk) { desk.take(1); }},
                           [](State& desk) {
                             EXPECT_EQ(desk.refused[0] + desk.refused[1], 1);
                             EXPECT_NE(desk.slab.find(first_index), nullptr);
                             desk.account_for(held_records(desk));
                           },
                           {.max_spurious = 2}));
}

TEST(SlabModel, two_growers_below_the_ceiling_get_chunks_of_their_own) {
  using State = Desk<2>;
  expect_ok(explore<State>({[](State& desk) { desk.take(0); }, [](State& desk) { desk.take(1); }},
                           [](State& desk) {
                             EXPECT_EQ(desk.refused[0] + desk.refused[1], 0) << "there was room for both";
                             desk.account_for(held_records(desk));
                           },
                           {.max_spurious = 2}));
}

TEST(SlabModel, two_workers_that_take_until_refused_make_exactly_the_ceiling) {
  using State = Desk<3, 1>;
  const auto take_twice = [](std::uint32_t worker) {
    return [worker](State& desk) {
      desk.take(worker);
      desk.take(worker);
    };
  };
  expect_ok(explore<State>({take_twice(0), take_twice(1)}, [](State& desk) {
    EXPECT_EQ(desk.refused[0] + desk.refused[1], 2);
    desk.account_for(held_records(desk));
  }));
}

}  // namespace
}  // namespace calm::explored
