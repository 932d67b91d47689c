// The floor: a plain number, and a negative one is a code.
#include "bench/outcome/workload.hpp"

namespace {

[[gnu::noinline]] int call(int level, const bench::Journey& journey) noexcept {
  if (level == bench::depth) return 0;
  const int value = call(level + 1, journey);
  if (value < 0) return value;
  if (level == journey.fails_at) return -bench::failure_code;
  return value + journey.add;
}

std::uint64_t travel(const bench::Journey& journey) noexcept {
  const int value = call(0, journey);
  return value < 0 ? bench::points_of_failure(-value) : bench::points(value);
}

}  // namespace

int main() { return bench::measure_journeys(travel); }
