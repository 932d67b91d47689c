// A line that is closed, on real cores: who was let in is answered once, and nobody is let in afterwards.
#include "calm/lockfree/closable_line.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

namespace calm::lockfree {
namespace {

struct Letter {
  Letter* next = nullptr;
  int text = 0;  // plain: ThreadSanitizer sees whether it is handed over
  int answers = 0;
};
using Line = ClosableLine<Letter, &Letter::next>;

TEST(ClosableLine, REG_7_HND_3_lets_out_in_order_and_nobody_in_once_it_is_closed) {
  Line line;
  Letter letters[4];
  int rings = 0;
  const auto ring = [&rings] { ++rings; };
  EXPECT_EQ(line.take_oldest(), nullptr);
  EXPECT_EQ(line.take_all(), nullptr);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(line.push(letters[i], ring));
  EXPECT_EQ(line.take_oldest(), &letters[0]);
  EXPECT_EQ(line.take_all(), &letters[1]);
  EXPECT_EQ(letters[1].next, &letters[2]);
  EXPECT_EQ(letters[2].next, nullptr);
  ASSERT_TRUE(line.push(letters[0], ring)) << "it may come again";
  EXPECT_EQ(line.take_oldest(), &letters[0]);
  ASSERT_TRUE(line.push(letters[1], ring));
  EXPECT_EQ(line.close(), &letters[1]);
  EXPECT_FALSE(line.push(letters[3], ring));
  EXPECT_EQ(line.close(), nullptr);
  EXPECT_EQ(rings, 5);
}

TEST(ClosableLine, REG_7_in_a_crowd_everyone_who_was_let_in_is_answered_once) {
  constexpr int callers = 2;
  constexpr std::size_t letters_count = 200;
  for (int round = 0; round < 50; ++round) {
    Line line;
    std::vector<std::unique_ptr<Letter[]>> letters;
    std::vector<std::size_t> let_in(callers, 0);
    for (int i = 0; i < callers; ++i) letters.push_back(std::make_unique<Letter[]>(letters_count));
    const auto answer = [](Letter* letter) {
      while (letter != nullptr) {
        Letter* const after = letter->next;
        letter->answers += letter->text;
        letter = after;
      }
    };
    std::atomic<int> begun = 0;
    std::vector<std::thread> crowd;
    for (std::size_t me = 0; me < callers; ++me) {
      crowd.emplace_back([&, me] {
        begun.fetch_add(1);
        for (std::size_t i = 0; i < letters_count; ++i) {
          letters[me][i].text = 1;
          if (!line.push(letters[me][i], [] {})) return;
          ++let_in[me];
        }
      });
    }
    while (begun.load() != callers) std::this_thread::yield();
    for (int i = 0; i < round; ++i) answer(line.take_all());
    answer(line.close());
    for (std::thread& thread : crowd) thread.join();
    for (std::size_t me = 0; me < callers; ++me) {
      for (std::size_t i = 0; i < letters_count; ++i) ASSERT_EQ(letters[me][i].answers, i < let_in[me] ? 1 : 0);
    }
  }
}

}  // namespace
}  // namespace calm::lockfree
