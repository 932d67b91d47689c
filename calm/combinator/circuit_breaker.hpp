// circuit_breaker.hpp — stops calling what keeps failing: after so many failures calls are refused, then a few are tried.
// Laws:    COM-1, I7 (the clock is that of the Cx)
// Threads: the tasks of one runtime, on any of its workers; see sync/line.hpp
// Cancel:  nothing of it waits; a call that is cancelled, or forced to end, counts neither as success nor as failure and
//          gives its probe back
//
//   CircuitBreaker breaker(cx, {.failures = 5, .open_for = 30s});
//   Quote quote = co_await breaker.call(cx, ask_price, item);     // open_circuit: it was not called
//
// Closed: calls pass, and failures in a row are counted; an Ok begins anew. Open: calls are refused until `open_for` is over.
// Half-open: so many calls at a time pass as probes, the others are refused; a failure opens again, enough successes close.
// A call says something about the state it began in: what comes of it after a change of state is not counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "calm/check/require.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/error.hpp"
#include "calm/model/outcome.hpp"
#include "calm/model/state_table.hpp"
#include "calm/model/time.hpp"
#include "calm/sync/line.hpp"

namespace calm {

enum class CircuitState : std::uint8_t { closed = 1, open = 2, half_open = 4 };

inline constexpr Move<CircuitState> circuit_moves[] = {
    {CircuitState::closed, CircuitState::open},       // too many failures in a row
    {CircuitState::open, CircuitState::half_open},    // the time is over, and someone calls
    {CircuitState::half_open, CircuitState::open},    // a probe failed
    {CircuitState::half_open, CircuitState::closed},  // enough of them did not
};
inline constexpr StateTable<CircuitState, 3> circuit_table{circuit_moves};

static_assert(circuit_table.size() == 4 && !circuit_table.repeated(), "COM-1: four of the nine pairs are legal");
static_assert(circuit_table.next(CircuitState::closed) == CircuitState::open, "COM-1: Closed goes to Open only");
static_assert(circuit_table.next(CircuitState::open) == CircuitState::half_open,
              "COM-1: Open closes by way of a probe only");
static_assert(circuit_table.next(CircuitState::half_open) == (CircuitState::open | StateMask(CircuitState::closed)),
              "COM-1: a probe opens or closes");

/// Gives: the state as a word.
constexpr std::string_view to_string(CircuitState state) noexcept {
  switch (state) {
    case CircuitState::closed:
      return "closed";
    case CircuitState::open:
      return "open";
    case CircuitState::half_open:
      return "half-open";
  }
  CALM_INVARIANT(COM_1, false, static_cast<std::uint8_t>(state));
  return {};
}

struct CircuitBreakerOptions {
  std::uint32_t failures = 5;                 ///< in a row that open it; at least 1
  Duration open_for = Duration::seconds(30);  ///< no call passes so long; above 0
  std::uint32_t probes = 1;                   ///< calls at a time while it is half-open; at least 1
  std::uint32_t successes = 1;                ///< of probes that close it; at least 1
  /// Which errors are failures of the callee; none stands for all. What throws is one always.
  bool (*is_failure)(const Error&) = nullptr;
};

class CircuitBreaker {
 public:
  /// Needs: the context of the code that makes it; no call is under way when it ends.
  CircuitBreaker(CxOf<> cx, const CircuitBreakerOptions& options) noexcept : line_(cx), options_(options) {}
  CircuitBreaker(const CircuitBreaker&) = delete;
  CircuitBreaker& operator=(const CircuitBreaker&) = delete;
  ~CircuitBreaker() = default;

  /// Runs `callable(cx, arguments...)`, which gives a Task, unless the circuit is open. Gives: what it gives.
  /// Fails: as it does; open_circuit, caused by the last failure, and it was not called; invalid_argument for options with
  ///        a 0.
  template <class... Caps, class F, class... Arguments>
  auto call(CxOf<Caps...> cx, F callable, Arguments... arguments)
      -> Task<cx::TaskValue<F, CxOf<Caps...>, Arguments...>> {
    using T = cx::TaskValue<F, CxOf<Caps...>, Arguments...>;
    Attempt attempt = co_await admit(cx.now());
    Outcome<T> end = co_await outcome(callable(cx, std::move(arguments)...));
    attempt.settle(end.is_err() ? &end.error() : nullptr, end.kind(), cx.now());
    if constexpr (std::is_void_v<T>) {
      if (end.is_panicked()) std::rethrow_exception(end.panic().exception());
      if (!end.is_ok()) co_await fail_with(std::move(end));
    } else {
      co_return std::move(end);
    }
  }

