#include <string>

#include "calm/model/time.hpp"

namespace calm {
namespace {

struct TimeUnit {
  std::int64_t ns;
  const char* name;
};
constexpr TimeUnit units[] = {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}, {1, "ns"}};

}  // namespace

std::string to_string(Duration duration) {
  if (duration == Duration::max()) return "for ever";
  for (const TimeUnit& unit : units) {
    if (duration.ns() % unit.ns == 0) return std::to_string(duration.ns() / unit.ns) + unit.name;
  }
  return {};
}

std::string to_string(Time time) {
  constexpr std::uint64_t second = 1'000'000'000;
  std::string text = std::to_string(time.ns() / second);
  if (const std::uint64_t fraction = time.ns() % second; fraction != 0) {
    std::string digits = std::to_string(second + fraction).substr(1);  // nine digits with leading zeros
    digits.erase(digits.find_last_not_of('0') + 1);
    text.append(".").append(digits);
  }
  return text.append("s");
}

std::string to_string(Deadline deadline) { return deadline.is_none() ? "none" : to_string(deadline.time()); }

}  // namespace calm
