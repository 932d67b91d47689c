// What a coroutine leaves: nothing, a value or an exception, the newest one only.
#include "calm/cx/slot.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace calm::cx {
namespace {

TEST(Slot, OUT_5_is_empty_until_something_is_left) {
  const Slot<int> slot;
  EXPECT_FALSE(slot.has_value());
  EXPECT_FALSE(slot.has_exception());
}

TEST(Slot, OUT_5_gives_the_value_that_was_left) {
  Slot<std::unique_ptr<int>> slot;
  slot.emplace(std::make_unique<int>(7));
  ASSERT_TRUE(slot.has_value());
  EXPECT_FALSE(slot.has_exception());
  EXPECT_EQ(*slot.value(), 7);
}

TEST(Slot, OUT_5_an_exception_after_the_value_takes_its_place) {
  auto counted = std::make_shared<int>(1);
  Slot<std::shared_ptr<int>> slot;
  slot.emplace(counted);
  EXPECT_EQ(counted.use_count(), 2);
  slot.fail(std::make_exception_ptr(std::runtime_error("late")));
  EXPECT_EQ(counted.use_count(), 1) << "the value is gone";
  EXPECT_FALSE(slot.has_value());
  ASSERT_TRUE(slot.has_exception());
  EXPECT_THROW(std::rethrow_exception(slot.exception()), std::runtime_error);
}

TEST(Slot, OUT_5_a_value_that_cannot_be_made_leaves_nothing) {
  struct Thrower {
    explicit Thrower(int number) { throw std::runtime_error(std::to_string(number)); }
  };
  Slot<Thrower> slot;
  EXPECT_THROW(slot.emplace(1), std::runtime_error);
  EXPECT_FALSE(slot.has_value());
  EXPECT_FALSE(slot.has_exception());
}

TEST(Slot, OUT_5_ends_what_it_holds) {
  auto counted = std::make_shared<int>(1);
  {
    Slot<std::shared_ptr<int>> slot;
    slot.emplace(counted);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

}  // namespace
}  // namespace calm::cx
