// Every release and acquire that the lock-free code names as a pair is needed: without it an explored execution goes wrong.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "calm/explore/plain.hpp"
#include "calm/kernel/region_gate.hpp"
#include "calm/kernel/task_word.hpp"
#include "calm/lockfree/crew_count.hpp"
#include "calm/lockfree/lock.hpp"
#include "calm/lockfree/take_all_stack.hpp"
#include "calm/lockfree/two_owners.hpp"
#include "calm/mem/slab.hpp"
#include "tests/model/explored.hpp"
#include "tests/model/orders.hpp"
#include "tests/model/weakened.hpp"

namespace calm::explored {
namespace {

using explore::Plain;

void expect_well(const Report& report) { EXPECT_TRUE(report.ok()) << report; }
void expect_race(const Report& report) { EXPECT_NE(report.failure.find("a data race"), std::string::npos) << report; }

/// Runs `explore_with<what>()` for no weakening, and for each of `needed`, which must all be noticed.
template <Weakening... needed, class Explore>
void expect_needed(Explore explore_with) {
  expect_well(explore_with.template operator()<Weakening::none>());
  (expect_race(explore_with.template operator()<needed>()), ...);
}

template <class State>
void nothing_more(State& /*state*/) {}

// --- TakeAllStack ---

template <Weakening what>
struct Pile {
  struct Node {
    Node* next = nullptr;
    Plain<int> content{0};
  };
  lockfree::TakeAllStack<Node, &Node::next, Weakened<what>> stack;
  std::array<Node, 2> nodes;
  Plain<int> left_by_taker{0};

  template <std::size_t which>
  static void push(Pile& pile) {
    pile.nodes[which].content = 1;
    pile.stack.push(pile.nodes[which]);
  }
  static void take(Pile& pile) {
    for (Node* node = pile.stack.take_all(); node != nullptr; node = node->next) EXPECT_EQ(node->content.get(), 1);
  }
};

TEST(WeakenedOrders, LAB_8_take_all_stack_S1_a_node_is_seen_whole_by_its_taker) {
  expect_needed<Weakening::compare_release, Weakening::update_acquire>([]<Weakening what> {
    using State = Pile<what>;
    return explore<State>({State::template push<0>, State::template push<1>, State::take}, nothing_more<State>);
  });
}

TEST(WeakenedOrders, LAB_8_take_all_stack_S2_the_first_pusher_after_a_take_sees_what_the_taker_did) {
  expect_needed<Weakening::compare_acquire, Weakening::update_release>([]<Weakening what> {
    struct State : Pile<what> {
      State() { this->stack.push(this->nodes[0]); }
    };
    const Body<State> leave_and_take = [](State& pile) {
      pile.left_by_taker = 1;
      EXPECT_NE(pile.stack.take_all(), nullptr);
    };
    const Body<State> push = [](State& pile) {
      if (pile.stack.push(pile.nodes[1])) {
        EXPECT_EQ(pile.left_by_taker.get(), 1);
      }
    };
    return explore<State>({leave_and_take, push}, nothing_more<State>);
  });
}

// --- Lock ---

template <Weakening what, std::uint32_t spins>
Report count_under_a_lock() {
  struct Room {
    lockfree::Lock<Weakened<what>, spins> lock;
    Plain<int> visits{0};
  };
  const Body<Room> visit = [](Room& room) {
    room.lock.lock();
    room.visits = room.visits + 1;
    room.lock.unlock();
  };
  return explore<Room>({visit, visit}, [](Room& room) { EXPECT_EQ(room.visits.get(), 2); });
}

TEST(WeakenedOrders, LAB_8_lock_L1_who_locks_sees_what_the_last_holder_wrote) {
  expect_needed<Weakening::update_release, Weakening::compare_acquire>(
      []<Weakening what> { return count_under_a_lock<what, 1>(); });
  // Who sleeps takes the lock by an exchange.
  expect_needed<Weakening::update_release, Weakening::compare_acquire, Weakening::update_acquire>(
      []<Weakening what> { return count_under_a_lock<what, 0>(); });
}

// --- TwoOwners ---

template <Weakening what>
struct Shared {
  lockfree::TwoOwners<Weakened<what>> owners;
  std::array<Plain<int>, 2> content;
  Shared() { owners.retain(); }

