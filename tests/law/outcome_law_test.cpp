#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "calm/model/outcome.hpp"
#include "tests/law/generators.hpp"

namespace calm {
namespace {

using End = Outcome<int>;

bool identical(const End& a, const End& b) { return a == b && a.notes() == b.notes(); }

const std::vector<End>& all_small_outcomes() {
  static const std::vector<End> all = [] {
    std::vector<End> ends = {ok(1), ok(2), err(Errc::full), err(Errc::empty)};
    for (const CancelKind kind : {CancelKind::user, CancelKind::timeout, CancelKind::deadline, CancelKind::shutdown}) {
      ends.push_back(cancelled(Reason({.kind = kind})));
      ends.push_back(cancelled(Reason({.kind = kind, .at = Time::at_ns(1), .message = "m"})));
    }
    for (const auto& exception : lawtest::exceptions()) ends.push_back(panicked(exception));
    const std::size_t plain = ends.size();
    for (std::size_t i = 0; i < plain; ++i) {
      End noted = ends[i];
      noted.add_note(lawtest::some_notes()[i % 3]);
      ends.push_back(noted);
    }
    return ends;
  }();
  return all;
}

TEST(Outcome, OUT_1_four_kinds_ordered_by_severity) {
  EXPECT_EQ(static_cast<int>(OutcomeKind::ok), 0);
  EXPECT_EQ(static_cast<int>(OutcomeKind::err), 1);
  EXPECT_EQ(static_cast<int>(OutcomeKind::cancelled), 2);
  EXPECT_EQ(static_cast<int>(OutcomeKind::panicked), 3);
  EXPECT_LT(OutcomeKind::ok, OutcomeKind::err);
  EXPECT_LT(OutcomeKind::err, OutcomeKind::cancelled);
  EXPECT_LT(OutcomeKind::cancelled, OutcomeKind::panicked);
}

TEST(Outcome, OUT_1_each_kind_carries_its_payload) {
  const End value = ok(3);
  EXPECT_TRUE(value.is_ok());
  EXPECT_EQ(value.value(), 3);
  const End error = err(Errc::full, "no room");
  EXPECT_TRUE(error.is_err());
  EXPECT_EQ(error.error().code(), Errc::full);
  const Reason why({.kind = CancelKind::timeout});
  const End stopped = cancelled(why);
  EXPECT_TRUE(stopped.is_cancelled());
  EXPECT_EQ(stopped.reason(), why);
  const End broken = panicked(lawtest::exceptions()[0]);
  EXPECT_TRUE(broken.is_panicked());
  EXPECT_EQ(broken.panic().exception(), lawtest::exceptions()[0]);
}

TEST(Outcome, OUT_2_join_of_kinds_is_the_worse_one_in_all_sixteen_cases) {
  for (const OutcomeKind a : outcome_kinds) {
    for (const OutcomeKind b : outcome_kinds) EXPECT_EQ(join(a, b), std::max(a, b));
  }
}

TEST(Outcome, OUT_2_join_is_associative_and_idempotent_on_every_small_outcome) {
  const auto& all = all_small_outcomes();
  for (const End& a : all) {
    ASSERT_TRUE(identical(join(a, a), a)) << a;
    for (const End& b : all) {
      const End ab = join(a, b);
      ASSERT_EQ(ab.kind(), join(b, a).kind()) << a << b;
      for (const End& c : all) {
        if (!identical(join(ab, c), join(a, join(b, c)))) FAIL() << a << b << c;
      }
    }
  }
}

RC_GTEST_PROP(Outcome, OUT_2_join_is_associative_idempotent_and_commutative_in_severity, (End a, End b, End c)) {
  RC_ASSERT(identical(join(join(a, b), c), join(a, join(b, c))));
  RC_ASSERT(identical(join(a, a), a));
  RC_ASSERT(join(a, b).kind() == join(b, a).kind());
  RC_ASSERT(join(a, b).kind() == std::max(a.kind(), b.kind()));
}

RC_GTEST_PROP(Outcome, OUT_2_ok_is_the_identity_and_panicked_absorbs, (End a)) {
  const Outcome<void> unit = ok();
  const Outcome<void> plain = a.map([](int) {});
  RC_ASSERT(join(unit, plain) == plain);
  RC_ASSERT(join(plain, unit) == plain);
  const Outcome<void> panic = panicked(lawtest::exceptions()[1]);
  RC_ASSERT(join(panic, plain) == panic);
  RC_ASSERT(join(plain, panic).is_panicked());
}

RC_GTEST_PROP(Outcome, OUT_3_equal_severity_keeps_the_left_payload_unless_both_are_cancelled, (End a, End b)) {
  RC_PRE(a.kind() == b.kind());
  const End both = join(a, b);
  if (a.is_cancelled()) {
    RC_ASSERT(both.reason() == strengthen(a.reason(), b.reason()));
    RC_ASSERT(both == join(b, a));
  } else {
    RC_ASSERT(both == a);
  }
}

TEST(Outcome, OUT_3_join_is_a_constant_expression_where_nothing_is_cancelled) {
  constexpr End three = ok(3);
  constexpr End full = err(Errc::full);
  static_assert(join(three, End(ok(4))).value() == 3, "OUT-3: of equals the left one");
  static_assert(join(three, full) == full && join(full, three) == full, "OUT-2: the worse one");
}

// --- OUT-5

TEST(Outcome, OUT_5_asking_a_panicked_outcome_for_its_value_rethrows_the_exception) {
  End broken = ok(0);
  try {
    throw std::out_of_range("index 9 of 8");
  } catch (...) {
    broken = panicked();
  }
  EXPECT_THROW((void)broken.value(), std::out_of_range);
  EXPECT_THROW((void)std::move(broken).value(), std::out_of_range);
}

TEST(Outcome, OUT_5_asking_err_or_cancelled_for_a_value_throws_the_explanation) {
  const End error = err(Errc::full, "queue of 64");
  try {
    (void)error.value();
    FAIL();
  } catch (const OutcomeError& thrown) {
    EXPECT_EQ(thrown.kind(), OutcomeKind::err);
    EXPECT_EQ(std::string(thrown.what()), error.explain());
  }
  const End stopped = cancelled(Reason(ReasonSpec{.message = "enough"}));
  EXPECT_THROW((void)stopped.value(), OutcomeError);
}

struct Narrow {
  int code;
};
struct Wide {
  Wide(Narrow narrow) : code(narrow.code * 10) {}  // NOLINT(google-explicit-constructor): the conversion under test
  int code;
};
struct Unrelated {};

TEST(Outcome, OUT_5_err_crosses_error_types_only_where_a_conversion_exists) {
  const Outcome<int, Narrow> narrow = err(Narrow{4});
  const Outcome<int, Wide> wide = narrow;
  EXPECT_EQ(wide.error().code, 40);
  const Outcome<std::string, Wide> next =
      narrow.and_then([](int) -> Outcome<std::string, Wide> { return ok(std::string()); });
  EXPECT_EQ(next.error().code, 40);
  static_assert(std::is_convertible_v<Outcome<int, Narrow>, Outcome<long, Wide>>);
  static_assert(!std::is_convertible_v<Outcome<int, Wide>, Outcome<int, Narrow>>);
  static_assert(!std::is_convertible_v<Outcome<int, Narrow>, Outcome<int, Unrelated>>);
  static_assert(!std::is_convertible_v<Outcome<std::string, Narrow>, Outcome<int, Narrow>>);
}

TEST(Outcome, OUT_5_side_notes_stand_beside_the_payload_and_survive_every_step) {
  End winner = ok(1);
  winner.add_note(Note("branch 2", Panic(lawtest::exceptions()[0])));
  const auto text = winner.map([](int value) { return std::to_string(value); });
  ASSERT_EQ(text.notes().size(), 1U);
  EXPECT_EQ(text.notes().begin()->exception(), lawtest::exceptions()[0]);
  EXPECT_EQ(winner, End(ok(1))) << "a note is no part of the payload";
  EXPECT_NE(winner.explain().find("note: Panicked: branch 2: first"), std::string::npos) << winner.explain();

  const auto failed = winner.and_then([](int) -> Outcome<int> {
    Outcome<int> inner = err(Errc::full);
    inner.add_note(Note(OutcomeKind::ok, "inner"));
    return inner;
  });
  ASSERT_EQ(failed.notes().size(), 2U);
  EXPECT_EQ(failed.notes().begin()->text(), "branch 2") << "notes keep the order they were made in";
  const Outcome<long> converted = winner;
  EXPECT_EQ(converted.notes(), winner.notes());
  const auto other_error = winner.map_err([](const Error& error) { return to_string(error); });
  EXPECT_EQ(other_error.notes(), winner.notes());
}

RC_GTEST_PROP(Outcome, OUT_5_join_keeps_the_notes_of_both_sides_once, (End a, End b)) {
  const End both = join(a, b);
  const auto has = [&both](const Note& note) {
    return std::count(both.notes().begin(), both.notes().end(), note) == 1;
  };
  for (const Note& note : a.notes()) RC_ASSERT(has(note));
  for (const Note& note : b.notes()) RC_ASSERT(has(note));
}

}  // namespace
}  // namespace calm
