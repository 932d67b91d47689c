// The word of a schedule: short, safe in a shell, and read strictly.
#include "calm/lab/schedule.hpp"

#include <gtest/gtest.h>

#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace calm::lab {
namespace {

using Choices = std::vector<std::uint32_t>;

TEST(Schedule, LAB_3_a_word_is_short_and_says_what_it_means) {
  const Schedule schedule{.seed = 7, .choices = Choices{1, 0, 2, 0, 0, 0, 0, 0, 0, 1, 100, 0, 0}};
  const std::string word = to_string(schedule);
  EXPECT_EQ(word.substr(0, word.rfind('-')), "calm1-s7-c1020.6.1_1c_");
  Schedule read = parse_schedule(word).value();
  read.choices->insert(read.choices->end(), 2, 0);  // zeros at the end are left out
  EXPECT_EQ(read, schedule);
}

TEST(Schedule, LAB_3_LAB_7_faults_are_part_of_the_word) {
  Schedule schedule{.seed = 3};
  schedule.faults = {.cancel_task_at = 5,
                     .cancel_scope_at = 6,
                     .fail_allocation = 70,
                     .spurious_wakes = 100,
                     .clock_jumps = 10,
                     .jump_max = Duration::seconds(1)};
  const std::string word = to_string(schedule);
  EXPECT_EQ(word.substr(0, word.rfind('-')), "calm1-s3-p5-q6-a18-w1c-jA-m15ftgG");
  EXPECT_EQ(parse_schedule(word).value(), schedule);
}

TEST(Schedule, LAB_3_a_word_knows_its_program_by_a_hash) {
  const Schedule schedule{.program = "transfer", .seed = 3};
  const Schedule read = parse_schedule(to_string(schedule)).value();
  EXPECT_EQ(read.program_hash, program_hash("transfer"));
  EXPECT_NE(read.program_hash, program_hash("other"));
  EXPECT_EQ(to_string(read), to_string(schedule));
}

RC_GTEST_PROP(Schedule, LAB_3_every_list_of_choices_comes_back, ()) {
  Choices choices = *rc::gen::container<Choices>(rc::gen::oneOf(rc::gen::inRange<std::uint32_t>(0, 3),
                                                                rc::gen::inRange<std::uint32_t>(0, 70),
                                                                rc::gen::arbitrary<std::uint32_t>()));
  while (!choices.empty() && choices.back() == 0) choices.pop_back();
  const Schedule schedule{.seed = *rc::gen::arbitrary<std::uint64_t>(), .choices = choices};
  const std::string word = to_string(schedule);
  RC_ASSERT(word.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_.") ==
            std::string::npos);
  RC_ASSERT(parse_schedule(word).value() == schedule);
}

RC_GTEST_PROP(Schedule, LAB_3_a_word_with_any_character_changed_is_refused, ()) {
  const Schedule schedule{.seed = *rc::gen::inRange<std::uint64_t>(0, 1000),
                          .choices = Choices{1, 2, 3, 1, 1, 1, 1, 1, 1}};
  std::string word = to_string(schedule);
  const auto at = *rc::gen::inRange<std::size_t>(0, word.size());
  const char was = word[at];
  word[at] = *rc::gen::elementOf(std::string("0aZ-_.z"));
  RC_PRE(word[at] != was);
  RC_ASSERT(!parse_schedule(word).is_ok());
}

std::string refusal(std::string_view word) { return std::string(parse_schedule(word).error().message()); }

TEST(Schedule, LAB_3_what_is_no_word_is_refused_with_the_reason) {
  EXPECT_EQ(refusal(""), "a schedule: no word that begins with calm1- in \"\"");
  EXPECT_EQ(refusal("calm2-s1-z00000000"), "a schedule: no word that begins with calm1- in \"calm2-s1-z000000\"");
  EXPECT_EQ(refusal("calm1-s1"), "a schedule: no checksum at the end in \"s1\"");
  EXPECT_EQ(refusal("calm1-s1-z00000000"), "a schedule: a checksum that does not fit in \"z00000000\"");
  EXPECT_FALSE(decode_choices(".2.").is_ok());
  EXPECT_FALSE(decode_choices("1.2").is_ok());
  EXPECT_FALSE(decode_choices("_1").is_ok());
  EXPECT_FALSE(decode_choices("1.zzzzzzzzz.").is_ok());
  EXPECT_FALSE(decode_choices("!").is_ok());
}

}  // namespace
}  // namespace calm::lab
