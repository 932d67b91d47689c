// interval.hpp — ticks at even distances, and what becomes of those that nobody was there for.
// Laws:    CTX-1, CAN-13, TMR-3
// Threads: by the task that awaits the ticks, in its own poll
// Cancel:  a cancelled tick() takes its alarm back and has consumed nothing: the next tick() waits for the same tick
#pragma once

#include <cstdint>

#include "calm/check/require.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/time.hpp"

namespace calm {

/// What becomes of ticks whose time has passed before anyone awaited them.
enum class MissedTicks : std::uint8_t {
  burst,  ///< each comes, one at once after the other, until the interval has caught up
  delay,  ///< the first comes late, and the next one a whole period after it was taken
  skip,   ///< the first comes late, the others are left out, and the next one is where it always was
};

struct Tick {
  Time due;                  ///< when it was to come; never later than now
  std::uint64_t missed = 0;  ///< ticks behind it that were left out: with skip alone
};

class Interval;

namespace time {

class TickWait : public cx::SleepWait {
 public:
  TickWait(const cx::Context* context, Interval* interval) noexcept;
  [[nodiscard]] Tick result() noexcept;

 protected:
  ~TickWait() = default;

 private:
  Interval& interval_;
};

using Ticking = cx::WaitFor<TickWait, const cx::Context*, Interval*>;

}  // namespace time

/// A value of the one who awaits the ticks. The first comes one period after it was made.
class Interval {
 public:
  /// Needs: a period above 0; one of more than 7 days makes tick() fail with duration_exceeded (TMR-2).
  Interval(CxOf<cap::time> cx, Duration period, MissedTicks missed = MissedTicks::burst) noexcept
      : period_(period), missed_(missed), next_(cx.now() + period) {
    CALM_REQUIRE(CTX_1, period > Duration(), period.ns());
  }

  /// Parks until the next tick; one whose time has passed is a checkpoint and comes at once. Fails: as sleep_until().
  [[nodiscard]] time::Ticking tick(CxOf<cap::time> cx) noexcept { return time::Ticking(&cx::context_of(cx), this); }

  [[nodiscard]] Duration period() const noexcept { return period_; }
  [[nodiscard]] Time next() const noexcept { return next_; }

 private:
  friend class time::TickWait;
  Tick take(Time now) noexcept;

  Duration period_;
  MissedTicks missed_;
  Time next_;
};

}  // namespace calm
