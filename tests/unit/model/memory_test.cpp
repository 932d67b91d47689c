// What the model does when there is no memory.
#include <gtest/gtest.h>

#include <new>
#include <string>

#include "calm/model/outcome.hpp"
#include "calm/model/witness.hpp"
#include "tests/no_memory.hpp"

namespace calm {
namespace {

const RegionId region(1, Generation());

Reason shutdown() {
  return Reason(ReasonSpec{.kind = CancelKind::shutdown, .region = region, .at = Time::at_ns(5), .message = "SIGTERM"});
}

TEST(ModelWithoutMemory, a_reason_without_reserve_says_bad_alloc) {
  const NoMemory gone;
  EXPECT_THROW(Reason(ReasonSpec{}), std::bad_alloc);
}

TEST(ModelWithoutMemory, a_reason_with_reserve_keeps_all_but_message_and_causes) {
  const Reason cause = shutdown();
  ReasonReserve reserve = ReasonReserve::take();
  ASSERT_TRUE(reserve);
  ReasonSpec spec = parent_cancelled(cause, region, Time::at_ns(6));
  spec.message = "lost";
  const Reason whole(spec);
  Reason kept;
  {
    const NoMemory gone;
    kept = Reason(spec, std::move(reserve));
  }
  EXPECT_EQ(kept.kind(), CancelKind::parent_cancelled);
  EXPECT_EQ(kept.severity(), whole.severity());
  EXPECT_EQ(kept.cleanup(), whole.cleanup());
  EXPECT_EQ(kept.region(), whole.region());
  EXPECT_EQ(kept.at(), whole.at());
  EXPECT_EQ(kept.levels().depth, 1U);
  EXPECT_EQ(kept.message(), "");
  EXPECT_TRUE(kept.truncated());
}

TEST(ModelWithoutMemory, a_reserve_that_could_not_be_taken_is_empty) {
  const NoMemory gone;
  EXPECT_FALSE(ReasonReserve::take());
}

TEST(ModelWithoutMemory, strengthening_by_an_unshared_reason_never_fails) {
  const Reason held = shutdown();
  const Reason held_too = held;
  Reason tighter(ReasonSpec{.kind = CancelKind::user, .at = Time(), .cleanup_time = Duration::nanoseconds(1)});
  const Budget expected = meet(held.cleanup(), tighter.cleanup());
  Reason both;
  {
    const NoMemory gone;
    both = strengthen(held, std::move(tighter));
  }
  EXPECT_EQ(both.kind(), CancelKind::shutdown);
  EXPECT_EQ(both.severity(), 5);
  EXPECT_EQ(both.cleanup(), expected);
  EXPECT_TRUE(both.truncated()) << "the message is gone and the mark says so";
  EXPECT_EQ(held, held_too);
  EXPECT_EQ(held.message(), "SIGTERM");
}

TEST(ModelWithoutMemory, strengthening_two_shared_reasons_fails_and_changes_nothing) {
  const Reason strong = shutdown();
  const Reason tight(ReasonSpec{.kind = CancelKind::user, .at = Time(), .cleanup_time = Duration::nanoseconds(1)});
  const Reason strong_before = strong;
  const std::string before = strong.explain() + tight.explain();
  {
    const NoMemory gone;
    EXPECT_THROW((void)strengthen(strong, tight), std::bad_alloc);
  }
  EXPECT_EQ(strong.explain() + tight.explain(), before);
}

TEST(ModelWithoutMemory, a_cancel_record_keeps_its_reason_when_strengthening_fails) {
  EpochCounter epochs;
  CancelRecord record;
  record.request(shutdown(), epochs);
  const Reason tight(ReasonSpec{.kind = CancelKind::user, .at = Time(), .cleanup_time = Duration::nanoseconds(1)});
  {
    const NoMemory gone;
    EXPECT_THROW(record.request(tight, epochs), std::bad_alloc);
  }
  EXPECT_EQ(record.reason(), shutdown());
  EXPECT_EQ(record.epoch().value, 1U);
}

TEST(ModelWithoutMemory, an_error_keeps_its_code_and_says_that_the_text_is_lost) {
  const Error cause(Errc::io);
  Error error = Errc::full;
  Error caused = Errc::full;
  {
    const NoMemory gone;
    error = Error(Errc::busy, "a message too long for any small string inside the error");
    caused = error.because(cause);
  }
  EXPECT_EQ(error.code(), Errc::busy);
  EXPECT_EQ(error.message(), "(no memory for the message)");
  EXPECT_EQ(caused.code(), Errc::busy);
  EXPECT_EQ(caused.cause(), nullptr);
  EXPECT_EQ(caused.message(), "(no memory for the message)");
}

TEST(ModelWithoutMemory, notes_say_that_some_are_missing) {
  Notes notes;
  const Note note(OutcomeKind::err, "a note with a text too long for the small string");
  {
    const NoMemory gone;
    notes.add(note);
  }
  EXPECT_EQ(notes.size(), 0U);
  EXPECT_TRUE(notes.incomplete());
  EXPECT_FALSE(notes.empty());
}

TEST(ModelWithoutMemory, a_panic_stays_a_panic) {
  const std::string message(200, 'm');
  std::exception_ptr exception;
  {
    const NoMemory gone;
    exception = Panic::with_message(message).exception();
  }
  EXPECT_THROW(std::rethrow_exception(exception), std::bad_alloc);
}

TEST(ModelWithoutMemory, plain_outcomes_budgets_and_errors_never_allocate) {
  const Reason reason = shutdown();
  const NoMemory gone;
  Outcome<int> value = ok(1);
  const Outcome<int> full = err(Errc::full);
  const Outcome<int> stopped = cancelled(reason);
  value = join(value, full);
  EXPECT_TRUE(value.is_err());
  value = join(value, stopped);
  EXPECT_TRUE(value.is_cancelled());
  value = join(value, stopped);
  EXPECT_TRUE(value.is_cancelled());
  EXPECT_EQ(full.value_or(4), 4);
}

}  // namespace
}  // namespace calm
