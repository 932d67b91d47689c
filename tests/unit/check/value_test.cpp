#include "calm/check/value.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "calm/check/require.hpp"
#include "tests/unit/check/thrown_report.hpp"

namespace calm::check {
namespace {

enum class Colour : std::uint8_t { red, green };
constexpr std::string_view to_string(Colour colour) { return colour == Colour::red ? "red" : "green"; }

enum class Level : std::int8_t { low = -3 };
enum class Mark { only };
constexpr const char* to_string(Mark) { return "only"; }
enum Plain : unsigned { seven = 7 };

struct TaskId {
  int number;
};
std::string to_string(TaskId id) { return "t" + std::to_string(id.number); }

struct Broken {};
std::string to_string(Broken) { throw std::runtime_error("no text"); }

struct TwoLines {};
std::string_view to_string(TwoLines) { return "a\nb"; }

struct Silent {
  int member = 0;
};

struct Bits {
  unsigned three : 3;
};

// Gives: what a report shows for `value`.
template <class T>
std::string shown(const T& value) {
  const auto report = report_of([&value] { CALM_REQUIRE(I2, false, value); });
  return std::string(report.value().values().substr(std::string_view("value = ").size()));
}

TEST(Value, integers_of_every_width_are_numbers) {
  EXPECT_EQ(shown(-5), "-5");
  EXPECT_EQ(shown(std::numeric_limits<long long>::min()), "-9223372036854775808");
  EXPECT_EQ(shown(std::numeric_limits<unsigned long long>::max()), "18446744073709551615");
  EXPECT_EQ(shown(std::int8_t{-1}), "-1");
  EXPECT_EQ(shown(std::uint8_t{200}), "200");
  EXPECT_EQ(shown('A'), "65");
  EXPECT_EQ(shown(true), "1");
  EXPECT_EQ(shown(std::byte{255}), "255");
  EXPECT_EQ(shown(std::size_t{3}), "3");
}

TEST(Value, bit_fields_and_volatile_objects_are_copied) {
  const Bits bits{5};
  volatile int device = 4;
  const auto report = report_of([&] { CALM_REQUIRE(I2, false, bits.three, device); });
  EXPECT_EQ(report.value().values(), "bits.three = 5, device = 4");
}

TEST(Value, floating_point_shows_the_shortest_form_that_reads_back) {
  EXPECT_EQ(shown(0.1), "0.1");
  EXPECT_EQ(shown(0.1F), "0.1");
  EXPECT_EQ(shown(2.5L), "2.5");
  EXPECT_EQ(shown(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(shown(std::numeric_limits<double>::denorm_min()), "5e-324");
}

TEST(Value, an_enum_shows_its_to_string_or_its_number) {
  EXPECT_EQ(shown(Colour::green), "green");
  EXPECT_EQ(shown(Mark::only), "only");
  EXPECT_EQ(shown(Level::low), "-3");
  EXPECT_EQ(shown(seven), "7");
}

TEST(Value, a_pointer_is_hexadecimal) {
  EXPECT_EQ(shown(reinterpret_cast<int*>(0xbeef)), "0xbeef");
  EXPECT_EQ(shown(reinterpret_cast<const volatile void*>(0x10)), "0x10");
  EXPECT_EQ(shown(nullptr), "0x0");
  EXPECT_TRUE(shown(&throw_report).starts_with("0x"));
}

TEST(Value, text_is_quoted) {
  EXPECT_EQ(shown(std::string("abc")), "\"abc\"");
  EXPECT_EQ(shown(std::string_view()), "\"\"");
  EXPECT_EQ(shown(std::vector<char>{'x', 'y'}), "\"xy\"");
  EXPECT_EQ(shown(static_cast<const char*>("abc")), "\"abc\"");
  EXPECT_EQ(shown(static_cast<const char*>(nullptr)), "null");
}

TEST(Value, a_char_array_ends_at_its_zero_or_its_size) {
  const char whole[3] = {'a', 'b', 'c'};
  const char early[4] = {'a', '\0', 'b', 'c'};
  const auto report = report_of([&] { CALM_REQUIRE(I2, false, whole, early); });
  EXPECT_EQ(report.value().values(), "whole = \"abc\", early = \"a\"");
}

TEST(Value, a_literal_is_a_message_without_a_name) {
  const auto report = report_of([] { CALM_REQUIRE(I2, false, "the pool is closed", 1 + 1); });
  EXPECT_EQ(report.value().values(), "the pool is closed, 1 + 1 = 2");
}

TEST(Value, an_object_shows_its_to_string) { EXPECT_EQ(shown(TaskId{40}), "t40"); }

TEST(Value, an_object_without_text_says_so) {
  EXPECT_EQ(shown(Silent{}), "<not printable>");
  EXPECT_EQ(shown(&Silent::member), "<not printable>");
  EXPECT_EQ(shown(std::array<int, 2>{}), "<not printable>");
}

TEST(Value, a_to_string_that_throws_does_not_stop_the_report) { EXPECT_EQ(shown(Broken{}), "<to_string failed>"); }

TEST(Value, control_characters_do_not_break_the_line) {
  EXPECT_EQ(shown(TwoLines{}), "a\\nb");
  EXPECT_EQ(shown(std::string("\t\x01\x7f")), "\"\\t\\x01\\x7f\"");
  EXPECT_EQ(shown(std::string("grüß")), "\"grüß\"");
}

}  // namespace
}  // namespace calm::check
