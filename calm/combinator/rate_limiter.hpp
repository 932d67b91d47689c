// rate_limiter.hpp — so much per time: a bucket of tokens that fills evenly, and a line of those who wait for some.
// Laws:    COM-1, CHN-4, CHN-12 (first come, first served), CAN-13, I7 (the clock is that of the Cx)
// Threads: the tasks of one runtime, on any of its workers; see line.hpp
// Cancel:  a waiting acquire() leaves the line and has taken no token; those behind it move up
//
//   RateLimiter limiter(cx, {.tokens = 100, .per = 1s, .burst = 20});
//   co_await limiter.acquire(cx);                                      // waits for its turn, then for a token
//   Page page = co_await limiter.call(cx, fetch, url);                 // the same, then the call
//
// The bucket is full at first and holds `burst` tokens at most. Who asks for much is not overtaken by those who ask for
// little. Nothing is rounded: in any time t at most burst + t * tokens / per are given, and over a long time no fewer.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "calm/cx/cx.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"
#include "calm/lockfree/lock.hpp"
#include "calm/lockfree/turn.hpp"
#include "calm/model/time.hpp"
#include "calm/sync/semaphore.hpp"

namespace calm {

struct RateLimiterOptions {
  std::uint32_t tokens = 1;             ///< so many come in each `per`; at least 1
  Duration per = Duration::seconds(1);  ///< above 0
  std::uint32_t burst = 1;              ///< what the bucket holds; at least 1
};

namespace combinator {

/// The tokens, as a function of time. A token is worth `per` nanoseconds of filling, so that there are no fractions.
class Bucket {
 public:
  /// Needs: options that are sensible.
  Bucket(const RateLimiterOptions& options, Time now) noexcept
      : tokens_(options.tokens), price_(options.per.ns()), room_(price_ * options.burst), filled_(room_), at_(now) {}

  /// Gives: nothing when so many were taken; else the time when so many will be there.
  [[nodiscard]] std::optional<Time> take(std::uint32_t count, Time now) noexcept {
    fill(now);
    const detail::Wide missing = price_ * count - filled_;
    if (missing > 0) return at_ + wait_for(missing);
    filled_ = -missing;
    return std::nullopt;
  }
  /// Gives: how many whole tokens are there.
  [[nodiscard]] std::uint32_t count(Time now) noexcept {
    fill(now);
    return static_cast<std::uint32_t>(filled_ / price_);
  }

 private:
  void fill(Time now) noexcept {
    if (now <= at_) return;
    const detail::Wide more = static_cast<detail::Wide>(now.ns() - at_.ns()) * tokens_;
    filled_ = more >= room_ - filled_ ? room_ : filled_ + more;
    at_ = now;
  }
  [[nodiscard]] Duration wait_for(detail::Wide missing) const noexcept {
    const detail::Wide ns = (missing + tokens_ - 1) / tokens_;
    return ns > INT64_MAX ? Duration::max() : Duration::nanoseconds(static_cast<std::int64_t>(ns));
  }

  std::uint32_t tokens_;
  detail::Wide price_;
  detail::Wide room_;
  detail::Wide filled_;  // COM-1: 0 <= filled_ <= room_
  Time at_;
};

}  // namespace combinator

class RateLimiter {
 public:
  /// Needs: the context of the code that makes it; nobody waits when it ends.
  RateLimiter(CxOf<cap::time> cx, const RateLimiterOptions& options) noexcept
      : options_(options),
        turn_(cx, 1),
        bucket_(is_sensible() ? options : RateLimiterOptions{}, cx.now()),
        shared_(cx::context_of(cx).root()->port().is_shared()) {}
  RateLimiter(const RateLimiter&) = delete;
  RateLimiter& operator=(const RateLimiter&) = delete;
  ~RateLimiter() = default;

  /// Takes `count` tokens, when all who came before have had theirs and there are so many.
  /// Fails: invalid_argument for none, for more than the bucket holds, and for options with a 0.
  Task<void> acquire(CxOf<cap::time> cx, std::uint32_t count = 1) {
    if (const char* const wrong = what_is_wrong(count)) co_await fail(Error(Errc::invalid_argument, wrong));
    // Who has the turn is the head of the line and sleeps; the others wait for the turn. Cancelled, it passes it on.
    const Semaphore::Permit turn = co_await turn_.acquire(cx);
    while (const std::optional<Time> until = take(count, cx.now())) {
      co_await sleep_until(cx, *until, clock::Beyond::clamp);
    }
  }
  /// The same without waiting. Gives: false when there are too few, or others wait; nothing is taken then.
  /// Fails: as acquire().
  [[nodiscard]] Outcome<bool> try_acquire(CxOf<cap::time> cx, std::uint32_t count = 1) {
    if (const char* const wrong = what_is_wrong(count)) return err(Error(Errc::invalid_argument, wrong));
    const std::optional<Semaphore::Permit> turn = turn_.try_acquire(cx);
    return ok(turn.has_value() && !take(count, cx.now()));
  }
  /// Takes a token and runs `callable(cx, arguments...)`, which gives a Task. Gives: what it gives.
  /// Fails: as it does; as acquire(). A token that was taken is used, however the call ends.
  template <class... Caps, class F, class... Arguments>
  auto call(CxOf<Caps...> cx, F callable, Arguments... arguments)
      -> Task<cx::TaskValue<F, CxOf<Caps...>, Arguments...>> {
    co_await acquire(cx);
    if constexpr (std::is_void_v<cx::TaskValue<F, CxOf<Caps...>, Arguments...>>) {
      co_await callable(cx, std::move(arguments)...);
    } else {
      co_return co_await callable(cx, std::move(arguments)...);
    }
  }

  /// Only looks. Gives: how many tokens are in the bucket.
  [[nodiscard]] std::uint32_t tokens(CxOf<cap::time> cx) noexcept {
    (void)turn_.free();  // looked at, for an exploration: who has the turn changes the bucket
    const lockfree::Turn looking(shared_, lock_);
    return bucket_.count(cx.now());
  }

 private:
  [[nodiscard]] std::optional<Time> take(std::uint32_t count, Time now) noexcept {
    const lockfree::Turn taking(shared_, lock_);
    return bucket_.take(count, now);
  }
  [[nodiscard]] bool is_sensible() const noexcept {
    return options_.tokens != 0 && options_.burst != 0 && options_.per > Duration();
  }
  [[nodiscard]] const char* what_is_wrong(std::uint32_t count) const noexcept {
    if (!is_sensible()) {
      return "a rate limiter without tokens, time or burst lets nothing pass, ever [COM-1]; next: make each of "
             "RateLimiterOptions at least 1";
    }
    if (count == 0 || count > options_.burst) {
      return "no tokens, or more than the bucket holds, are asked for: they would never be there [COM-1]; next: ask for "
             "1 up to RateLimiterOptions::burst";
    }
    return nullptr;
  }

  RateLimiterOptions options_;
  Semaphore turn_;
  combinator::Bucket bucket_;  // taken from by who has the turn, looked at by all: under lock_
  bool shared_;
  lockfree::Lock<> lock_;
};

}  // namespace calm
