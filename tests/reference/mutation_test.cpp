// A model that is wrong on purpose is caught, and the program that catches it is made small.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "campaign.hpp"
#include "shrink.hpp"

namespace calm::reference {
namespace {

class PlantedFault : public testing::TestWithParam<Fault> {};

TEST_P(PlantedFault, LAB_10_a_planted_difference_is_found_and_shrunk_to_a_handful) {
  Coverage coverage;
  for (std::uint64_t seed = 1; seed < 20'000; ++seed) {
    const Program program = make_program(seed, program_length);
    if (!run(program, coverage, GetParam())) continue;
    const Program small = shrunk(program, GetParam());
    EXPECT_LE(small.operations.size(), 12U) << as_test(small, "too_long");
    EXPECT_TRUE(difference(small).empty()) << "the difference is the planted one only";
    EXPECT_FALSE(difference(small, GetParam()).empty());
    return;
  }
  FAIL() << "no program found it";
}

INSTANTIATE_TEST_SUITE_P(Faults, PlantedFault, testing::ValuesIn(faults));

TEST(Shrink, LAB_10_takes_away_what_is_not_needed_and_makes_numbers_small) {
  const Program program = make_program(7, program_length);
  const auto has_two_spawns = [](const Program& smaller) {
    int spawns = 0;
    for (const Operation& operation : smaller.operations) spawns += operation.what == Do::spawn && operation.b > 4;
    return spawns >= 2;
  };
  ASSERT_TRUE(has_two_spawns(program));
  const Program small = shrink(program, has_two_spawns);
  ASSERT_EQ(small.operations.size(), 2U);
  for (const Operation& operation : small.operations) {
    EXPECT_EQ(operation.what, Do::spawn);
    EXPECT_EQ(operation.b, 5U);
    EXPECT_EQ(operation.a + operation.c + operation.d, 0);
  }
}

TEST(Generator, LAB_10_a_seed_gives_the_same_program_everywhere) {
  Random random(1);
  EXPECT_EQ(random.next(), 0x910A2DEC89025CC1U);
  EXPECT_EQ(make_program(42, 10).operations, make_program(42, 10).operations);
  EXPECT_NE(make_program(42, 10).operations, make_program(43, 10).operations);
}

TEST(Generator, LAB_10_a_program_is_printed_as_a_test) {
  const Program program{{1, 2, 3, 4, 0}, {{Do::spawn, 1, 2, 3, 4}}};
  EXPECT_EQ(as_test(program, "seed_9"),
            "TEST(Found, LAB_10_seed_9) {\n"
            "  expect_same({{1, 2, 3, 4, 0},\n"
            "               {\n"
            "                   {Do::spawn, 1, 2, 3, 4},\n"
            "               }});\n"
            "}\n");
}

}  // namespace
}  // namespace calm::reference
