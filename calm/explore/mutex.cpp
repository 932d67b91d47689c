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

void Mutex::tell(const char* word, bool wrote) const noexcept {
  Threads* const threads = Threads::current();
  if (threads == nullptr) return;
  threads->touch(wrote ? Touch::write(location_) : Touch::read(location_));
  threads->call(word);
}

void Mutex::lock() noexcept {
  arrive(StepKind::free, true);
  CALM_REQUIRE(LAB_8, !locked_);
  locked_ = true;
  tell("lock", true);
  if (Threads* const threads = Threads::current()) threads->acquire(location_);
}

bool Mutex::try_lock() noexcept {
  arrive(StepKind::free, false);
  const bool taken = !locked_;
  locked_ = true;
  tell(taken ? "try lock" : "fail to lock", taken);
  if (Threads* const threads = Threads::current(); taken && threads != nullptr) threads->acquire(location_);
  return taken;
}

void Mutex::unlock() noexcept {
  arrive(StepKind::fixed, false);
  CALM_REQUIRE(LAB_8, locked_);
  locked_ = false;
  tell("unlock", true);
  if (Threads* const threads = Threads::current()) threads->release(location_);
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
    threads->release(mutex.location_);
    threads->call("wait");
    threads->arrive({.kind = StepKind::free,
                     .location = location_,
                     .can_go_on = [](const void* asked) { return static_cast<const Waiter*>(asked)->woken; },
                     .word = &waiter});
    threads->touch(Touch::read(location_));
    threads->call("wake up");
  }
  mutex.lock();
}

void Condition::notify(std::uint32_t count) noexcept {
  Threads* const threads = Threads::current();
  if (threads != nullptr) threads->arrive({.kind = StepKind::fixed, .location = location_, .write = true});
  std::size_t woken = 0;
  while (woken < line_.size() && woken < count) line_[woken++]->woken = true;
  line_.erase(line_.begin(), line_.begin() + static_cast<std::ptrdiff_t>(woken));
  if (threads == nullptr) return;
  threads->touch(Touch::write(location_));
  threads->call(count == 1 ? "notify one" : "notify all");
}

}  // namespace calm::explore
