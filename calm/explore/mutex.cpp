#include "calm/explore/mutex.hpp"

#include "calm/check/require.hpp"

namespace calm::explore {

Location Mutex::new_location() noexcept {
  Threads* const threads = Threads::current();
  return threads == nullptr ? 0 : threads->new_location();
}

void Mutex::arrive(StepKind kind, bool blocks) noexcept {
  Threads* const threads = Threads::current();
  if (threads == nullptr) return;
  Threads::Access access{.kind = kind, .location = location_, .write = true, .word = this};
  if (blocks) access.can_go_on = [](const void* mutex) { return !static_cast<const Mutex*>(mutex)->locked_; };
  threads->arrive(access);
}

void Mutex::lock() noexcept {
  arrive(StepKind::free, true);
  CALM_REQUIRE(LAB_8, !locked_);
  locked_ = true;
  if (Threads* const threads = Threads::current()) threads->touch(Touch::write(location_));
}

bool Mutex::try_lock() noexcept {
  arrive(StepKind::free, false);
  const bool taken = !locked_;
  locked_ = true;
  if (Threads* const threads = Threads::current()) {
    threads->touch(taken ? Touch::write(location_) : Touch::read(location_));
  }
  return taken;
}

void Mutex::unlock() noexcept {
  arrive(StepKind::fixed, false);
  CALM_REQUIRE(LAB_8, locked_);
  locked_ = false;
  if (Threads* const threads = Threads::current()) threads->touch(Touch::write(location_));
}

void Condition::wait(Mutex& mutex) noexcept {
  Threads* const threads = Threads::current();
  Waiter waiter;
  mutex.arrive(StepKind::fixed, false);  // one step: the mutex is free and this thread is in the line
  mutex.locked_ = false;
  line_.push_back(&waiter);
  if (threads != nullptr) {
    threads->touch(Touch::write(mutex.location_));
    threads->touch(Touch::write(location_));
    threads->arrive({.kind = StepKind::free,
                     .location = location_,
                     .can_go_on = [](const void* asked) { return static_cast<const Waiter*>(asked)->woken; },
                     .word = &waiter});
    threads->touch(Touch::read(location_));
  }
  mutex.lock();
}

void Condition::notify(std::uint32_t count) noexcept {
  Threads* const threads = Threads::current();
  if (threads != nullptr) threads->arrive({.kind = StepKind::fixed, .location = location_, .write = true});
  std::size_t woken = 0;
  while (woken < line_.size() && woken < count) line_[woken++]->woken = true;
  line_.erase(line_.begin(), line_.begin() + static_cast<std::ptrdiff_t>(woken));
  if (threads != nullptr) threads->touch(Touch::write(location_));
}

}  // namespace calm::explore
