#include "calm/check/report.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include "calm/check/require.hpp"
#include "tests/unit/check/thrown_report.hpp"

namespace calm::check {
namespace {

constexpr Site region_site{Kind::invariant,
                           "REG_4",
                           "live_ == count_live()",
                           "/home/me/calm/calm/kernel/region.cpp",
                           88,
                           "void calm::kernel::Region::verify() const"};

void say_and_return(const Report& report) { std::fprintf(stderr, "heard %d\n", report.line()); }

void fail_while_reporting(const Report&) { CALM_INVARIANT(OBL_10, 2 > 3); }

struct FailsToPrint {};
std::string_view to_string(FailsToPrint) {
  CALM_INVARIANT(OBL_10, 3 > 4);
  return "";
}

template <class T>
Value named(const char* name, const T& value) {
  return detail::value_of(name, detail::pass(value));
}

TEST(Report, the_text_says_what_values_place_law_and_next_step) {
  const Report report(region_site, {named("live_", 3), named("count_live()", 2)});
  EXPECT_EQ(report.text(),
            "calm: invariant broken: live_ == count_live()\n"
            "  values: live_ = 3, count_live() = 2\n"
            "  at:     calm/kernel/region.cpp:88 in Region::verify\n"
            "  law:    REG-4\n"
            "  next:   this is a bug in calm: report it with this text\n");
}

TEST(Report, a_requirement_sends_the_reader_to_the_caller) {
  Site site = region_site;
  site.kind = Kind::require;
  EXPECT_EQ(Report(site, {}).text(),
            "calm: requirement not met: live_ == count_live()\n"
            "  at:     calm/kernel/region.cpp:88 in Region::verify\n"
            "  law:    REG-4\n"
            "  next:   fix the caller: this must hold before the call is made\n");
}

TEST(Report, a_slow_check_says_that_it_was_slow) {
  Site site = region_site;
  site.kind = Kind::slow;
  EXPECT_TRUE(Report(site, {}).text().starts_with("calm: invariant broken (slow check): live_"));
}

TEST(Report, a_copy_stands_on_its_own) {
  static_assert(std::is_trivially_copyable_v<Report>);
  auto first = std::make_unique<Report>(region_site, std::initializer_list<Value>{});
  const Report copy = *first;
  first.reset();
  EXPECT_EQ(copy.law(), "REG-4");
}

TEST(Report, long_values_are_cut_and_the_law_stays) {
  const std::string long_text(5000, 'x');
  const Report report(region_site, {named("text", long_text), named("id", 12)});
  EXPECT_EQ(report.values().size(), 500 + std::string_view(", id = 12").size());
  EXPECT_TRUE(report.values().ends_with("xxx…, id = 12")) << report.values();
  EXPECT_EQ(report.law(), "REG-4");
  EXPECT_TRUE(report.text().ends_with("report it with this text\n"));
}

TEST(Report, every_part_at_its_longest_fits) {
  const std::string many(5000, 'c');
  const std::string function = "void calm::" + many + "::" + many + "()";
  Site site{Kind::slow, many.c_str(), many.c_str(), many.c_str(), 2147483647, function.c_str()};
  const Value value = named(many.c_str(), many);
  const Report report(site, {value, value, value, value, value, value});
  EXPECT_TRUE(report.text().ends_with("report it with this text\n")) << report.text();
  for (const auto part : {report.condition(), report.values(), report.file(), report.function(), report.law()}) {
    EXPECT_TRUE(part.ends_with("…")) << part;
  }
}

TEST(Report, a_cut_keeps_characters_whole) {
  for (std::size_t size = 990; size < 1000; ++size) {
    const std::string text = std::string(size, 'a') + "ßßßßßßßßßßßßß";
    const Report report(region_site, {named("text", text)});
    std::string_view rest = report.values().substr(std::string_view("text = \"").size());
    rest.remove_prefix(rest.find_first_not_of('a'));
    while (rest.starts_with("ß")) rest.remove_prefix(std::string_view("ß").size());
    EXPECT_EQ(rest, "…");
    EXPECT_LE(report.values().size(), 1000U);
  }
}

TEST(Report, an_endless_c_string_is_read_no_further_than_it_is_shown) {
  const std::string long_text(5000, 'x');
  const Report report(region_site, {named("text", long_text.c_str())});
  EXPECT_TRUE(report.values().ends_with("x…"));
}

TEST(Report, set_handler_gives_the_previous_one) {
  ASSERT_EQ(set_handler(say_and_return), nullptr);
  EXPECT_EQ(set_handler(nullptr), say_and_return);
}

TEST(Report, a_scoped_handler_restores_the_previous_one) {
  const ScopedHandler outer(say_and_return);
  {
    const ScopedHandler inner(throw_report);
  }
  EXPECT_EQ(set_handler(say_and_return), say_and_return);
}

TEST(Report, threads_that_fail_at_once_report_apart) {
  const ScopedHandler handler(throw_report);
  std::vector<std::jthread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([number] {
      for (int round = 0; round < 100; ++round) {
        try {
          CALM_REQUIRE(I2, number < 0, number);
          ADD_FAILURE() << "the check must throw";
        } catch (const ThrownReport& thrown) {
          if (thrown.report.values() != "number = " + std::to_string(number)) ADD_FAILURE() << thrown.report.text();
        }
      }
    });
  }
}

TEST(ReportDeathTest, the_default_handler_writes_the_text_and_aborts) {
  EXPECT_EXIT(CALM_INVARIANT(REG_4, 1 > 2, 1 + 1), testing::KilledBySignal(SIGABRT),
              "calm: invariant broken: 1 > 2\n"
              "  values: 1 \\+ 1 = 2\n"
              "  at:     tests/unit/check/report_test.cpp:[0-9]+ in [A-Za-z_:]+::TestBody\n"
              "  law:    REG-4\n"
              "  next:   this is a bug in calm: report it with this text\n");
}

TEST(ReportDeathTest, a_handler_that_returns_ends_the_process) {
  set_handler(say_and_return);
  EXPECT_EXIT(CALM_REQUIRE(I2, 1 > 2), testing::KilledBySignal(SIGABRT), "^heard [0-9]+\n$");
  set_handler(nullptr);
}

TEST(ReportDeathTest, a_check_that_fails_in_the_handler_prints_one_line_and_aborts) {
  set_handler(fail_while_reporting);
  EXPECT_EXIT(
      CALM_REQUIRE(I2, 1 > 2), testing::KilledBySignal(SIGABRT),
      "^calm: a check failed while another was being reported: 2 > 3 at tests/unit/check/report_test.cpp:[0-9]+, "
      "law OBL-10\n$");
  set_handler(nullptr);
}

TEST(ReportDeathTest, a_check_that_fails_in_a_values_to_string_prints_one_line_and_aborts) {
  EXPECT_EXIT(CALM_REQUIRE(I2, 1 > 2, FailsToPrint{}), testing::KilledBySignal(SIGABRT),
              "^calm: a check failed while another was being reported: 3 > 4 at .*, law OBL-10\n$");
}

}  // namespace
}  // namespace calm::check
