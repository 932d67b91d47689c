// Two threads, a value and the flag that says it is there: every schedule, and every value that a load may read.
#include <calm/lab/threads.hpp>
#include <iostream>

namespace lab = calm::lab;

namespace {

// [program]
// The second thread waits for the flag and reads the value.
auto message(std::memory_order publish) {
  return [publish](lab::Threads& threads) {
    auto& value = threads.make<lab::Plain<int>>(0);
    auto& flag = threads.make<lab::Atomic<bool>>(false);
    const auto send = [&value, &flag, publish] {
      value = 42;
      flag.store(true, publish);
    };
    const auto receive = [&value, &flag, &threads] {
      while (!flag.load(std::memory_order_acquire)) lab::pause();
      threads.check(value == 42, "the value is not there");
    };
    threads.run(send, "sender");
    threads.run(receive, "receiver");
  };
}
// [/program]

// A lock of one's own, which spins.
// [lock]
class SpinLock {
 public:
  void lock() {
    while (word_.exchange(1, std::memory_order_acquire) == 1) lab::pause();
  }
  void unlock() { word_.store(0, std::memory_order_release); }

 private:
  lab::Atomic<int> word_{0};
};

void count_under_a_lock(lab::Threads& threads) {
  auto& lock = threads.make<SpinLock>();
  auto& count = threads.make<lab::Plain<int>>(0);
  for (int i = 0; i < 3; ++i) {
    threads.run([&lock, &count] {
      lock.lock();
      count = count + 1;
      lock.unlock();
    });
  }
  threads.at_end([&threads, &count] { threads.check(count == 3, "an addition was lost"); });
}
// [/lock]

}  // namespace

int main() {
  // [run]
  const lab::Machine machine{.memory = lab::MemoryModel::release_acquire};
  for (const auto publish : {std::memory_order_relaxed, std::memory_order_release}) {
    const lab::ThreadsReport report = lab::explore_threads(message(publish), {}, machine);
    std::cout << lab::explain(message(publish), report, machine);
  }
  std::cout << lab::explain(count_under_a_lock, lab::explore_threads(count_under_a_lock, {}, machine), machine);
  // [/run]
}

// [prints]
// prints:
//   calm: execution 1 of 2: a data race: a variable is read, and nothing orders that after the last time it was written
//           sender          receiver
//     1     write x0
//     2                     read x0
//   calm: 2 executions, all there are
//   calm: 60 executions, all there are
// [/prints]