  template <std::size_t which>
  static void use(Shared& shared) {
    shared.content[which] = 1;
    if (shared.owners.release()) {
      EXPECT_EQ(shared.content[0].get() + shared.content[1].get(), 2);
    }
  }
  static void ask(Shared& shared) {
    if (!shared.owners.several()) {
      EXPECT_EQ(shared.content[0].get(), 1);
    }
  }
};

TEST(WeakenedOrders, LAB_8_two_owners_S1_the_last_sees_what_the_other_did) {
  expect_needed<Weakening::load_acquire, Weakening::update_acquire, Weakening::update_release>([]<Weakening what> {
    using State = Shared<what>;
    return explore<State>({State::template use<0>, State::template use<1>}, nothing_more<State>);
  });
}

TEST(WeakenedOrders, LAB_8_two_owners_S1_who_is_told_that_it_is_the_last_sees_what_the_other_did) {
  expect_needed<Weakening::load_acquire, Weakening::update_release>([]<Weakening what> {
    using State = Shared<what>;
    return explore<State>({State::template use<0>, State::ask}, nothing_more<State>);
  });
}

// --- CrewCount ---

TEST(WeakenedOrders, LAB_8_crew_count_C1_who_finds_nobody_sees_what_they_did) {
  expect_needed<Weakening::load_any, Weakening::update_any>([]<Weakening what> {
    struct State {
      lockfree::Company<Weakened<what>> company;
      lockfree::CrewCount<Weakened<what>> crew;
      Plain<int> work{0};
      State() { crew.add(&company); }
    };
    const Body<State> leave = [](State& state) {
      state.work = 1;
      (void)state.crew.leave(&state.company);
    };
    const Body<State> linger = [](State& state) {
      if (state.crew.linger()) {
        EXPECT_EQ(state.work.get(), 1);
      }
    };
    return explore<State>({leave, linger}, nothing_more<State>);
  });
}

// --- RegionGate ---

template <Weakening what>
struct Gate {
  kernel::RegionGate<Weakened<what>> gate;
  Plain<int> list{0};
  Plain<int> reason{0};
  Gate() { gate.unlock({}); }

