// Several threads that do everything at once, by chance from fixed seeds, and the way to quiet afterwards.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "calm/kernel/kernel.hpp"
#include "calm/kernel/ownership.hpp"
#include "calm/kernel/quiescence.hpp"
#include "tests/show.hpp"
#include "tests/unit/kernel/threaded_host.hpp"

namespace calm::kernel {
namespace {

/// Ids that everybody knows and nobody is sure of: many of them are stale.
template <class Id>
class Notices {
 public:
  /// Gives: the id that makes room; the caller is the last one who knows of it.
  Id put(std::mt19937& random, Id id) { return Id::from_bits(places_[random() % places_.size()].exchange(id.bits())); }
  [[nodiscard]] Id any(std::mt19937& random) const { return Id::from_bits(places_[random() % places_.size()].load()); }

 private:
  std::array<std::atomic<std::uint64_t>, 32> places_{};
};

/// Threads that poll tasks, open and close regions, make promises and break them, until their steps are used up.
class Town {
 public:
  static constexpr std::uint16_t citizens = 3;
  static constexpr std::uint16_t clerk = citizens;         // the thread that ends it all
  static constexpr std::uint16_t observer = citizens + 1;  // the thread that looks on
  static constexpr int steps = 100'000;

  void run(unsigned seed, const std::function<void(Kernel&, Worker&)>& look_on = {});

 private:
  struct Citizen {
    Worker& worker;
    std::mt19937 random;
    std::uint64_t chance(std::uint64_t sides) { return random() % sides; }
  };

  void live(std::uint16_t index, unsigned seed);
  void act_outside(Citizen& self);
  void unwind(Worker& worker, TaskId task);
  void work_on(Citizen& self, TaskId task);
  bool act_inside(Citizen& self, TaskId task);
  void act_on_promises(Citizen& self, TaskId task);
  void ask(Citizen& self);
  void spawn(Citizen& self, RegionId region, TaskId spawner);
  void open(Citizen& self, RegionId parent, TaskId owner);
  void complete(Worker& worker, TaskId task, ChildEnd end);
  void end_everything();
  void settle_what_is_left(Worker& worker);

