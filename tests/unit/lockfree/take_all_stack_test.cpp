#include "calm/lockfree/take_all_stack.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <latch>
#include <thread>
#include <vector>

namespace calm::lockfree {
namespace {

struct Node {
  Node* next = nullptr;
  std::size_t pusher = 0;
  std::size_t number = 0;
};
using Stack = TakeAllStack<Node, &Node::next>;

TEST(TakeAllStack, an_empty_stack_gives_nothing) {
  Stack stack;
  EXPECT_TRUE(stack.empty());
  EXPECT_EQ(stack.take_all(), nullptr);
  EXPECT_EQ(Stack::oldest_first(nullptr), nullptr);
}

TEST(TakeAllStack, the_chain_is_newest_first_and_turns_round) {
  Stack stack;
  Node nodes[3];
  for (Node& node : nodes) stack.push(node);
  EXPECT_FALSE(stack.empty());

  Node* const newest = stack.take_all();
  EXPECT_TRUE(stack.empty());
  EXPECT_EQ(newest, &nodes[2]);
  EXPECT_EQ(newest->next, &nodes[1]);
  EXPECT_EQ(newest->next->next, &nodes[0]);
  EXPECT_EQ(newest->next->next->next, nullptr);

  Node* const oldest = Stack::oldest_first(newest);
  EXPECT_EQ(oldest, &nodes[0]);
  EXPECT_EQ(oldest->next, &nodes[1]);
  EXPECT_EQ(oldest->next->next, &nodes[2]);
  EXPECT_EQ(oldest->next->next->next, nullptr);
}

TEST(TakeAllStack, the_first_push_after_a_take_is_told_so) {
  Stack stack;
  Node nodes[3];
  EXPECT_TRUE(stack.push(nodes[0]));
  EXPECT_FALSE(stack.push(nodes[1]));
  static_cast<void>(stack.take_all());
  EXPECT_TRUE(stack.push(nodes[2]));
}

// number is a plain member: ThreadSanitizer sees whether the taker may read it.
TEST(TakeAllStack, every_node_arrives_once_and_in_its_pushers_order) {
  constexpr std::size_t pushers = 3;
  constexpr std::size_t each = 100'000;
  Stack stack;
  std::atomic<std::size_t> told_empty{0};
  std::vector<std::vector<Node>> nodes(pushers, std::vector<Node>(each));
  std::latch start(pushers + 1);
  std::vector<std::thread> threads;
  for (std::size_t pusher = 0; pusher < pushers; ++pusher) {
    threads.emplace_back([&, pusher] {
      start.arrive_and_wait();
      for (std::size_t i = 0; i < each; ++i) {
        nodes[pusher][i].pusher = pusher;
        nodes[pusher][i].number = i;
        if (stack.push(nodes[pusher][i])) told_empty.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }

  start.arrive_and_wait();
  std::size_t chains = 0;
  std::size_t out_of_order = 0;
  std::vector<std::size_t> next(pushers, 0);
  for (std::size_t taken = 0; taken < pushers * each;) {
    Node* node = Stack::oldest_first(stack.take_all());
    if (node == nullptr) std::this_thread::yield();
    if (node != nullptr) ++chains;
    for (; node != nullptr; node = node->next, ++taken) {
      if (next[node->pusher]++ != node->number) ++out_of_order;
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(out_of_order, 0U);
  EXPECT_EQ(next, std::vector<std::size_t>(pushers, each));
  EXPECT_EQ(told_empty.load(), chains);
  EXPECT_TRUE(stack.empty());
}

// As slabs use it: nodes go round between their owner and others who give them back.
TEST(TakeAllStack, nodes_that_come_back_are_pushed_again_without_loss) {
  constexpr std::size_t count = 64;
  constexpr std::size_t rounds = 300'000;
  Stack there;
  Stack back;
  std::vector<Node> nodes(count);
  for (Node& node : nodes) there.push(node);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!stop.load(std::memory_order_acquire)) {
        Node* node = there.take_all();
        if (node == nullptr) std::this_thread::yield();
        while (node != nullptr) {
          Node* const older = node->next;
          ++node->number;
          back.push(*node);
          node = older;
        }
      }
    });
  }
  for (std::size_t moved = 0; moved < rounds;) {
    Node* node = back.take_all();
    if (node == nullptr) std::this_thread::yield();
    while (node != nullptr) {
      Node* const older = node->next;
      there.push(*node);
      node = older;
      ++moved;
    }
  }
  stop.store(true, std::memory_order_release);
  for (std::thread& thread : threads) thread.join();

  std::size_t found = 0;
  for (Node* chain : {there.take_all(), back.take_all()}) {
    for (; chain != nullptr; chain = chain->next) ++found;
  }
  EXPECT_EQ(found, count);
}

}  // namespace
}  // namespace calm::lockfree
