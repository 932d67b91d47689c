#include "calm/lockfree/local_atomics.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "calm/lockfree/lock.hpp"
#include "calm/lockfree/take_all_stack.hpp"

namespace calm::lockfree {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

struct WithoutWait : RealAtomics {
 private:
  using RealAtomics::wait;
};
struct WithoutShared : RealAtomics {
 private:
  using RealAtomics::shared;
};
struct WaitThatThrows : RealAtomics {
  template <class Word, class T>
  static void wait(const Word& /*word*/, T /*old*/) {}
};

TEST(LocalAtomics, a_policy_says_how_to_wait_and_whether_words_are_shared) {
  EXPECT_TRUE(AtomicsPolicy<LocalAtomics>);
  EXPECT_FALSE(AtomicsPolicy<WithoutWait>);
  EXPECT_FALSE(AtomicsPolicy<WithoutShared>);
  EXPECT_FALSE(AtomicsPolicy<WaitThatThrows>);
  EXPECT_TRUE(RealAtomics::shared);
  EXPECT_FALSE(LocalAtomics::shared);
}

TEST(LocalAtomics, a_word_reads_what_was_written) {
  LocalAtomics::Atomic<void*> word{nullptr};
  int target = 0;
  word.store(&target, relaxed);
  EXPECT_EQ(word.load(relaxed), &target);
  EXPECT_EQ(word.exchange(nullptr, relaxed), &target);
  EXPECT_EQ(word.load(relaxed), nullptr);
}

TEST(LocalAtomics, a_compare_exchange_writes_or_tells_the_value) {
  LocalAtomics::Atomic<std::uint32_t> word{3};
  std::uint32_t expected = 4;
  EXPECT_FALSE(word.compare_exchange_strong(expected, 9, relaxed, relaxed));
  EXPECT_EQ(expected, 3U);
  EXPECT_TRUE(word.compare_exchange_weak(expected, 9, relaxed, relaxed));
  EXPECT_EQ(word.load(relaxed), 9U);
}

TEST(LocalAtomics, numbers_and_bits_change_as_those_of_real_words) {
  const auto walk = []<class Word>(Word& word) {
    std::uint64_t seen = 0;
    const auto note = [&seen](std::uint8_t was) { seen = (seen << 8U) | was; };
    note(word.fetch_add(250, relaxed));
    note(word.fetch_add(10, relaxed));
    note(word.fetch_sub(5, relaxed));
    note(word.fetch_or(0x0F, relaxed));
    note(word.fetch_and(0xF3, relaxed));
    note(word.load(relaxed));
    return seen;
  };
  LocalAtomics::Atomic<std::uint8_t> local{0};
  RealAtomics::Atomic<std::uint8_t> real{0};
  EXPECT_EQ(walk(local), walk(real));
}

TEST(LocalAtomics, signed_numbers_go_round) {
  LocalAtomics::Atomic<std::int64_t> word{std::numeric_limits<std::int64_t>::max()};
  EXPECT_EQ(word.fetch_add(1, relaxed), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(word.fetch_sub(1, relaxed), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(word.load(relaxed), std::numeric_limits<std::int64_t>::max());
}

TEST(LocalAtomics, words_are_constants_where_plain_values_are) {
  constexpr auto counted = [] {
    LocalAtomics::Atomic<std::uint32_t> word{40};
    word.fetch_add(2, relaxed);
    return word.load(relaxed);
  };
  static_assert(counted() == 42);
}

TEST(LocalAtomics, lock_free_types_work_on_them) {
  Lock<LocalAtomics> lock;
  lock.lock();
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
}

TEST(LocalAtomicsDeathTest, whoever_waits_waits_for_itself) {
  EXPECT_DEATH(LocalAtomics::pause(), "another_thread_can_change_the_word");
  LocalAtomics::Atomic<std::uint32_t> word{0};
  EXPECT_DEATH(LocalAtomics::wait(word, 0U), "SHD-3");
  Lock<LocalAtomics> lock;
  lock.lock();
  EXPECT_DEATH(lock.lock(), "another_thread_can_change_the_word");
}

}  // namespace
}  // namespace calm::lockfree