  ThreadedHost host_{citizens + 2};
  std::unique_ptr<Kernel> kernel_ =
      Kernel::make(
          {.workers = citizens + 2, .ceilings = {.regions = 1U << 10, .tasks = 1U << 12, .obligations = 1U << 10}},
          host_)
          .value();
  Notices<RegionId> regions_;
  Notices<TaskId> tasks_;
  Notices<ObligationId> promises_;
  std::mutex guards_mutex_;
  std::vector<TaskId> guards_given_;  // each has counted a lock guard, and whoever takes it off here settles it
  std::atomic<std::uint64_t> started_{0};
  std::atomic<std::uint64_t> ended_{0};
};

void Town::spawn(Citizen& self, RegionId region, TaskId spawner) {
  const Made<TaskId> made = kernel_->spawn(
      self.worker, region,
      {.spawner = spawner,
       .frame = reinterpret_cast<void*>(region.bits()),  // NOLINT(performance-no-int-to-ptr): never followed
       .handle = self.chance(2) == 0});
  if (!made) return;
  started_.fetch_add(1);
  const TaskId forgotten = tasks_.put(self.random, made.id);
  (void)kernel_->wake(self.worker, forgotten);
  (void)kernel_->release(self.worker, forgotten);
}

void Town::open(Citizen& self, RegionId parent, TaskId owner) {
  const Made<RegionId> made = kernel_->create_region(
      self.worker, parent,
      {.limits = {.tasks = 16},
       .policy = self.chance(2) == 0 ? FoldPolicy::fail_fast : FoldPolicy::collect,
       .cleanup_time = Duration::milliseconds(20),
       .reports_to = parent == kernel_->root() || self.chance(2) == 0 ? ReportsTo::owner : ReportsTo::parent,
       .body = self.chance(4) == 0,
       .owner = owner});
  if (!made) return;
  const RegionId forgotten = regions_.put(self.random, made.id);
  (void)kernel_->end_body(self.worker, forgotten, ok());
  (void)kernel_->cancel(self.worker, forgotten, {.kind = CancelKind::race_lost});
  (void)kernel_->release(self.worker, forgotten);
}

void Town::complete(Worker& worker, TaskId task, ChildEnd end) {
  EXPECT_TRUE(kernel_->complete(worker, task, std::move(end)));
  ended_.fetch_add(1);
}

/// What the runtime, a foreign thread or a user's handle may do at any time.
void Town::act_outside(Citizen& self) {
  Worker& worker = self.worker;
  const RegionId region = regions_.any(self.random);
  const TaskId task = tasks_.any(self.random);
  switch (self.chance(16)) {
    case 0:
    case 1:
      return open(self, self.chance(3) == 0 ? region : kernel_->root(), {});
    case 2:
    case 3:
    case 4:
      return spawn(self, region, {});
    case 5:
      return (void)kernel_->close(worker, region);
    case 6:
      return (void)kernel_->cancel(worker, region,
                                   {.kind = self.chance(2) == 0 ? CancelKind::user : CancelKind::shutdown});
    case 7:
      return (void)kernel_->request_cancel(worker, task, {.kind = CancelKind::timeout});
    case 8:
      return (void)kernel_->release(worker, task);
    case 9:
      return (void)kernel_->release(worker, region);
    case 10:
      return (void)kernel_->end_body(worker, region, ok());
    case 11:
      if (kernel_->defer(worker, region, nullptr)) started_.fetch_add(1);
      return;
    case 12:
      while (const TaskId due = host_.take_due(worker.now())) (void)kernel_->deadline_reached(worker, due);
      return;
    case 13:
      return ask(self);
    default:
      return (void)kernel_->wake(worker, task);
  }
}

void Town::ask(Citizen& self) {
  const TaskId task = tasks_.any(self.random);
  const RegionId region = regions_.any(self.random);
  (void)kernel_->state(task);
  (void)kernel_->outcome_of(task);
  (void)kernel_->budget_of(task);
  (void)kernel_->cancellation_of(self.worker, task);
  (void)kernel_->witness_of(self.worker, task);
  (void)kernel_->end_of(self.worker, region);
  (void)kernel_->reason_of(self.worker, region);
  (void)kernel_->advance(self.worker, region);
  (void)kernel_->state(self.worker, promises_.any(self.random));
}

void Town::act_on_promises(Citizen& self, TaskId task) {
  Worker& worker = self.worker;
  const ObligationId promise = promises_.any(self.random);
  switch (self.chance(7)) {
    case 0:
    case 1: {
      const bool service = self.chance(4) == 0;
      const Made<ObligationId> made =
          kernel_->reserve(worker, regions_.any(self.random),
                           {.kind = ObligationKind::ack, .holder = service ? Holder(Service::reactor, task) : task});
      if (made) (void)kernel_->drop_token(worker, promises_.put(self.random, made.id));
      return;
    }
    case 2:
      return (void)kernel_->commit(worker, promise);
    case 3:
      return (void)kernel_->abort(worker, promise);
    case 4:
      return (void)kernel_->drop_token(worker, promise);
    case 5:
      return (void)kernel_->hand_over(worker, promise, self.chance(8) == 0 ? Holder() : tasks_.any(self.random));
    default:
      break;
  }
  TaskId given;
  {
    const std::lock_guard guard(guards_mutex_);
    if (!guards_given_.empty()) {
      given = guards_given_.back();
      guards_given_.pop_back();
    }
    if (kernel_->count(worker, task, ObligationKind::lock_guard)) guards_given_.push_back(task);
  }
  if (given && given != task) (void)kernel_->uncount(worker, given, ObligationKind::lock_guard, task);
}

/// One thing that a task does in its poll. Gives: false when it waits for something now.
bool Town::act_inside(Citizen& self, TaskId task) {
  Worker& worker = self.worker;
  switch (self.chance(10)) {
    case 0:
      spawn(self, regions_.any(self.random), task);
      return true;
    case 1:
      open(self, RegionId::from_bits(reinterpret_cast<std::uintptr_t>(kernel_->find(task)->frame)), task);
      return true;
    case 2:
      return kernel_->await_end(worker, tasks_.any(self.random), task) != Errc::would_block;
    case 3:
      return kernel_->await_close(worker, regions_.any(self.random), task) != Errc::would_block;
    case 4:
      EXPECT_TRUE(kernel_->enter_mask(worker, task));
      act_on_promises(self, task);
      EXPECT_TRUE(kernel_->leave_mask(worker, task));
      return true;
    case 5:
      act_outside(self);
      return true;
    case 6:
      (void)kernel_->spend(worker, task, 1);
      return true;
    default:
      act_on_promises(self, task);
      return true;
  }
}

/// Its bodies are anybody's here: another citizen may have ended one or opened a region inside; then it is told again.
void Town::unwind(Worker& worker, TaskId task) {
  for (const RegionView& region : kernel_->snapshot(worker).regions) {
    if (region.owner == task && region.body && kernel_->unwound(worker, task, region.id)) return;
  }
  EXPECT_TRUE(kernel_->end_poll(worker, task));
}

void Town::work_on(Citizen& self, TaskId task) {
  switch (kernel_->begin_poll(self.worker, task)) {
    case PollStart::run:
      break;
    case PollStart::drop:
      return complete(self.worker, task, ok());
    case PollStart::unwind:
      return unwind(self.worker, task);
    case PollStart::later:
    case PollStart::stale:
      return;
  }
  for (std::uint64_t left = self.chance(5); left != 0 && act_inside(self, task); --left) {
  }
  const bool cancelled = !kernel_->checkpoint(self.worker, task);
  if (kernel_->find(task)->frame == nullptr)
    return complete(self.worker, task, ok());  // a finalizer: nobody would wake it
  switch (self.chance(cancelled ? 3 : 6)) {
    case 0:
      return complete(self.worker, task, ok());
    case 1:
      return complete(self.worker, task, err(Errc::io));
    default:
      EXPECT_TRUE(kernel_->end_poll(self.worker, task));
  }
}

void Town::live(std::uint16_t index, unsigned seed) {
  Citizen self{kernel_->worker(index), std::mt19937(seed * citizens + index)};
  for (int step = 0; step < steps; ++step) {
    if (step % 1'024 == 0 && testing::Test::HasFailure()) return;
    self.worker.set_time(Time::at_ns(std::uint64_t{1'000'000} * static_cast<std::uint64_t>(step)));
    self.worker.set_round(static_cast<std::uint64_t>(step));
    const TaskId task = self.chance(2) == 0 ? host_.take(index) : TaskId();
    if (task) {
      work_on(self, task);
    } else {
      act_outside(self);
    }
  }
}

void Town::settle_what_is_left(Worker& worker) {
  const Snapshot now = kernel_->snapshot(worker);
  for (const RegionView& region : now.regions) {
    if (region.body) {
      EXPECT_TRUE(kernel_->end_body(worker, region.id, ok()));
    }
  }
  for (const ObligationView& promise : now.obligations) (void)kernel_->drop_token(worker, promise.id);
  for (const TaskView& task : now.tasks) {
    if (task.state == TaskState::completed) continue;
    EXPECT_TRUE(task.cleanup || cancelled_states.has(task.state)) << "CAN-6: " << to_string(task.id);
    EXPECT_TRUE(kernel_->wake(worker, task.id)) << "what it waits for would come from a task that is gone";
  }
}

/// Cancels the root and polls until nothing is left to poll. Needs: no other thread is in the kernel.
void Town::end_everything() {
  Worker& worker = kernel_->worker(clerk);
  worker.set_time(Time::at_ns(std::uint64_t{1'000'000} * steps));
  EXPECT_TRUE(kernel_->cancel(worker, kernel_->root(), {.kind = CancelKind::shutdown}));
  constexpr int rounds_max = 1'000;
  for (int round = 0; round < rounds_max && kernel_->state(kernel_->root()) != RegionState::closed; ++round) {
    settle_what_is_left(worker);
    while (const TaskId task = host_.take(0)) {
      const PollStart start = kernel_->begin_poll(worker, task);
      if (start == PollStart::unwind) unwind(worker, task);
      if (start == PollStart::run || start == PollStart::drop) complete(worker, task, ok());
    }
  }
}

void Town::run(unsigned seed, const std::function<void(Kernel&, Worker&)>& look_on) {
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  std::barrier<> together(citizens);
  for (std::uint16_t i = 0; i < citizens; ++i) {
    threads.emplace_back([&, i] {
      together.arrive_and_wait();
      live(i, seed);
    });
  }
  std::thread observing([&] {
    while (look_on && !over.load()) look_on(*kernel_, kernel_->worker(observer));
  });
  for (std::thread& thread : threads) thread.join();
  over.store(true);
  observing.join();
  if (testing::Test::HasFailure()) return;

  for (const std::string& broken : broken_invariants(kernel_->snapshot(kernel_->worker(clerk))))
    ADD_FAILURE() << broken;
  end_everything();
  const Snapshot end = kernel_->snapshot(kernel_->worker(clerk));
  for (const std::string& broken : broken_invariants(end)) ADD_FAILURE() << broken;
  EXPECT_TRUE(quiescent(end)) << diagnose(end);
  for (const RegionView& region : end.regions) EXPECT_EQ(region.state, RegionState::closed) << to_string(region.id);
  for (const TaskView& task : end.tasks) EXPECT_EQ(task.state, TaskState::completed) << to_string(task.id);
  for (const ObligationView& promise : end.obligations) EXPECT_NE(promise.state, ObligationState::reserved);
  EXPECT_EQ(started_.load(), ended_.load()) << "every task ends once";
  testing::Test::RecordProperty("tasks_of_seed_" + std::to_string(seed), std::to_string(started_.load()));
  EXPECT_GT(started_.load(), std::uint64_t{steps} / 32) << "there was something to do";
}

TEST(KernelStress, I2_whatever_threads_do_everything_ends_once_and_the_root_closes) {
  for (unsigned seed = 1; seed <= 4; ++seed) Town().run(seed);
}

TEST(KernelStress, OBS_4_a_snapshot_beside_running_threads_adds_up) {
  Town town;
  town.run(5, [](Kernel& kernel, Worker& worker) {
    const Snapshot seen = kernel.snapshot(worker);
    (void)state_digest(seen);
    for (const std::string& broken : broken_invariants(seen)) ADD_FAILURE() << broken;
    EXPECT_TRUE(kernel.trace());
  });
}

}  // namespace
}  // namespace calm::kernel
