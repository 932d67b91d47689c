// What a worker knows of the task that it polls.
#include "calm/kernel/worker.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "calm/model/id.hpp"
#include "calm/trace/ring.hpp"

namespace calm::kernel {
namespace {

constexpr TaskId numbered_task(std::uint32_t index) { return {index, Generation(1)}; }

/// One with a ring of its own.
class SoleWorker {
 public:
  Worker& operator*() noexcept { return worker_; }
  Worker* operator->() noexcept { return &worker_; }

 private:
  Worker worker_{0, trace::Ring::make({.capacity = 16}).value(), nullptr};
};

TEST(Worker, CAN_7_who_was_found_clear_is_so_in_its_polls_alone) {
  SoleWorker worker;
  EXPECT_FALSE(worker->is_clear());
  worker->set_running(numbered_task(1));
  EXPECT_FALSE(worker->is_clear());
  worker->set_clear(true);
  EXPECT_TRUE(worker->is_clear());
  const Worker::Poll outer = worker->leave_for_inner_poll();
  worker->set_running(numbered_task(2));
  EXPECT_FALSE(worker->is_clear());
  worker->return_from_inner_poll(outer);
  EXPECT_TRUE(worker->is_clear());
  worker->set_clear(false);
  EXPECT_FALSE(worker->is_clear());
}

TEST(Worker, CAN_7_nobody_is_clear_between_two_polls) {
  SoleWorker worker;
  worker->set_clear(true);
  EXPECT_FALSE(worker->is_clear());
}

TEST(Worker, LAB_2_one_that_starts_over_knows_nothing_of_tasks_before) {
  SoleWorker worker;
  worker->set_running(numbered_task(1));
  worker->set_clear(true);
  worker->start_over();
  worker->set_running(numbered_task(1));
  EXPECT_FALSE(worker->is_clear()) << "it is another one, of the same number";
}

}  // namespace
}  // namespace calm::kernel
