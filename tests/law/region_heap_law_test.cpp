// The memory of a region: it lives exactly until Closed, and its objects end newest first.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "calm/kernel/rref.hpp"
#include "tests/law/law_bench.hpp"

namespace calm::kernel {
namespace {

/// Does something when it ends.
class Ending {
 public:
  explicit Ending(std::function<void()> act) : act_(std::move(act)) {}
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;
  ~Ending() { act_(); }

 private:
  std::function<void()> act_;
};

struct Heap : testing::Test {
  LawBench bench;
  RegionId region = bench.region(bench.root());
  std::vector<std::string> ended;

  Ending* make(RegionId where, std::string name) {
    return make_acting(where, [this, name = std::move(name)] { ended.push_back(name); });
  }
  Ending* make_acting(RegionId where, std::function<void()> act) {
    return bench.kernel->make_in<Ending>(bench.worker, where, std::move(act)).value();
  }
};

TEST_F(Heap, REG_10_objects_live_until_closed_and_end_newest_first) {
  const TaskId task = bench.parked(region);
  const TaskId finalizer = bench.defer(region);
  make(region, "first");
  make(region, "second");
  EXPECT_TRUE(bench.close(region));
  make(region, "while draining");
  EXPECT_TRUE(bench.poll_and_end(task));
  make(region, "while finalizing");
  EXPECT_TRUE(ended.empty());
  EXPECT_TRUE(bench.kernel->check_heap(region));
  (void)bench.poll(finalizer);
  EXPECT_TRUE(bench.end(finalizer));
  EXPECT_EQ(ended, (std::vector<std::string>{"while finalizing", "while draining", "second", "first"}));
}

TEST_F(Heap, REG_10_REG_7_after_closed_the_memory_is_region_closed) {
  make(region, "x");
  EXPECT_TRUE(bench.close(region));
  expect_unchanged(bench, Errc::region_closed, [&] { return bench.kernel->make_in<int>(bench.worker, region, 1); });
  expect_unchanged(bench, Errc::region_closed, [&] { return bench.kernel->check_heap(region); });
  EXPECT_TRUE(bench.kernel->release(bench.worker, region));
  expect_unchanged(bench, Errc::region_closed, [&] { return bench.kernel->check_heap(region); });
  expect_unchanged(bench, Errc::stale_handle, [&] { return bench.kernel->make_in<int>(bench.worker, region, 1); });
}

TEST_F(Heap, REG_10_a_destructor_finds_its_region_closed_and_may_call_the_kernel) {
  const TaskId waiter = bench.parked(bench.root());
  RegionState seen{};
  Status memory;
  Made<TaskId> spawned;
  make_acting(region, [&] {
    seen = bench.state(region);
    memory = bench.kernel->check_heap(region);
    spawned = bench.kernel->spawn(bench.worker, bench.root(), {});
    EXPECT_TRUE(bench.wake(waiter));
    EXPECT_TRUE(bench.cancel(bench.region(bench.root())));
    EXPECT_FALSE(bench.kernel->make_in<int>(bench.worker, region, 1).is_ok());
  });
  EXPECT_TRUE(bench.close(region));
  EXPECT_EQ(seen, RegionState::closed);
  EXPECT_EQ(memory, Status(Errc::region_closed));
  EXPECT_TRUE(spawned);
  EXPECT_TRUE(bench.is_queued(waiter));
}

TEST_F(Heap, REG_10_objects_end_however_the_region_came_to_its_close) {
  const RegionId by_task = bench.region(bench.root());
  const RegionId by_cancelled_task = bench.region(bench.root());
  const RegionId by_body = bench.region(bench.root(), {.body = true});
  const RegionId by_promise = bench.region(bench.root());
  const RegionId by_token = bench.region(bench.root());
  const RegionId by_deadline = bench.region(bench.root());
  const TaskId task = bench.running(by_task);
  const TaskId cancelled_task = bench.running(by_cancelled_task);
  const ObligationId promise = bench.reserve(by_promise, Service::reactor);
  const ObligationId token = bench.reserve(by_token, Service::lease_keeper);
  for (const RegionId each : {by_task, by_body, by_promise, by_token, by_deadline}) make(each, to_string(each));
  make(by_cancelled_task, "cancelled");
  for (const RegionId each : {by_task, by_body, by_promise, by_token}) EXPECT_TRUE(bench.close(each));
  EXPECT_TRUE(bench.cancel(by_cancelled_task));
  EXPECT_TRUE(ended.empty());

  EXPECT_TRUE(bench.end(task));
  EXPECT_EQ(ended.back(), to_string(by_task));
  EXPECT_TRUE(bench.end(cancelled_task));
  EXPECT_EQ(ended.back(), "cancelled");
  EXPECT_TRUE(bench.kernel->end_body(bench.worker, by_body, ok()));
  EXPECT_EQ(ended.back(), to_string(by_body));
  EXPECT_TRUE(bench.kernel->commit(bench.worker, promise));
  EXPECT_EQ(ended.back(), to_string(by_promise));
  EXPECT_TRUE(bench.kernel->drop_token(bench.worker, token));
  EXPECT_EQ(ended.back(), to_string(by_token));
  EXPECT_TRUE(bench.cancel(by_deadline));
  EXPECT_EQ(ended.back(), to_string(by_deadline));
  EXPECT_EQ(ended.size(), 6U);
}

TEST_F(Heap, REG_10_what_a_child_region_made_ends_before_what_it_could_borrow_from_its_parent) {
  const RegionId child = bench.region(region);
  const RegionId grandchild = bench.region(child);
  make(region, "parent's");
  make(child, "child's");
  make(grandchild, "grandchild's");
  EXPECT_TRUE(bench.cancel(region));
  ASSERT_EQ(bench.state(region), RegionState::closed);
  EXPECT_EQ(ended, (std::vector<std::string>{"grandchild's", "child's", "parent's"}));
}

TEST_F(Heap, REG_10_objects_end_with_the_kernel_at_the_latest) {
  std::vector<int> log;
  {
    LawBench short_lived;
    const RegionId open = short_lived.region(short_lived.root());
    (void)short_lived.kernel->make_in<Ending>(short_lived.worker, open, [&log] { log.push_back(1); });
  }
  EXPECT_EQ(log, std::vector<int>{1});
}

TEST_F(Heap, REG_10_REG_8_the_limit_in_bytes_refuses_without_effect) {
  using Block = std::array<std::byte, 100>;
  const RegionId tight = bench.region(bench.root(), {.limits = {.heap_bytes = 300}});
  const auto make_block = [&] { return bench.kernel->make_in<Block>(bench.worker, tight); };
  int made = 0;
  while (made < 10 && make_block().is_ok()) ++made;
  EXPECT_EQ(made, 2) << "each needs its bytes and a few words";
  expect_unchanged(bench, Errc::admission_limit, make_block);
  EXPECT_LE(bench.view(tight).heap_bytes, 300U);
  EXPECT_TRUE(bench.kernel->make_in<int>(bench.worker, tight, 1).is_ok()) << "what fits is still given";
  EXPECT_TRUE(bench.kernel->make_in<Block>(bench.worker, region).is_ok()) << "another region has its own limit";
}

TEST_F(Heap, REG_10_objects_stand_at_their_alignment) {
  struct alignas(256) Wide {
    std::byte bytes[256];
  };
  for (int i = 0; i < 5; ++i) {
    const auto* const wide = bench.kernel->make_in<Wide>(bench.worker, region).value();
    const auto* const small = bench.kernel->make_in<char>(bench.worker, region, 'c').value();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide) % 256, 0U);
    EXPECT_EQ(*small, 'c');
  }
}

