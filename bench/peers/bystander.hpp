// bystander.hpp — a thread that does nothing, so that a process with one worker is as good as one with two.
#pragma once

#include <atomic>
#include <thread>

namespace bench::peers {

/// In a process of one thread the C library and libstdc++ leave out what only several threads need: `shared_ptr` counts without
/// atomic steps, malloc takes no locks. Hardly a program that has a runtime is one, and Go has several with one worker, too.
/// So whoever would be such a process has this beside it; but not the floor, which is what the least costs.
class Bystander {
 public:
  Bystander() : thread_([this] { over_.wait(false); }) {}
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;
  ~Bystander() {
    over_.store(true);
    over_.notify_one();
    thread_.join();
  }

 private:
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace bench::peers