  static void enter(Gate& state) {
    const kernel::GateView view = state.gate.lock();
    state.list = state.list + 1;
    state.gate.unlock(view.with_task());
  }
  static void close(Gate& state) {
    const kernel::GateView view = state.gate.lock();
    state.reason = 1;
    state.gate.unlock(view.with_closed());
  }
  static void look(Gate& state) {
    if (state.gate.look().closed()) {
      EXPECT_EQ(state.reason.get(), 1);
    }
  }
};

TEST(WeakenedOrders, LAB_8_region_gate_G1_who_holds_the_bit_sees_what_the_last_holder_wrote) {
  expect_needed<Weakening::update_acquire, Weakening::store_release>([]<Weakening what> {
    using State = Gate<what>;
    return explore<State>({State::enter, State::enter}, [](State& state) { EXPECT_EQ(state.list.get(), 2); });
  });
}

TEST(WeakenedOrders, LAB_8_region_gate_G1_who_sees_it_closed_sees_what_the_closer_wrote) {
  expect_needed<Weakening::load_acquire, Weakening::store_release>([]<Weakening what> {
    using State = Gate<what>;
    return explore<State>({State::close, State::look}, nothing_more<State>);
  });
}

// --- Slab ---

template <Weakening what>
struct Desk {
  struct alignas(1024) Record {
    Record* free_link = nullptr;
    Plain<int> constructed{7};
  };
  using Slab = mem::Slab<Record, &Record::free_link, Weakened<what>>;
  Slab slab{2, 4};
  Record* lent = nullptr;
  Desk() { EXPECT_TRUE(slab.reserve()); }
};

TEST(WeakenedOrders, LAB_8_slab_D1_who_finds_a_record_finds_it_made) {
  expect_needed<Weakening::store_release, Weakening::load_acquire>([]<Weakening what> {
    using State = Desk<what>;
    const Body<State> take = [](State& desk) { EXPECT_NE(desk.slab.take(0), nullptr); };
    const Body<State> find = [](State& desk) {
      if (auto* const record = desk.slab.find(1); record != nullptr) {
        EXPECT_EQ(record->constructed.get(), 7);
      }
    };
    return explore<State>({take, find}, nothing_more<State>);
  });
}

TEST(WeakenedOrders, LAB_8_slab_S1_who_takes_a_returned_record_sees_what_was_done_to_it) {
  expect_needed<Weakening::compare_release, Weakening::update_acquire>([]<Weakening what> {
    struct State : Desk<what> {
      State() { this->lent = this->slab.take(0); }
    };
    const Body<State> give_back = [](State& desk) {
      desk.lent->constructed = 8;
      desk.slab.give_back(1, *desk.lent);
    };
    const Body<State> take = [](State& desk) {
      for (int i = 0; i < 4; ++i) {
        if (auto* const record = desk.slab.take(0); record == desk.lent) {
          EXPECT_EQ(record->constructed.get(), 8);
        }
      }
    };
    return explore<State>({give_back, take}, nothing_more<State>);
  });
}

// --- TaskWord ---

template <Weakening what, lockfree::WakeState wake_state>
struct Task {
  static constexpr std::uint32_t generation = 7;
  kernel::TaskWord<Weakened<what>> word;
  Plain<int> signal{0};
  Plain<int> frame{0};
  Plain<int> result{0};
  Task() { word.renew(kernel::TaskLife(generation, TaskState::running, wake_state).with(kernel::TaskFlag::handle)); }
  bool begin_poll() {
    kernel::TaskLife now;
    return word.begin_poll(generation, now, [] { return true; });
  }
};

template <Weakening what>
using Polled = Task<what, lockfree::WakeState::running>;

TEST(WeakenedOrders, LAB_8_task_word_T1_a_poll_sees_what_was_done_before_the_wake) {
  expect_needed<Weakening::update_release, Weakening::compare_acquire>([]<Weakening what> {
    using State = Polled<what>;
    const Body<State> signal_and_wake = [](State& task) {
      task.signal = 1;
      (void)task.word.wake();
    };
    const Body<State> end_and_poll_again = [](State& task) {
      if (!task.word.end_poll()) return;
      EXPECT_TRUE(task.begin_poll());
      EXPECT_EQ(task.signal.get(), 1);
    };
    return explore<State>({end_and_poll_again, signal_and_wake}, nothing_more<State>);
  });
}

TEST(WeakenedOrders, LAB_8_task_word_T2_a_poll_sees_what_the_last_one_left) {
  expect_needed<Weakening::update_release>([]<Weakening what> {
    using State = Polled<what>;
    const Body<State> end = [](State& task) {
      task.frame = 1;
      (void)task.word.end_poll();
    };
    const Body<State> wake_and_poll = [](State& task) {
      if (!task.word.wake().enqueue) return;
      EXPECT_TRUE(task.begin_poll());
      EXPECT_EQ(task.frame.get(), 1);
    };
    return explore<State>({end, wake_and_poll}, nothing_more<State>);
  });
}

TEST(WeakenedOrders, LAB_8_task_word_T3_who_sees_the_end_sees_the_result) {
  expect_needed<Weakening::compare_release, Weakening::load_acquire>([]<Weakening what> {
    using State = Polled<what>;
    const Body<State> complete = [](State& task) {
      task.result = 1;
      kernel::TaskLife was = task.word.look();
      while (
          !task.word.step(was, was.with(TaskState::completed).with(lockfree::WakeState::done).with(OutcomeKind::ok))) {
      }
    };
    const Body<State> look = [](State& task) {
      if (task.word.look().state() == TaskState::completed) {
        EXPECT_EQ(task.result.get(), 1);
      }
    };
    return explore<State>({complete, look}, nothing_more<State>);
  });
}

}  // namespace
}  // namespace calm::explored
