// Laws that hold at every moment of every program, tried on many small ones whose operations are drawn by chance.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "calm/model/region_state.hpp"
#include "tests/law/law_bench.hpp"

namespace calm::kernel {
namespace {

/// One program: whatever it draws is asked of the kernel, sensible or not.
class Program {
 public:
  explicit Program(std::uint64_t seed) : random_(seed), bench_({.trace_capacity = 1 << 14}) {
    regions_.push_back(bench_.root());
    tasks_.emplace_back();
    promises_.emplace_back();
  }

  LawBench& bench() { return bench_; }

  void step() {
    LocalKernel& kernel = *bench_.kernel;
    Worker& worker = bench_.worker;
    bench_.at(worker.now() + Duration::milliseconds(draw(300)));
    switch (draw(19)) {
      case 0:
      case 1:
        keep(regions_, kernel.create_region(worker, any(regions_), spec()).id);
        break;
      case 2:
      case 3:
      case 4:
        keep(tasks_, kernel.spawn(worker, any(regions_), {.handle = draw(2) == 0}).id);
        break;
      case 5:
        keep(tasks_, kernel.defer(worker, any(regions_), nullptr).id);
        break;
      case 6:
        keep(tasks_, kernel.spawn(worker, any(regions_), {.cleanup = true}).id);
        break;
      case 7:
        keep(promises_, kernel.reserve(worker, any(regions_), {.holder = holder()}).id);
        break;
      case 8:
        (void)(draw(2) == 0 ? kernel.commit(worker, any(promises_)) : kernel.abort(worker, any(promises_)));
        break;
      case 9:
        (void)(draw(2) == 0 ? kernel.drop_token(worker, any(promises_))
                            : kernel.hand_over(worker, any(promises_), holder()));
        break;
      case 10:
        (void)kernel.close(worker, any(regions_));
        break;
      case 11:
        (void)kernel.cancel(worker, any(regions_), {.kind = static_cast<CancelKind>(draw(cancel_kind_count))});
        break;
      case 12:
        (void)kernel.request_cancel(worker, any(tasks_), {.kind = static_cast<CancelKind>(draw(cancel_kind_count))});
        break;
      case 13:
        (void)kernel.end_body(worker, any(regions_), some_end());
        break;
      case 14:
        (void)(draw(2) == 0 ? kernel.advance(worker, any(regions_)) : kernel.release(worker, any(regions_)));
        break;
      case 15:
        (void)(draw(2) == 0 ? kernel.release(worker, any(tasks_)) : kernel.deadline_reached(worker, any(tasks_)));
        break;
      default:
        poll_next();
        break;
    }
  }

  /// Lets everything come to its end.
  void finish() {
    (void)bench_.cancel(bench_.root(), {.kind = CancelKind::shutdown});
    for (const ObligationId promise : promises_) (void)bench_.kernel->abort(bench_.worker, promise);
    for (const RegionId region : regions_) (void)bench_.kernel->end_body(bench_.worker, region, ok());
    for (const TaskId task : tasks_) (void)bench_.wake(task);  // those that were told of a cancel before
    bench_.run_all();
  }

