// blocking_pool.hpp — threads for calls that block: started when they are needed, ended when they are not, never too many.
// Laws:    IO-4, HND-3 (a bounded number waits), SCH-8
// Threads: submit() and withdraw() anywhere
// Cancel:  withdraw() takes a job out that has not begun
//
// A thread is started when more jobs wait than threads are idle. An idle thread sleeps until a job comes, and ends after a time
// without one. Jobs begin in the order in which they came.
#pragma once

#include <cstdint>
#include <list>

#include "calm/cx/blocking.hpp"
#include "calm/lockfree/job_calls.hpp"
#include "calm/lockfree/lock.hpp"
#include "calm/runtime/options.hpp"
#include "calm/runtime/thread.hpp"

namespace calm::runtime {

class BlockingPool final : public cx::BlockingDoor {
 public:
  explicit BlockingPool(const RunOptions& options);
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;
  /// Needs: no job. Ends its threads.
  ~BlockingPool();

  cx::Submitted submit(cx::BlockingJob& job) noexcept override;
  bool withdraw(cx::BlockingJob& job) noexcept override;

  /// Gives: how many threads there are, a moment ago.
  [[nodiscard]] std::uint32_t threads() const noexcept;

 private:
  /// A thread and its place among the others.
  struct Member {
    BlockingPool* pool;
    Thread thread;
    std::list<Member>::iterator place;
  };

  void serve(Member& self) noexcept;
  [[nodiscard]] cx::BlockingJob* take() noexcept;
  void end_one() noexcept;
  [[nodiscard]] bool leave(Member& self) noexcept;
  void start_one() noexcept;
  void join_those_who_left() noexcept;
  void unlink(cx::BlockingJob& job) noexcept;

  RunOptions options_;
  mutable lockfree::Lock<> lock_;
  // Under the lock:
  cx::BlockingJob* first_ = nullptr;
  cx::BlockingJob* last_ = nullptr;
  std::uint32_t busy_ = 0;     // threads that make a call
  std::uint32_t started_ = 0;  // threads that there are, or are about to be
  std::uint16_t next_number_ = 0;
  std::list<Member> members_;
  std::list<Member> left_;  // threads that have ended, to be joined

  lockfree::JobCalls<> calls_;
};

}  // namespace calm::runtime
