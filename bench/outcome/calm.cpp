// The way of calm: every call gives an Outcome<int>.
#include "bench/outcome/workload.hpp"
#include "calm/model/outcome.hpp"

namespace {

[[gnu::noinline]] calm::Outcome<int> call(int level, const bench::Journey& journey) {
  if (level == bench::depth) return 0;
  return call(level + 1, journey).and_then([&](int value) -> calm::Outcome<int> {
    if (level == journey.fails_at) return calm::err(calm::Errc{bench::failure_code});
    return value + journey.add;
  });
}

std::uint64_t travel(const bench::Journey& journey) {
  const auto points = call(0, journey).map(bench::points);
  return points.is_ok() ? points.value() : bench::points_of_failure(static_cast<int>(points.error().code()));
}

}  // namespace

int main() { return bench::measure_journeys(travel); }
