// The way of exceptions: every call gives a plain number or throws.
#include <exception>

#include "bench/outcome/workload.hpp"

namespace {

class Failure : public std::exception {
 public:
  explicit Failure(int code) noexcept : code_(code) {}
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  int code_;
};

[[gnu::noinline]] int call(int level, const bench::Journey& journey) {
  if (level == bench::depth) return 0;
  const int value = call(level + 1, journey);
  if (level == journey.fails_at) throw Failure(bench::failure_code);
  return value + journey.add;
}

std::uint64_t travel(const bench::Journey& journey) {
  try {
    return bench::points(call(0, journey));
  } catch (const Failure& failure) {
    return bench::points_of_failure(failure.code());
  }
}

}  // namespace

int main() { return bench::measure_journeys(travel); }
