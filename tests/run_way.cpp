#include "tests/run_way.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "calm/lab/gtest.hpp"

namespace calm {
namespace {

/// Knows which repeat the tests are in, and tells how a test ran that failed.
class WayTeller final : public testing::EmptyTestEventListener {
 public:
  void OnTestIterationStart(const testing::UnitTest& /*tests*/, int iteration) override { repeat_ = iteration; }
  void OnTestStart(const testing::TestInfo& /*test*/) override { last_.reset(); }
  void OnTestEnd(const testing::TestInfo& test) override {
    if (!last_ || !test.result()->Failed()) return;
    const std::string way(to_string(*last_));
    const std::string name = std::string(test.test_suite_name()) + "." + test.name();
    std::string command = "CALM_TEST_WAY=" + way + " ";
    for (const char* const variable : {"CALM_TEST_WORKERS", "CALM_THREADS_SEED"}) {
      const char* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody changes it
      if (value != nullptr) command.append(variable).append("=").append(value).append(" ");
    }
    command.append(lab::path_of_this_program()).append(" --gtest_filter=").append(name);
    std::printf("calm: the last program of %s ran in the %s way on %u workers\n  next: %s\n", name.c_str(), way.c_str(),
                unsigned{workers_}, command.c_str());
  }

  RunWay told(RunWay way, std::uint16_t workers) {
    last_ = way;
    workers_ = workers;
    return way;
  }
  [[nodiscard]] std::uint64_t repeat() const { return static_cast<std::uint64_t>(repeat_); }

 private:
  int repeat_ = 0;
  std::optional<RunWay> last_;
  std::uint16_t workers_ = 0;
};

/// The listener of the program; it is heard from the start of the tests on, so it is made before main().
WayTeller& teller() {
  static auto* const only = [] {
    auto* const made = new WayTeller;
    testing::UnitTest::GetInstance()->listeners().Append(made);  // who owns it from now on
    return made;
  }();
  return *only;
}
[[maybe_unused]] const WayTeller& heard_from_the_start = teller();

/// FNV-1a of the name of the running test, without the number that makes one of several of it.
std::uint64_t hash_of_running_test() {
  std::uint64_t hash = 14'695'981'039'346'656'037U;
  const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
  if (test == nullptr) return hash;
  const std::string_view name(test->name());
  for (const char letter : name.substr(0, name.find('/'))) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 1'099'511'628'211U;
  }
  return hash ^ hash >> 32U;
}

}  // namespace

std::string_view to_string(RunWay way) noexcept { return way == RunWay::usual ? "usual" : "shared"; }

std::optional<RunWay> way_asked() {
  const char* const text = std::getenv("CALM_TEST_WAY");  // NOLINT(concurrency-mt-unsafe): nobody changes it
  if (text == nullptr || *text == '\0') return {};
  const std::string_view asked(text);
  if (asked == to_string(RunWay::usual)) return RunWay::usual;
  if (asked == to_string(RunWay::shared)) return RunWay::shared;
  std::fprintf(stderr, "calm: CALM_TEST_WAY=%s is no way to run a test; next: set it to usual or shared\n", text);
  std::exit(EXIT_FAILURE);
}

RunWay way_here(std::uint16_t workers, std::uint64_t run) {
  if (const auto asked = way_asked()) return teller().told(*asked, workers);
  std::uint64_t turn = teller().repeat() + run;
  if (workers > 1) turn += hash_of_running_test() + (workers > 2 ? 1 : 0);
  return teller().told(turn % 2 == 0 ? RunWay::usual : RunWay::shared, workers);
}

RunOptions options_for(RunWay way, std::uint16_t workers, std::uint64_t seed) {
  RunOptions options{.workers = workers, .seed = seed};
  if (way == RunWay::shared) {
    options.flavour = Flavour::multi_worker;
    options.worth_sharing = Duration();
  }
  return options;
}

RunOptions options_here(std::uint16_t workers) {
  const char* const seed = std::getenv("CALM_THREADS_SEED");  // NOLINT(concurrency-mt-unsafe): nobody changes it
  return options_for(way_here(workers), workers, seed == nullptr ? 11 : std::strtoull(seed, nullptr, 10));
}

}  // namespace calm
