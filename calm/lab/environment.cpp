#include "calm/lab/environment.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "calm/model/text.hpp"

namespace calm::lab {
namespace {

std::string_view variable(const char* name) noexcept {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): tests set it before they start
  return value == nullptr ? std::string_view() : std::string_view(value);
}

[[noreturn]] void stop(const char* name, std::string_view why) {
  std::fprintf(stderr, "calm: %s: %.*s\n  next: copy the command that the failed test printed, or unset %s\n", name,
               static_cast<int>(why.size()), why.data(), name);
  std::exit(2);  // NOLINT(concurrency-mt-unsafe): as above
}

}  // namespace

bool is_replaying() noexcept { return !variable("CALM_LAB_SCHEDULE").empty(); }

LabConfig from_environment(LabConfig config) {
  if (const std::string_view seed = variable("CALM_LAB_SEED"); !seed.empty()) {
    const char* const end = seed.data() + seed.size();
    const auto read = std::from_chars(seed.data(), end, config.seed);
    if (read.ec != std::errc() || read.ptr != end) stop("CALM_LAB_SEED", quoted(seed).append(" is no seed"));
  }
  if (const std::string_view word = variable("CALM_LAB_SCHEDULE"); !word.empty()) {
    const auto schedule = parse_schedule(word);
    if (!schedule) stop("CALM_LAB_SCHEDULE", schedule.error().message());
    const std::uint32_t whose = schedule.value().program_hash;
    if (whose == 0 || whose == program_hash(config.program)) return with_schedule(std::move(config), schedule.value());
  }
  return config;
}

}  // namespace calm::lab
