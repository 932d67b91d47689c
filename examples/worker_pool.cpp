// worker_pool.cpp — jobs that must be acknowledged: what a worker did not finish, another one gets.
#include <calm/calm.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace {

// [worker]
// A delivery is a promise: committed, the job is gone from the queue. Not committed, because it was nacked or dropped or
// because the worker was cancelled, the job is the next one to be received again. Its place was kept, so it always fits.
calm::Task<> work(calm::Cx cx, calm::channel::SharedReceiver<int> jobs, std::vector<int>* done) {
  for (;;) {
    auto delivery = co_await calm::outcome(jobs.recv_with_ack(cx));
    if (!delivery) break;  // no job is left, and nobody is there to send one
    co_await calm::sleep(cx, 1ms);
    done->push_back(delivery.value().item());
    (void)std::move(delivery.value()).commit();
  }
}
// [/worker]

// Takes a job and does not get to its end.
calm::Task<> dawdle(calm::Cx cx, calm::channel::SharedReceiver<int> jobs, calm::Notify* has_one) {
  const calm::channel::Delivery<int> delivery = co_await jobs.recv_with_ack(cx);
  std::cout << "the first worker has job " << delivery.item() << '\n';
  has_one->notify_one();
  co_await calm::sleep(cx, 1h);
}

}  // namespace

// [pool]
calm::Task<> worker_pool(calm::Cx cx) {
  std::vector<int> done;
  calm::Notify has_one(cx);
  const auto body = [&done, &has_one](calm::Scope& scope) -> calm::Task<> {
    calm::channel::Mpmc<int> queue = co_await calm::channel::mpmc<int>(scope.cx(), 3);
    for (const int job : {1, 2, 3}) (void)queue.sender.try_send(job);
    auto first = co_await scope.fiber(dawdle, queue.receiver, &has_one);
    co_await has_one.wait(scope.cx());
    first.cancel("too slow");
    const calm::Outcome<void> end = co_await calm::outcome(std::move(first).join(scope.cx()));
    std::cout << "it ended as " << to_string(end.kind()) << ", and " << queue.receiver.counts().queued
              << " jobs wait\n";
    for (int i = 0; i < 2; ++i) (void)co_await scope.fiber(work, queue.receiver, &done);
  };  // the last sender ends here: when the queue is empty the workers go home
  (void)co_await calm::outcome(calm::scope(cx, body, {.policy = calm::FoldPolicy::collect}));
  std::sort(done.begin(), done.end());
  std::cout << "done:";
  for (const int job : done) std::cout << ' ' << job;  // NOLINT(calm-long-loop): there are three jobs
  std::cout << '\n';
}
// [/pool]

int main() { return calm::run(worker_pool); }

// [prints]
// prints:
//   the first worker has job 1
//   it ended as Cancelled, and 3 jobs wait
//   done: 1 2 3
// [/prints]