 private:
  int draw(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }
  template <class Id>
  Id any(const std::vector<Id>& ids) {
    // Mostly young ones: the old ones are gone.
    const int young = std::min(6, static_cast<int>(ids.size()));
    return draw(5) == 0 ? ids[static_cast<std::size_t>(draw(static_cast<int>(ids.size())))]
                        : ids[ids.size() - 1 - static_cast<std::size_t>(draw(young))];
  }
  template <class Id>
  static void keep(std::vector<Id>& ids, Id id) {
    if (id) ids.push_back(id);
  }
  RegionSpec spec() {
    return {.policy = draw(2) == 0 ? FoldPolicy::fail_fast : FoldPolicy::collect, .body = draw(4) == 0};
  }
  Holder holder() {
    const int which = draw(4);
    if (which == 0) return Service::reactor;
    if (which == 1) return {};
    return any(tasks_);
  }
  ChildEnd some_end() {
    const int which = draw(6);
    if (which == 0) return err(Errc::full);
    if (which == 1) return thrown();
    return ok();
  }
  void poll_next() {
    if (bench_.host.queue.empty()) {
      (void)bench_.wake(any(tasks_));
      return;
    }
    const TaskId task = bench_.host.queue.front();
    const PollStart start = bench_.poll(task);
    if (start == PollStart::drop) (void)bench_.end(task);
    if (start != PollStart::run) return;
    const int which = draw(5);
    if (which == 0) (void)bench_.checkpoint(task);
    if (which == 1) keep(promises_, bench_.reserve(any(regions_), task));
    (void)(draw(3) == 0 ? bench_.park(task) : bench_.end(task, some_end()));
  }

  std::mt19937_64 random_;
  LawBench bench_;
  std::vector<RegionId> regions_;
  std::vector<TaskId> tasks_;
  std::vector<ObligationId> promises_;
};

constexpr std::uint64_t programs = 300;
constexpr int steps = 120;

/// Gives: the region_move events, as moves by region.
std::map<RegionId, std::vector<Move<RegionState>>> moves_of(LawBench& bench) {
  std::map<RegionId, std::vector<Move<RegionState>>> moves;
  for (const trace::Event& event : bench.events(trace::EventKind::region_move)) {
    moves[event.region].push_back(trace::region_move_in(event.argument).value());
  }
  return moves;
}

TEST(Programs, REG_1_make_the_five_legal_moves_and_none_of_the_other_twenty) {
  std::set<std::pair<RegionState, RegionState>> seen;
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    Program program(seed);
    for (int i = 0; i < steps; ++i) program.step();
    program.finish();
    for (const auto& [region, moves] : moves_of(program.bench())) {
      for (const Move<RegionState>& move : moves) seen.emplace(move.from, move.to);
    }
  }
  for (const RegionState from : region_states) {
    for (const RegionState to : region_states) {
      EXPECT_EQ(seen.contains({from, to}), check_move(from, to).is_ok()) << from << " -> " << to;
    }
  }
}

TEST(Programs, REG_9_move_every_region_forward_only_and_leave_none_stuck) {
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    Program program(seed);
    for (int i = 0; i < steps; ++i) program.step();
    program.finish();
    EXPECT_EQ(program.bench().state(program.bench().root()), RegionState::closed) << "seed " << seed;
    for (const auto& [region, moves] : moves_of(program.bench())) {
      RegionState at = RegionState::open;
      for (const Move<RegionState>& move : moves) {
        EXPECT_EQ(move.from, at) << region << " seed " << seed;
        at = move.to;
      }
      EXPECT_EQ(at, RegionState::closed) << region << " seed " << seed;
    }
  }
}

/// One rooted tree; every live task in one region of it that is not Closed; the counts are those of the records.
void expect_owned(const Snapshot& snapshot, std::uint64_t seed) {
  std::map<RegionId, std::uint64_t> tasks;
  std::map<RegionId, std::uint64_t> regions;
  std::set<TaskId> once;
  for (const TaskView& task : snapshot.tasks) {
    EXPECT_TRUE(once.insert(task.id).second) << task.id << " is in two places, seed " << seed;
    if (task.state == TaskState::completed) continue;
    const RegionView* const region = snapshot.find(task.region);
    ASSERT_NE(region, nullptr) << task.id << " has no region, seed " << seed;
    EXPECT_NE(region->state, RegionState::closed) << task.id << " in " << task.region << ", seed " << seed;
    if (!task.cleanup) ++tasks[task.region];
  }
  int roots = 0;
  for (const RegionView& region : snapshot.regions) {
    if (region.state == RegionState::closed) continue;
    const RegionView* const parent = snapshot.find(region.parent);
    roots += parent == nullptr ? 1 : 0;
    if (parent == nullptr) continue;
    ++regions[region.parent];
    EXPECT_NE(parent->state, RegionState::closed) << region.id << " lives below a Closed one, seed " << seed;
    EXPECT_NE(parent->state, RegionState::finalizing) << region.id << " outlived Draining, seed " << seed;
    EXPECT_EQ(snapshot.path_of(region.id).front(), 'r') << "a path from the root, seed " << seed;
  }
  EXPECT_LE(roots, 1) << "seed " << seed;
  for (const RegionView& region : snapshot.regions) {
    EXPECT_EQ(region.live_tasks, tasks[region.id]) << region.id << " seed " << seed;
    EXPECT_EQ(region.live_regions, regions[region.id]) << region.id << " seed " << seed;
  }
}