  /// Only looks. Open stays so until someone calls after its time.
  [[nodiscard]] CircuitState state() const noexcept {
    const sync::Line::Turn turn(line_);
    line_.reads();
    return state_;
  }

 private:
  /// A call that is under way.
  class Attempt {
   public:
    /// Needs: a turn.
    Attempt(CircuitBreaker& breaker, bool probe) noexcept
        : breaker_(&breaker), generation_(breaker.generation_), probe_(probe) {}
    Attempt(Attempt&& other) noexcept
        : breaker_(std::exchange(other.breaker_, nullptr)), generation_(other.generation_), probe_(other.probe_) {}
    Attempt& operator=(Attempt&&) = delete;
    /// Not settled: forced to end, which says nothing of the callee.
    ~Attempt() {
      if (breaker_ == nullptr || !probe_) return;
      const sync::Line::Turn turn(breaker_->line_);
      end_probe(*breaker_);
    }

    void settle(const Error* error, OutcomeKind kind, Time now) noexcept {
      CircuitBreaker& breaker = *std::exchange(breaker_, nullptr);
      const bool failed = kind == OutcomeKind::panicked || (error != nullptr && breaker.counts(*error));
      const sync::Line::Turn turn(breaker.line_);
      if (probe_) end_probe(breaker);
      if (breaker.generation_ != generation_ || kind == OutcomeKind::cancelled) return;
      if (failed) {
        breaker.failed(error, now);
      } else {
        breaker.succeeded();
      }
    }

   private:
    static void end_probe(CircuitBreaker& breaker) noexcept {
      --breaker.probing_;
      breaker.line_.writes();
    }

    CircuitBreaker* breaker_;
    std::uint64_t generation_;
    bool probe_;
  };

  [[nodiscard]] Outcome<Attempt> admit(Time now) noexcept {
    if (options_.failures == 0 || options_.probes == 0 || options_.successes == 0 || options_.open_for <= Duration()) {
      return err(Error(Errc::invalid_argument,
                       "a circuit breaker with a 0 in its options would never open, or never close [COM-1]; next: make "
                       "each of CircuitBreakerOptions at least 1"));
    }
    const sync::Line::Turn turn(line_);
    if (state_ == CircuitState::open && now >= open_until_) move_to(CircuitState::half_open);
    if (state_ == CircuitState::closed) {
      line_.reads();
      return ok(Attempt(*this, false));
    }
    if (state_ == CircuitState::open || probing_ == options_.probes) {
      line_.reads();
      return err(refusal());
    }
    line_.writes();
    ++probing_;
    return ok(Attempt(*this, true));
  }
  [[nodiscard]] Error refusal() const noexcept {
    const Error refused(Errc::open_circuit,
                        state_ == CircuitState::open
                            ? "the circuit is open: the callee failed too often and is left alone for a while [COM-1]"
                            : "the circuit is half-open: as many probes are under way as may be [COM-1]");
    return last_ ? refused.because(*last_) : refused;
  }

  [[nodiscard]] bool counts(const Error& error) const noexcept {
    return options_.is_failure == nullptr || options_.is_failure(error);
  }
  void succeeded() noexcept {
    if (state_ == CircuitState::half_open) {
      line_.writes();
      if (++successes_ == options_.successes) move_to(CircuitState::closed);
    } else if (failures_ != 0) {
      line_.writes();
      failures_ = 0;
    } else {
      line_.reads();
    }
  }
  void failed(const Error* error, Time now) noexcept {
    line_.writes();
    last_.reset();
    if (error != nullptr) last_.emplace(*error);
    if (state_ == CircuitState::closed && ++failures_ < options_.failures) return;
    open_until_ = now + options_.open_for;
    move_to(CircuitState::open);
  }
  void move_to(CircuitState next) noexcept {
    CALM_INVARIANT(COM_1, circuit_table.allows(state_, next), to_string(state_), to_string(next));
    line_.writes();
    state_ = next;
    ++generation_;
    failures_ = 0;
    successes_ = 0;
  }

  sync::Line line_;  // nobody waits in it: it is what an exploration knows the breaker by
  CircuitBreakerOptions options_;
  CircuitState state_ = CircuitState::closed;
  std::uint64_t generation_ = 0;  // of the state; changes with it
  std::uint32_t failures_ = 0;    // in a row, while closed
  std::uint32_t successes_ = 0;   // of probes, while half-open
  std::uint32_t probing_ = 0;  // COM-1: probes under way, at most options_.probes, also those of an earlier half-open
  Time open_until_{};
  std::optional<Error> last_;
};

}  // namespace calm
