#include "calm/model/notes.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace calm {
namespace {

TEST(Notes, keep_their_order_and_each_note_once) {
  Notes notes;
  EXPECT_TRUE(notes.empty());
  notes.add(Note(OutcomeKind::err, "first"));
  notes.add(Note(OutcomeKind::ok, "second"));
  notes.add(Note(OutcomeKind::err, "first"));
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes.begin()[0].text(), "first");
  EXPECT_EQ(notes.begin()[1].text(), "second");
}

TEST(Notes, copies_share_until_one_of_them_grows) {
  Notes notes;
  notes.add(Note(OutcomeKind::err, "shared"));
  Notes copy = notes;
  EXPECT_EQ(copy.begin(), notes.begin());
  copy.add(Note(OutcomeKind::err, "own"));
  EXPECT_EQ(notes.size(), 1U);
  EXPECT_EQ(copy.size(), 2U);
}

TEST(Notes, merge_puts_what_is_new_behind) {
  Notes left;
  left.add(Note(OutcomeKind::err, "a"));
  Notes right;
  right.add(Note(OutcomeKind::err, "b"));
  right.add(Note(OutcomeKind::err, "a"));
  left.merge(right);
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(left.begin()[1].text(), "b");
  Notes none;
  none.merge(left);
  EXPECT_EQ(none, left);
  left.merge(Notes());
  EXPECT_EQ(none, left);
}

TEST(Notes, beyond_the_limit_they_say_that_some_are_missing) {
  Notes notes;
  for (std::size_t i = 0; i < Notes::limit; ++i) notes.add(Note(OutcomeKind::err, std::to_string(i)));
  EXPECT_EQ(notes.size(), Notes::limit);
  EXPECT_FALSE(notes.incomplete());
  notes.add(Note(OutcomeKind::err, "one too many"));
  EXPECT_EQ(notes.size(), Notes::limit);
  EXPECT_TRUE(notes.incomplete());
  Notes other;
  other.merge(notes);
  EXPECT_TRUE(other.incomplete()) << "the mark goes along";
}

TEST(Notes, have_a_text_with_the_exception_in_it) {
  const Note note("loser 2", Panic(std::make_exception_ptr(std::runtime_error("boom"))));
  EXPECT_EQ(to_string(note), "Panicked: loser 2: boom");
  EXPECT_EQ(to_string(Note(OutcomeKind::err, "slow")), "Err: slow");
}

}  // namespace
}  // namespace calm
