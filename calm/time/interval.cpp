#include "calm/time/interval.hpp"

#include "calm/cx/port.hpp"

namespace calm {

Tick Interval::take(Time now) noexcept {
  Tick tick{.due = next_};
  switch (missed_) {
    case MissedTicks::burst:
      next_ = next_ + period_;
      break;
    case MissedTicks::delay:
      next_ = now + period_;
      break;
    case MissedTicks::skip:
      tick.missed = (now.ns() - next_.ns()) / static_cast<std::uint64_t>(period_.ns());
      // No further than now and one period, so the product fits.
      next_ = Time::at_ns(next_.ns() + tick.missed * static_cast<std::uint64_t>(period_.ns())) + period_;
      break;
  }
  return tick;
}

namespace time {

TickWait::TickWait(const cx::Context* context, Interval* interval) noexcept
    : SleepWait(context, interval->next_, clock::Beyond::refuse), interval_(*interval) {}

Tick TickWait::result() noexcept {
  const cx::TaskRoot& root = *context()->root();
  return interval_.take(root.worker().now());
}

}  // namespace time
}  // namespace calm
