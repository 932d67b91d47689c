#include "calm/mem/ref.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

namespace calm::mem {
namespace {

struct Block : RefCounted {
  explicit Block(std::atomic<int>& destroyed_count) : destroyed(destroyed_count) {}
  static void destroy(const Block* block) noexcept {
    block->destroyed.fetch_add(1);
    delete block;
  }
  std::atomic<int>& destroyed;
  int value = 0;
};

TEST(Ref, the_last_owner_destroys_once) {
  std::atomic<int> destroyed{0};
  {
    auto first = Ref<Block>::adopt(new Block(destroyed));
    EXPECT_TRUE(first->unique());
    {
      const Ref<Block> second = first;
      EXPECT_FALSE(first->unique());
      EXPECT_EQ(second.get(), first.get());
    }
    EXPECT_TRUE(first->unique());
    EXPECT_EQ(destroyed, 0);
  }
  EXPECT_EQ(destroyed, 1);
}

TEST(Ref, moving_leaves_nothing_behind) {
  std::atomic<int> destroyed{0};
  auto first = Ref<Block>::adopt(new Block(destroyed));
  Ref<Block> second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): that is the point
  EXPECT_TRUE(second->unique());
  second = Ref<Block>();
  EXPECT_EQ(destroyed, 1);
}

TEST(Ref, assigning_to_itself_keeps_the_block) {
  std::atomic<int> destroyed{0};
  auto ref = Ref<Block>::adopt(new Block(destroyed));
  const Ref<Block>& same = ref;
  ref = same;
  EXPECT_EQ(destroyed, 0);
  EXPECT_TRUE(ref->unique());
}

TEST(Ref, owners_on_many_threads_destroy_once_and_see_the_last_write) {
  std::atomic<int> destroyed{0};
  for (int round = 0; round < 200; ++round) {
    auto shared = Ref<Block>::adopt(new Block(destroyed));
    shared->value = round;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([mine = shared, round]() mutable {
        for (int copy = 0; copy < 50; ++copy) {
          const Ref<Block> another = mine;
          EXPECT_EQ(another->value, round);
        }
        mine = Ref<Block>();
      });
    }
    shared = Ref<Block>();
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(destroyed, round + 1);
  }
}

}  // namespace
}  // namespace calm::mem
