#include "calm/lockfree/take_all_stack.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

#include "tests/model/explored.hpp"

namespace calm::explored {
namespace {

struct Node {
  Node* next = nullptr;
  int taken = 0;
};

struct Pile {
  lockfree::TakeAllStack<Node, &Node::next, ModelAtomics> stack;
  std::array<Node, 4> nodes;
  int told_empty = 0;           // pushes that were told the stack was empty
  int chains = 0;               // takes that gave something
  std::size_t oldest_next = 0;  // for a single pusher: the node that must come next

  void push(std::size_t node) { told_empty += stack.push(nodes[node]) ? 1 : 0; }

  void take() {
    Node* const newest = stack.take_all();
    chains += newest != nullptr ? 1 : 0;
    for (Node* node = newest; node != nullptr; node = node->next) {
      ASSERT_EQ(++node->taken, 1);  // also ends the walk along a broken chain
    }
  }
};

Body<Pile> pusher_of(std::size_t first, std::size_t count = 1) {
  return [=](Pile& pile) {
    for (std::size_t i = first; i < first + count; ++i) pile.push(i);
  };
}

void take_once(Pile& pile) { pile.take(); }
void take_twice(Pile& pile) {
  pile.take();
  pile.take();
}

Body<Pile> everything_once(std::size_t count) {
  return [=](Pile& pile) {
    pile.take();
    for (std::size_t i = 0; i < pile.nodes.size(); ++i)
      EXPECT_EQ(pile.nodes[i].taken, i < count ? 1 : 0) << "node " << i;
    EXPECT_EQ(pile.told_empty, pile.chains) << "each chain has one first pusher";
    EXPECT_TRUE(pile.stack.empty());
  };
}

TEST(TakeAllStackModel, two_pushers_and_a_taker_lose_nothing_and_double_nothing) {
  const Report report =
      explore<Pile>({pusher_of(0), pusher_of(1), take_twice}, everything_once(2), {.max_spurious = 1});
  EXPECT_TRUE(report.ok()) << report;
  RecordProperty("executions", std::to_string(report.executions));
}

TEST(TakeAllStackModel, pushers_of_two_nodes_each_lose_nothing) {
  const Report report = explore<Pile>({pusher_of(0, 2), pusher_of(2, 2), take_once}, everything_once(4));
  EXPECT_TRUE(report.ok()) << report;
  RecordProperty("executions", std::to_string(report.executions));
}

TEST(TakeAllStackModel, three_pushers_and_a_taker_lose_nothing) {
  const Report report = explore<Pile>({pusher_of(0), pusher_of(1), pusher_of(2), take_once}, everything_once(3));
  EXPECT_TRUE(report.ok()) << report;
  RecordProperty("executions", std::to_string(report.executions));
}

TEST(TakeAllStackModel, two_takers_never_get_the_same_node) {
  const Report report = explore<Pile>({pusher_of(0, 2), take_twice, take_once}, everything_once(2));
  EXPECT_TRUE(report.ok()) << report;
  RecordProperty("executions", std::to_string(report.executions));
}

// The taken node comes back while another push still holds the old head: the classic ABA, harmless here.
TEST(TakeAllStackModel, a_node_pushed_again_at_once_does_no_harm) {
  const Body<Pile> take_and_push_again = [](Pile& pile) {
    Node* const newest = pile.stack.take_all();
    pile.chains += newest != nullptr ? 1 : 0;
    for (Node* node = newest; node != nullptr;) {
      Node* const older = node->next;
      pile.push(static_cast<std::size_t>(node - pile.nodes.data()));
      node = older;
    }
  };
  const Report report =
      explore<Pile>({pusher_of(0), pusher_of(1), take_and_push_again}, everything_once(2), {.max_spurious = 1});
  EXPECT_TRUE(report.ok()) << report;
  RecordProperty("executions", std::to_string(report.executions));
}

TEST(TakeAllStackModel, turned_round_a_pushers_nodes_come_in_its_order) {
  const Body<Pile> take_in_order = [](Pile& pile) {
    Node* node = decltype(pile.stack)::oldest_first(pile.stack.take_all());
    for (; node != nullptr; node = node->next) EXPECT_EQ(node, &pile.nodes[pile.oldest_next++]);
  };
  const Report report = explore<Pile>({pusher_of(0, 3),
                                       [=](Pile& pile) {
                                         take_in_order(pile);
                                         take_in_order(pile);
                                       }},
                                      [=](Pile& pile) {
                                        take_in_order(pile);
                                        EXPECT_EQ(pile.oldest_next, 3U);
                                      });
  EXPECT_TRUE(report.ok()) << report;
  RecordProperty("executions", std::to_string(report.executions));
}

}  // namespace
}  // namespace calm::explored