struct Throwing {
  Throwing(std::vector<std::string>& to, const std::function<void()>& before) : log(&to) {
    before();
    throw std::runtime_error("no");
  }
  ~Throwing() { log->push_back("never made"); }
  std::vector<std::string>* log;
};

TEST_F(Heap, REG_10_a_constructor_that_throws_leaves_no_object_and_the_region_closes) {
  make(region, "before");
  const auto nothing = [] {};
  EXPECT_THROW((void)bench.kernel->make_in<Throwing>(bench.worker, region, ended, nothing), std::runtime_error);
  make(region, "after");
  EXPECT_TRUE(bench.close(region));
  EXPECT_EQ(bench.state(region), RegionState::closed);
  EXPECT_EQ(ended, (std::vector<std::string>{"after", "before"}));
}

TEST_F(Heap, REG_10_a_region_is_not_closed_while_an_object_of_it_is_being_made) {
  std::vector<RegionState> seen;
  const std::function<void()> close = [&] {
    EXPECT_TRUE(bench.close(region));
    seen.push_back(bench.state(region));
    EXPECT_EQ(bench.kernel->advance(bench.worker, region), Status(Errc::incomplete_children));
  };
  EXPECT_THROW((void)bench.kernel->make_in<Throwing>(bench.worker, region, ended, close), std::runtime_error);
  EXPECT_EQ(seen, std::vector<RegionState>{RegionState::finalizing});
  EXPECT_EQ(bench.state(region), RegionState::closed);
  EXPECT_TRUE(ended.empty());
}

TEST_F(Heap, REG_10_the_memory_of_a_life_is_not_that_of_the_next) {
  make(region, "first life");
  EXPECT_TRUE(bench.close(region));
  EXPECT_TRUE(bench.kernel->release(bench.worker, region));
  const RegionId next = bench.region(bench.root());
  ASSERT_EQ(next.index(), region.index());
  EXPECT_EQ(bench.view(next).heap_bytes, 0U);
  EXPECT_TRUE(bench.kernel->check_heap(next));
  EXPECT_EQ(ended, std::vector<std::string>{"first life"});
}

TEST(HeapReference, REG_10_REG_7_a_reference_gives_its_object_until_the_region_is_closed) {
  Bench bench;
  const RegionId region = bench.region(bench.root());
  auto made = make_in<int>(*bench.kernel, bench.worker, region, 42);
  ASSERT_TRUE(made.is_ok());
  const RRef<int> number = made.value();
  EXPECT_EQ(number.region(), region);
  ASSERT_TRUE(number.get(*bench.kernel).is_ok());
  EXPECT_EQ(*number.get(*bench.kernel).value(), 42);
  ASSERT_TRUE(bench.kernel->close(bench.worker, region).is_ok());
  const auto gone = number.get(*bench.kernel);
  ASSERT_TRUE(gone.is_err());
  EXPECT_EQ(gone.error().code(), Errc::region_closed);
  EXPECT_EQ(make_in<int>(*bench.kernel, bench.worker, region, 1).error().code(), Errc::region_closed);
}

}  // namespace
}  // namespace calm::kernel
