// The way of the standard library: every call gives a std::variant of number and code.
#include <variant>

#include "bench/outcome/workload.hpp"

namespace {

enum class Code : std::uint16_t { full = bench::failure_code };
using Result = std::variant<int, Code>;

[[gnu::noinline]] Result call(int level, const bench::Journey& journey) {
  if (level == bench::depth) return 0;
  const Result result = call(level + 1, journey);
  const int* value = std::get_if<int>(&result);
  if (value == nullptr) return result;
  if (level == journey.fails_at) return Code::full;
  return *value + journey.add;
}

std::uint64_t travel(const bench::Journey& journey) {
  const Result result = call(0, journey);
  if (const int* value = std::get_if<int>(&result)) return bench::points(*value);
  return bench::points_of_failure(static_cast<int>(std::get<Code>(result)));
}

}  // namespace

int main() { return bench::measure_journeys(travel); }
