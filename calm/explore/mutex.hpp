// mutex.hpp — locks and condition variables for explored threads.
// Laws:    LAB-4 (a blocked operation is no event, a failed try-lock is a read), LAB-8
// Threads: those of one explored program
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <vector>

#include "calm/explore/threads.hpp"

namespace calm::explore {

/// As std::mutex.
class Mutex {
 public:
  Mutex() noexcept = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  ~Mutex() = default;

  void lock() noexcept;
  [[nodiscard]] bool try_lock() noexcept;
  void unlock() noexcept;

 private:
  friend class Condition;
  static Location new_location() noexcept;
  void arrive(StepKind kind, bool blocks) noexcept;
  void tell(const char* word, bool wrote) const noexcept;

  bool locked_ = false;
  Location location_ = new_location();
};

/// As std::condition_variable; those who wait are woken in the order in which they came, and never without a reason.
class Condition {
 public:
  Condition() noexcept = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  ~Condition() = default;

  /// Needs: the caller holds the mutex.
  void wait(Mutex& mutex) noexcept;
  template <class Ready>
  void wait(Mutex& mutex, Ready ready) {
    while (!ready()) wait(mutex);
  }
  void notify_one() noexcept { notify(1); }
  void notify_all() noexcept { notify(UINT32_MAX); }

 private:
  struct Waiter {
    bool woken = false;
  };
  void notify(std::uint32_t count) noexcept;

  std::vector<Waiter*> line_;
  Location location_ = Mutex::new_location();
};

}  // namespace calm::explore
