// Durations of any tick, times and deadlines against 128-bit arithmetic: saturated, never overflowing, order kept.
#include <cstdint>
#include <ratio>

#include "calm/check/require.hpp"
#include "calm/model/time.hpp"
#include "calm/model/tropical.hpp"
#include "tests/fuzz/bytes.hpp"

namespace calm::fuzz {
namespace {

using detail::Wide;

/// Shaped like std::chrono::duration, with any period.
template <class Rep, class Period>
struct Ticks {
  using rep = Rep;
  using period = Period;
  Rep number;
  [[nodiscard]] constexpr Rep count() const noexcept { return number; }
};

constexpr Wide limited(Wide wide, Wide least, Wide most) {
  if (wide < least) return least;
  return wide > most ? most : wide;
}
constexpr Wide limited(Wide wide) { return limited(wide, INT64_MIN, INT64_MAX); }

/// Needs: a period whose exact product fits 128 bits.
template <class Rep, class Period>
void check_exact(Bytes& bytes) {
  const auto number = bytes.edge<Rep>();
  const Duration duration(Ticks<Rep, Period>{number});
  const Wide exact = static_cast<Wide>(number) * Period::num * 1'000'000'000 / Period::den;
  CALM_INVARIANT(BUD_1, duration.ns() == limited(exact), number, duration);
}

template <class Rep, class Period>
void check_order(Rep a, Rep b) {
  const Duration first(Ticks<Rep, Period>{a});
  const Duration second(Ticks<Rep, Period>{b});
  CALM_INVARIANT(BUD_1, a <= b ? first <= second : first >= second, a, b, first, second);
  CALM_INVARIANT(BUD_1, a < 0 ? first <= Duration() : first >= Duration(), a, first);
}

template <class Period>
void check_period(Bytes& bytes) {
  check_order<std::int64_t, Period>(bytes.edge<std::int64_t>(), bytes.edge<std::int64_t>());
  check_order<std::uint64_t, Period>(bytes.edge<std::uint64_t>(), bytes.edge<std::uint64_t>());
  check_order<std::int8_t, Period>(bytes.take<std::int8_t>(), bytes.take<std::int8_t>());
  const auto a = bytes.take<double>();
  const auto b = bytes.take<double>();
  if (a == a && b == b) check_order<double, Period>(a, b);  // a number, not NaN
}

void check_conversions(Bytes& bytes) {
  check_exact<std::int64_t, std::nano>(bytes);
  check_exact<std::int64_t, std::milli>(bytes);
  check_exact<std::uint64_t, std::ratio<1>>(bytes);
  check_exact<std::int32_t, std::ratio<3600>>(bytes);
  check_exact<std::int64_t, std::ratio<1001, 30000>>(bytes);
  check_exact<std::int64_t, std::atto>(bytes);
  check_period<std::micro>(bytes);
  check_period<std::ratio<31556952>>(bytes);
  check_period<std::ratio<1, 3>>(bytes);
  check_period<std::ratio<INTMAX_MAX, 2>>(bytes);
  check_period<std::ratio<1, INTMAX_MAX>>(bytes);
  check_period<std::ratio<INTMAX_MAX, INTMAX_MAX - 1>>(bytes);
}

void check_durations(Bytes& bytes) {
  const Duration a = Duration::nanoseconds(bytes.edge<std::int64_t>());
  const Duration b = Duration::nanoseconds(bytes.edge<std::int64_t>());
  const Duration c = Duration::nanoseconds(bytes.edge<std::int64_t>());
  const auto times = bytes.edge<std::int64_t>();
  CALM_INVARIANT(BUD_1, (a + b).ns() == limited(static_cast<Wide>(a.ns()) + b.ns()), a, b);
  CALM_INVARIANT(BUD_1, (a - b).ns() == limited(static_cast<Wide>(a.ns()) - b.ns()), a, b);
  CALM_INVARIANT(BUD_1, (a * times).ns() == limited(static_cast<Wide>(a.ns()) * times), a, times);
  CALM_INVARIANT(BUD_1, a <= b ? a + c <= b + c : a + c >= b + c, a, b, c);
  CALM_INVARIANT(BUD_1, Duration::seconds(times).ns() == limited(static_cast<Wide>(times) * 1'000'000'000), times);
  CALM_INVARIANT(BUD_1, Duration(a.to<Ticks<std::int64_t, std::nano>>()) == a, a);
  CALM_INVARIANT(BUD_1, (a.to<Ticks<std::int64_t, std::ratio<1>>>().number == a.ns() / 1'000'000'000), a);
}

Time some_time(Bytes& bytes) {
  const auto ns = bytes.edge<std::uint64_t>();
  return ns > Time::max().ns() ? Time::max() : Time::at_ns(ns);
}

void check_times(Bytes& bytes) {
  const Time a = some_time(bytes);
  const Time b = some_time(bytes);
  const Duration wait = Duration::nanoseconds(bytes.edge<std::int64_t>());
  const Wide a_ns = a.ns();
  const Wide b_ns = b.ns();
  CALM_INVARIANT(BUD_1, static_cast<Wide>((a + wait).ns()) == limited(a_ns + wait.ns(), 0, Time::max().ns()), a, wait);
  CALM_INVARIANT(BUD_1, (a - b).ns() == limited(a_ns - b_ns), a, b);
  CALM_INVARIANT(BUD_1, a <= b ? a + wait <= b + wait : a + wait >= b + wait, a, b, wait);
  const Deadline by(a);
  CALM_INVARIANT(BUD_1, by < Deadline::none() && by.time() == a, a);
  CALM_INVARIANT(BUD_5, by.reached(b) == (b >= a), a, b);
  CALM_INVARIANT(BUD_5, by.left(b) == (by.reached(b) ? Duration() : a - b), a, b);
  CALM_INVARIANT(BUD_5, !Deadline::none().reached(a) && Deadline::none().left(a) == Duration::max(), a);
}

TimeSpan some_span(Bytes& bytes) {
  const auto ns = bytes.edge<std::int64_t>();
  return TimeSpan(Duration::nanoseconds(ns < 0 ? ~ns : ns));
}

void check_spans(Bytes& bytes) {
  const TimeSpan a = some_span(bytes);
  const TimeSpan b = some_span(bytes);
  const TimeSpan c = some_span(bytes);
  CALM_INVARIANT(BUD_7, then(a, b) == then(b, a) && then(then(a, b), c) == then(a, then(b, c)), a.length(), b.length());
  CALM_INVARIANT(BUD_7, then(a, meet(b, c)) == meet(then(a, b), then(a, c)), a.length(), b.length(), c.length());
  CALM_INVARIANT(BUD_7, then(a, TimeSpan::infinite()) == TimeSpan::infinite() && meet(a, TimeSpan::infinite()) == a,
                 a.length());
  CALM_INVARIANT(BUD_7, beside(a, b) >= a && beside(a, b) >= b && then(a, b) >= beside(a, b), a.length(), b.length());
  const Time start = some_time(bytes);
  CALM_INVARIANT(BUD_7, deadline_after(start, a).is_none() == a.is_infinite(), start, a.length());
}

void check_texts(Bytes& bytes) {
  CALM_INVARIANT(BUD_1, !to_string(Duration::nanoseconds(bytes.edge<std::int64_t>())).empty());
  CALM_INVARIANT(BUD_1, !to_string(some_time(bytes)).empty());
}

void check(Bytes bytes) {
  switch (bytes.take<std::uint8_t>() % 5) {
    case 0:
      return check_conversions(bytes);
    case 1:
      return check_durations(bytes);
    case 2:
      return check_times(bytes);
    case 3:
      return check_spans(bytes);
    default:
      return check_texts(bytes);
  }
}

}  // namespace
}  // namespace calm::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  calm::fuzz::check(calm::fuzz::Bytes(data, size));
  return 0;
}
