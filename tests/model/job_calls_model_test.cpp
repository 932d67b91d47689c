// Jobs, and who serves them: under every interleaving none is left behind, nobody sleeps through the end, and nobody leaves in it.
#include "calm/lockfree/job_calls.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "calm/explore/plain.hpp"
#include "calm/lockfree/lock.hpp"
#include "tests/model/explored.hpp"
#include "tests/model/futex_model.hpp"
#include "tests/model/weakened.hpp"

namespace calm::explored {
namespace {

/// Jobs under a lock, as the blocking pool has them; who serves them is counted among the staff until it leaves.
template <class Atomics, class Futex = ModelFutex>
struct Workshop {
  using Calls = lockfree::JobCalls<Atomics, Futex>;
  using Rest = typename Calls::Rest;

  lockfree::Lock<Atomics, 1> lock;
  Calls calls;
  explore::Plain<int> jobs{0};   // under the lock
  explore::Plain<int> staff{0};  // under the lock, until the end is said
  explore::Plain<int> done{0};   // under the lock

  void submit() {
    lock.lock();
    jobs = jobs.get() + 1;
    calls.add();
    lock.unlock();
    calls.call_one();
  }
  bool serve_one() {
    lock.lock();
    const bool any = jobs.get() != 0;
    if (any) {
      jobs = jobs.get() - 1;
      calls.remove();
      done = done.get() + 1;
    }
    lock.unlock();
    return any;
  }
  bool leave() {
    lock.lock();
    const bool leaves = jobs.get() == 0 && !calls.is_over();
    if (leaves) staff = staff.get() - 1;
    lock.unlock();
    return leaves;
  }
  /// Until the end, or until it has been idle.
  void serve(std::uint64_t until_ns) {
    for (;;) {
      if (serve_one()) continue;
      switch (calls.rest(until_ns)) {
        case Rest::work:
          break;
        case Rest::end:
          return;
        case Rest::idle:
          if (leave()) return;
          break;
      }
    }
  }
  void say_end() {
    lock.lock();
    calls.say_end();
    lock.unlock();
    calls.call_all();
  }

  static void serve_until_the_end(Workshop& shop) { shop.serve(lockfree::never_ns); }
  static void serve_until_idle(Workshop& shop) { shop.serve(1); }
  template <int jobs>
  static void serve_jobs(Workshop& shop) {
    for (int served = 0; served < jobs;) {
      if (shop.serve_one()) {
        ++served;
      } else {
        (void)shop.calls.rest();
      }
    }
  }
  static void submit_one(Workshop& shop) { shop.submit(); }
  /// Needs: nobody is idle for long.
  static void submit_and_end(Workshop& shop) {
    shop.submit();
    while (shop.calls.waiting() != 0) Atomics::pause();
    shop.say_end();
  }
  static void end(Workshop& shop) {
    shop.say_end();
    (void)shop.staff.get();  // who is still there is joined
  }
};

template <class State>
Body<State> expect_done(int all) {
  return [all](State& shop) {
    EXPECT_EQ(shop.done.get() + shop.jobs.get(), all);
    EXPECT_EQ(shop.jobs.get(), 0) << "a job is left behind";
  };
}

TEST(JobCallsModel, IO_4_a_job_that_comes_while_all_fall_asleep_is_done_and_so_is_the_end) {
  using Shop = Workshop<ModelAtomics>;
  expect_exhausted(explore<Shop>({Shop::serve_until_the_end, Shop::submit_and_end}, expect_done<Shop>(1)));
}

TEST(JobCallsModel, IO_4_two_who_serve_both_hear_of_the_end) {
  using Shop = Workshop<ModelAtomics>;
  const Body<Shop> rest = [](Shop& shop) {
    while (shop.calls.rest() != Shop::Rest::end) {
    }
  };
  const Body<Shop> end = [](Shop& shop) { shop.say_end(); };
  expect_exhausted(explore<Shop>({rest, rest, end}, expect_done<Shop>(0)));
}

TEST(JobCallsModel, IO_4_of_two_jobs_that_come_at_once_none_is_left) {
  using Shop = Workshop<ModelAtomics>;
  expect_exhausted(explore<Shop>({Shop::serve_jobs<1>, Shop::submit_one}, expect_done<Shop>(1)));
  Options options;
  options.max_preemptions = 3;  // 42 416 executions; without a bound more than 200 000 reduced ones
  const std::vector<Body<Shop>> threads = {Shop::serve_jobs<2>, Shop::submit_one, Shop::submit_one};
  expect_exhausted(explore<Shop>(threads, expect_done<Shop>(2), options));
}

TEST(JobCallsModel, IO_4_who_leaves_because_it_was_idle_leaves_no_job_and_not_in_the_end) {
  using Shop = Workshop<ModelAtomics>;
  expect_exhausted(explore<Shop>({Shop::serve_until_idle, Shop::end}, expect_done<Shop>(0)));
  const auto in_vain_or_done = [](Shop& shop) {
    EXPECT_EQ(shop.done.get() + shop.jobs.get(), 1);
    EXPECT_TRUE(shop.jobs.get() == 0 || shop.staff.get() == -1) << "who is there does it";
  };
  expect_exhausted(explore<Shop>({Shop::serve_until_idle, Shop::submit_one}, in_vain_or_done));
}

/// The end is said without the lock.
Report end_without_the_lock() {
  using Shop = Workshop<ModelAtomics>;
  const Body<Shop> end = [](Shop& shop) {
    shop.calls.say_end();
    shop.calls.call_all();
    (void)shop.staff.get();
  };
  return explore<Shop>({Shop::serve_until_idle, end}, [](Shop&) {});
}

template <class Shop>
Report serve_and_submit() {
  return explore<Shop>({Shop::template serve_jobs<1>, Shop::submit_one}, [](Shop&) {});
}
void expect_deadlock(const Report& report) { EXPECT_NE(report.failure.find("deadlock"), std::string::npos) << report; }

TEST(JobCallsModelItself, LAB_8_finds_a_job_that_is_left_and_one_that_leaves_in_the_end) {
  EXPECT_TRUE(serve_and_submit<Workshop<Weakened<Weakening::none>>>().ok());
  expect_deadlock(serve_and_submit<Workshop<ModelAtomics, SilentFutex>>());
  expect_deadlock(serve_and_submit<Workshop<Weakened<Weakening::store_seq_cst>>>());
  expect_deadlock(serve_and_submit<Workshop<Weakened<Weakening::load_seq_cst>>>());
  EXPECT_NE(end_without_the_lock().failure.find("a data race"), std::string::npos);
}

}  // namespace
}  // namespace calm::explored
