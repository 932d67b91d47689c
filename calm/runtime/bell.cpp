#include "calm/runtime/bell.hpp"

#include <chrono>

#include "calm/check/require.hpp"
#include "calm/runtime/this_worker.hpp"

namespace calm::runtime {

void Bell::ring() noexcept {
  const std::lock_guard hold(mutex_);
  rung_ = true;
  heard_.notify_all();  // under the lock: who waits cannot be gone before it is free
}

void Bell::wait() const noexcept {
  std::unique_lock hold(mutex_);
  heard_.wait(hold, [this] { return rung_; });
}

bool Bell::wait_for(Duration duration) const noexcept {
  std::unique_lock hold(mutex_);
  return heard_.wait_for(hold, std::chrono::nanoseconds(duration.ns()), [this] { return rung_; });
}

bool Bell::has_rung() const noexcept {
  const std::lock_guard hold(mutex_);
  return rung_;
}

void Bell::require_no_worker() noexcept { CALM_REQUIRE(QUI_3, worker_of_this_thread() == nullptr); }

}  // namespace calm::runtime
