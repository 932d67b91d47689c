// Release, acquire and relaxed: the small programs that tell memory models apart.
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "calm/explore/atomic.hpp"
#include "calm/explore/columns.hpp"
#include "calm/explore/explorer_atomics.hpp"
#include "calm/explore/mutex.hpp"
#include "calm/explore/plain.hpp"
#include "calm/explore/threads.hpp"

namespace calm::explore::weak_memory {
namespace {

constexpr std::memory_order relaxed = std::memory_order_relaxed;
constexpr std::memory_order acquire = std::memory_order_acquire;
constexpr std::memory_order release = std::memory_order_release;
constexpr std::memory_order acq_rel = std::memory_order_acq_rel;
constexpr std::memory_order seq_cst = std::memory_order_seq_cst;

constexpr Machine weak{.memory = MemoryModel::release_acquire};

struct Words {
  Atomic<int> x{0};
  Atomic<int> y{0};
  int seen[4] = {-1, -1, -1, -1};
};

/// How a load and a store are made.
struct Orders {
  std::memory_order load;
  std::memory_order store;
};
constexpr Orders all_relaxed{relaxed, relaxed};
constexpr Orders pairs{acquire, release};
constexpr Orders total{seq_cst, seq_cst};

using Bodies = std::vector<std::function<void(Words&)>>;

/// Explores the threads; what ends with `wrong` true is a failure.
Report run(const Bodies& bodies, const std::function<bool(Words&)>& wrong) {
  return explore_threads(
      [&](Threads& threads) {
        auto& words = threads.make<Words>();
        for (const auto& body : bodies) threads.run([&words, &body] { body(words); });
        threads.at_end([&] { threads.check(!wrong(words), "wrong"); });
      },
      {}, weak);
}

void expect_found(const Report& report) {
  EXPECT_GT(report.buggy, 0U);
  EXPECT_TRUE(report.exhausted);
  EXPECT_EQ(report.blocked, 0U);
}

void expect_never(const Report& report) {
  EXPECT_EQ(report.buggy, 0U) << report.failures[0].problem;
  EXPECT_TRUE(report.exhausted);
  EXPECT_EQ(report.blocked, 0U);
  EXPECT_EQ(report.fingerprints, report.executions);
}

// --- message passing ---

Report pass_a_message(Orders orders) {
  return run({[=](Words& w) {
                w.x.store(42, relaxed);
                w.y.store(1, orders.store);
              },
              [=](Words& w) {
                w.seen[0] = w.y.load(orders.load);
                w.seen[1] = w.x.load(relaxed);
              }},
             [](Words& w) { return w.seen[0] == 1 && w.seen[1] != 42; });
}

TEST(WeakMemory, LAB_8_a_message_published_relaxed_is_missed) {
  expect_found(pass_a_message(all_relaxed));
  expect_found(pass_a_message({acquire, relaxed}));
  expect_found(pass_a_message({relaxed, release}));
}

TEST(WeakMemory, LAB_8_a_message_released_and_acquired_is_there) {
  expect_never(pass_a_message(pairs));
  expect_never(pass_a_message(total));
}

TEST(WeakMemory, LAB_8_a_missed_message_is_shown_in_columns) {
  Threads program(
      [](Threads& threads) {
        auto& words = threads.make<Words>();
        threads.run(
            [&] {
              words.x.store(42, relaxed);
              words.y.store(1, relaxed);
            },
            "sender");
        threads.run(
            [&] {
              if (words.y.load(acquire) == 1) threads.check(words.x.load(relaxed) == 42, "no message");
            },
            "receiver");
      },
      weak);
  const Report report = explore_optimal(program);
  ASSERT_EQ(report.buggy, 1U);
  EXPECT_EQ(report.executions, 3U);
  EXPECT_EQ(columns(program, report.failures[0].schedule, report.failures[0].ways),
            "        sender          receiver\n"
            "  1     write x0\n"
            "  2     write x1\n"
            "  3                     read x1\n"
            "  4                     read x0 (1 store old)\n");
}

// --- store buffering ---

Report buffer_stores(Orders orders) {
  return run({[=](Words& w) {
                w.x.store(1, orders.store);
                w.seen[0] = w.y.load(orders.load);
              },
              [=](Words& w) {
                w.y.store(1, orders.store);
                w.seen[1] = w.x.load(orders.load);
              }},
             [](Words& w) { return w.seen[0] == 0 && w.seen[1] == 0; });
}

TEST(WeakMemory, LAB_8_stores_are_buffered_unless_they_are_seq_cst) {
  expect_found(buffer_stores(all_relaxed));
  expect_found(buffer_stores(pairs));
  expect_found(buffer_stores({acquire, seq_cst}));
  expect_found(buffer_stores({seq_cst, release}));
  expect_never(buffer_stores(total));
}

TEST(WeakMemory, LAB_8_read_modify_writes_do_not_wait_in_a_buffer) {
  const Report report = run({[](Words& w) {
                               w.x.exchange(1, acq_rel);
                               w.seen[0] = w.y.exchange(2, acq_rel);
                             },
                             [](Words& w) {
                               w.y.exchange(1, acq_rel);
                               w.seen[1] = w.x.exchange(2, acq_rel);
                             }},
                            [](Words& w) { return w.seen[0] == 0 && w.seen[1] == 0; });
  expect_never(report);
}

// --- independent reads of independent writes ---

Report read_independently(Orders orders) {
  return run({[=](Words& w) { w.x.store(1, orders.store); }, [=](Words& w) { w.y.store(1, orders.store); },
              [=](Words& w) {
                w.seen[0] = w.x.load(orders.load);
                w.seen[1] = w.y.load(orders.load);
              },
              [=](Words& w) {
                w.seen[2] = w.y.load(orders.load);
                w.seen[3] = w.x.load(orders.load);
              }},
             [](Words& w) { return w.seen[0] == 1 && w.seen[1] == 0 && w.seen[2] == 1 && w.seen[3] == 0; });
}

TEST(WeakMemory, LAB_8_two_readers_see_two_writes_in_different_orders_unless_loads_are_seq_cst) {
  expect_found(read_independently(all_relaxed));
  expect_found(read_independently(pairs));
  expect_never(read_independently(total));
  expect_never(read_independently({seq_cst, release}));
}

// --- coherence ---

TEST(WeakMemory, LAB_8_a_thread_never_reads_an_older_store_than_before) {
  expect_never(run({[](Words& w) {
                      w.x.store(1, relaxed);
                      w.x.store(2, relaxed);
                    },
                    [](Words& w) {
                      w.seen[0] = w.x.load(relaxed);
                      w.seen[1] = w.x.load(relaxed);
                    }},
                   [](Words& w) { return w.seen[1] < w.seen[0]; }));
  expect_never(run({[](Words& w) {
                      w.x.store(1, relaxed);
                      w.seen[0] = w.x.load(relaxed);
                    },
                    [](Words& w) { w.x.store(2, relaxed); }},
                   [](Words& w) { return w.seen[0] == 0; }));
}

TEST(WeakMemory, LAB_8_two_readers_see_the_stores_of_one_word_in_the_same_order) {
  expect_never(run({[](Words& w) { w.x.store(1, relaxed); }, [](Words& w) { w.x.store(2, relaxed); },
                    [](Words& w) {
                      w.seen[0] = w.x.load(relaxed);
                      w.seen[1] = w.x.load(relaxed);
                    },
                    [](Words& w) {
                      w.seen[2] = w.x.load(relaxed);
                      w.seen[3] = w.x.load(relaxed);
                    }},
                   [](Words& w) { return w.seen[0] == 1 && w.seen[1] == 2 && w.seen[2] == 2 && w.seen[3] == 1; }));
}

// --- what is not produced (stores.hpp says so) ---

TEST(WeakMemory, LAB_8_a_load_never_reads_a_store_that_comes_later) {
  expect_never(run({[](Words& w) {
                      w.seen[0] = w.x.load(relaxed);
                      w.y.store(1, relaxed);
                    },
                    [](Words& w) {
                      w.seen[1] = w.y.load(relaxed);
                      w.x.store(1, relaxed);
                    }},
                   [](Words& w) { return w.seen[0] == 1 && w.seen[1] == 1; }));
}

TEST(WeakMemory, LAB_8_stores_stand_in_the_order_in_which_they_are_made) {
  expect_never(run({[](Words& w) {
                      w.x.store(1, relaxed);
                      w.y.store(2, relaxed);
                    },
                    [](Words& w) {
                      w.y.store(1, relaxed);
                      w.x.store(2, relaxed);
                    }},
                   [](Words& w) { return w.x.load(relaxed) == 1 && w.y.load(relaxed) == 1; }));
}

// --- release sequences ---

Report read_through_a_third(std::memory_order middle, bool by_update) {
  return run({[](Words& w) {
                w.x.store(42, relaxed);
                w.y.store(1, release);
              },
              [=](Words& w) {
                if (by_update) {
                  w.y.fetch_add(1, middle);
                } else if (w.y.load(relaxed) == 1) {
                  w.y.store(2, middle);
                }
              },
              [](Words& w) {
                w.seen[0] = w.y.load(acquire);
                w.seen[1] = w.x.load(relaxed);
              }},
             [](Words& w) { return w.seen[0] == 2 && w.seen[1] != 42; });
}

TEST(WeakMemory, LAB_8_a_read_modify_write_carries_a_release_on_and_a_store_does_not) {
  expect_never(read_through_a_third(relaxed, true));
  expect_found(read_through_a_third(relaxed, false));
  expect_found(read_through_a_third(release, false));
}

TEST(WeakMemory, LAB_8_what_is_released_to_one_thread_reaches_a_third_through_it) {
  expect_never(run({[](Words& w) { w.x.store(1, relaxed); },
                    [](Words& w) {
                      if (w.x.load(relaxed) == 1) w.y.store(1, release);
                    },
                    [](Words& w) {
                      if (w.y.load(acquire) == 1) w.seen[0] = w.x.load(relaxed);
                    }},
                   [](Words& w) { return w.seen[0] == 0; }));
}

TEST(WeakMemory, LAB_8_a_strong_exchange_fails_by_a_value_that_is_old) {
  const auto exchange = [](std::memory_order failure) {
    return run({[](Words& w) {
                  w.x.store(1, relaxed);
                  w.y.store(1, release);
                },
                [=](Words& w) {
                  w.seen[0] = w.y.load(failure == relaxed ? relaxed : acquire);
                  int expected = 5;
                  (void)w.x.compare_exchange_strong(expected, 6, acq_rel, failure);
                  w.seen[1] = expected;
                }},
               [](Words& w) { return w.seen[0] == 1 && w.seen[1] == 0; });
  };
  expect_found(exchange(relaxed));
  expect_never(exchange(acquire));
}

// --- mutual exclusion ---

/// Peterson's algorithm for two, around an addition in two steps.
Report peterson(Orders orders) {
  return explore_threads(
      [=](Threads& threads) {
        struct Room {
          Atomic<int> wants[2]{};
          Atomic<int> turn{0};
          Atomic<int> inside{0};
        };
        auto& room = threads.make<Room>();
        for (int me = 0; me < 2; ++me) {
          threads.run([&room, &threads, orders, me] {
            room.wants[me].store(1, orders.store);
            room.turn.store(1 - me, orders.store);
            while (room.wants[1 - me].load(orders.load) == 1 && room.turn.load(orders.load) == 1 - me) {
              ExplorerAtomics::pause();
            }
            threads.check(room.inside.fetch_add(1, relaxed) == 0, "two inside");
            room.inside.fetch_sub(1, relaxed);
            room.wants[me].store(0, orders.store);
          });
        }
      },
      {}, weak);
}

TEST(WeakMemory, LAB_8_peterson_needs_seq_cst) {
  expect_found(peterson(pairs));
  expect_found(peterson(all_relaxed));
  expect_never(peterson(total));
}

Report spin_lock(std::memory_order unlock) {
  return explore_threads(
      [=](Threads& threads) {
        struct Room {
          Atomic<int> lock{0};
          Plain<int> count{0};
        };
        auto& room = threads.make<Room>();
        for (int i = 0; i < 2; ++i) {
          threads.run([&room, unlock] {
            while (room.lock.exchange(1, acquire) == 1) ExplorerAtomics::pause();
            room.count = room.count + 1;
            room.lock.store(0, unlock);
          });
        }
        threads.at_end([&] { threads.check(room.count == 2, "an addition was lost"); });
      },
      {}, weak);
}

TEST(WeakMemory, LAB_8_a_spin_lock_unlocked_relaxed_leaves_a_data_race) {
  const Report broken = spin_lock(relaxed);
  expect_found(broken);
  EXPECT_NE(broken.failures[0].problem.find("data race"), std::string::npos) << broken.failures[0].problem;
  expect_never(spin_lock(release));
}

TEST(WeakMemory, LAB_8_a_mutex_orders_what_it_guards) {
  for (const bool locks : {true, false}) {
    const Report report = explore_threads(
        [=](Threads& threads) {
          auto& mutex = threads.make<Mutex>();
          auto& x = threads.make<Atomic<int>>(0);
          auto& count = threads.make<Plain<int>>(0);
          for (int i = 0; i < 2; ++i) {
            threads.run([&mutex, &count, &x, locks] {
              if (locks) mutex.lock();
              x.fetch_add(1, relaxed);
              count = count + 1;
              if (locks) mutex.unlock();
            });
          }
        },
        {}, weak);
    if (locks) {
      expect_never(report);
    } else {
      expect_found(report);
    }
  }
}

TEST(WeakMemory, LAB_8_with_seq_cst_everywhere_it_is_as_many_executions_as_interleavings) {
  const auto program = [](Threads& threads) {
    auto& words = threads.make<Words>();
    for (int i = 0; i < 3; ++i) {
      threads.run([&words] {
        words.x.store(words.y.load() + 1);
        words.y.store(words.x.load() + 1);
      });
    }
  };
  const Report here = explore_threads(program, {}, weak);
  EXPECT_EQ(here.executions, explore_threads(program).executions);
  expect_never(here);
}

}  // namespace
}  // namespace calm::explore::weak_memory