TEST(Programs, I1_REG_4_keep_every_live_task_in_one_region_of_one_tree_at_every_step) {
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    Program program(seed);
    for (int i = 0; i < steps; ++i) {
      program.step();
      expect_owned(program.bench().kernel->snapshot(program.bench().worker), seed);
      if (testing::Test::HasFailure()) return;
    }
  }
}

/// Reads the trace as one who knows events only: what was in a region when it moved to Closed.
void expect_quiet_closes(const std::vector<trace::Event>& events, std::uint64_t seed) {
  std::map<RegionId, std::set<std::uint64_t>> inside;  // tasks, child regions, finalizers and promises that are open
  std::map<std::uint64_t, RegionId> home;
  const auto enter = [&](std::uint64_t who, RegionId region) {
    home[who] = region;
    inside[region].insert(who);
  };
  const auto leave = [&](std::uint64_t who) { inside[home[who]].erase(who); };
  for (const trace::Event& event : events) {
    const RegionId parent = RegionId::from_bits(event.resource.bits());
    if (event.kind == trace::EventKind::spawn) {
      enter(parent == event.region ? event.task.bits() : event.region.bits(), parent);
    } else if (event.kind == trace::EventKind::finalize) {
      enter(event.task.bits(), event.region);
    } else if (event.kind == trace::EventKind::reserve) {
      enter(event.resource.bits(), event.region);
    } else if (event.kind == trace::EventKind::complete) {
      leave(event.task.bits());
    } else if (event.kind == trace::EventKind::resolve) {
      leave(event.resource.bits());
    } else if (event.kind == trace::EventKind::region_move &&
               trace::region_move_in(event.argument)->to == RegionState::closed) {
      EXPECT_TRUE(inside[event.region].empty())
          << event.region << " closed over " << inside[event.region].size() << ", seed " << seed;
      leave(event.region.bits());
    }
  }
}

TEST(Programs, I2_OBL_3_close_no_region_before_children_finalizers_and_promises_are_done) {
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    Program program(seed);
    for (int i = 0; i < steps; ++i) {
      program.step();
      for (const RegionView& region : program.bench().kernel->snapshot(program.bench().worker).regions) {
        if (region.state != RegionState::closed) continue;
        EXPECT_TRUE(region.ledger.is_zero()) << region.id << " seed " << seed;
        EXPECT_EQ(region.waiting_finalizers + region.live_cleanup, 0U) << region.id << " seed " << seed;
      }
    }
    program.finish();
    expect_quiet_closes(program.bench().events(), seed);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Programs, I2_REG_5_run_every_finalizer_exactly_once) {
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    Program program(seed);
    for (int i = 0; i < steps; ++i) program.step();
    program.finish();
    std::map<TaskId, int> started;
    for (const trace::Event& event : program.bench().events(trace::EventKind::finalize)) ++started[event.task];
    for (const auto& [task, count] : started) EXPECT_EQ(count, 1) << task << " seed " << seed;
    for (const RegionView& region : program.bench().kernel->snapshot(program.bench().worker).regions) {
      EXPECT_EQ(region.waiting_finalizers, 0U) << region.id << " seed " << seed;
    }
  }
}

}  // namespace
}  // namespace calm::kernel
