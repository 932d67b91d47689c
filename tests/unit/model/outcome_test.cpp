#include "calm/model/outcome.hpp"

#include <gtest/gtest.h>

#include <any>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/show.hpp"

namespace calm {
namespace {

Reason stop() { return Reason(ReasonSpec{.kind = CancelKind::timeout, .message = "late"}); }

std::exception_ptr boom() {
  static const std::exception_ptr exception = std::make_exception_ptr(std::runtime_error("boom"));
  return exception;
}

std::vector<Outcome<std::string>> one_of_each() {
  return {ok(std::string("value")), err(Errc::full, "no room"), cancelled(stop()), panicked(boom())};
}

TEST(OutcomeValue, is_small_and_a_constant_where_it_can_be) {
  static_assert(sizeof(Outcome<int>) <= 32);
  static_assert(sizeof(Outcome<void>) <= 32);
  constexpr Outcome<int> three = ok(3);
  constexpr Outcome<int> copy = three;
  static_assert(copy.map([](int value) { return value + 1; }).value() == 4);
  static_assert(three.value_or(7) == 3 && Outcome<int>(err(Errc::io)).value_or(7) == 7);
  static_assert(std::is_nothrow_move_constructible_v<Outcome<std::string>>);
  static_assert(!std::is_copy_constructible_v<Outcome<std::unique_ptr<int>>>);
  static_assert(!std::is_copy_assignable_v<Outcome<std::unique_ptr<int>>>);
}

TEST(OutcomeValue, is_made_from_plain_values_and_errors_where_only_one_can_be_meant) {
  const Outcome<int> value = 3;
  EXPECT_EQ(value, Outcome<int>(ok(3)));
  const Outcome<int> error = Errc::full;
  EXPECT_EQ(error, Outcome<int>(err(Errc::full)));
  const Outcome<int> with_text = Error(Errc::full, "no room");
  EXPECT_EQ(with_text.error().message(), "no room");
  static_assert(!std::is_convertible_v<int, Outcome<int, int>>, "an int could be meant either way");
  static_assert(std::is_convertible_v<Ok<int>, Outcome<int, int>> &&
                std::is_convertible_v<Err<int>, Outcome<int, int>>);
}

TEST(OutcomeValue, a_value_that_takes_anything_does_not_take_the_parts_of_an_outcome) {
  EXPECT_TRUE(Outcome<std::any>(cancelled(stop())).is_cancelled());
  EXPECT_TRUE(Outcome<std::any>(panicked(boom())).is_panicked());
  const Outcome<std::any> three = ok(3);
  EXPECT_EQ(std::any_cast<int>(three.value()), 3);
}

TEST(OutcomeValue, every_kind_can_be_assigned_to_every_other) {
  for (const auto& from : one_of_each()) {
    for (const auto& to : one_of_each()) {
      Outcome<std::string> target = to;
      target = from;
      EXPECT_EQ(target, from);
      Outcome<std::string> moved = to;
      moved = Outcome<std::string>(from);
      EXPECT_EQ(moved, from);
      const Outcome<std::string>& same = target;
      target = same;
      EXPECT_EQ(target, from);
    }
  }
}

TEST(OutcomeValue, its_kind_does_not_go_with_its_notes) {
  Outcome<std::string> other = ok(std::string("other"));
  other.add_note(Note(OutcomeKind::err, "another"));
  for (const auto& each : one_of_each()) {
    Outcome<std::string> end = each;
    end.add_note(Note(OutcomeKind::err, "a note"));
    EXPECT_EQ(end.kind(), each.kind());
    const Notes copy = end.notes();
    EXPECT_EQ(Outcome<int>(ok(2)).with_notes(copy).kind(), OutcomeKind::ok);
    end = std::move(end).with_notes(other.notes());
    EXPECT_EQ(end, each);
    EXPECT_EQ(end.notes(), other.notes());
    const Outcome<std::string> moved = std::move(end);
    EXPECT_EQ(moved, each);
    EXPECT_EQ(moved.notes(), other.notes());
    EXPECT_EQ(end.kind(), each.kind());  // NOLINT(bugprone-use-after-move,hicpp-invalid-access-moved): the kind stays
    EXPECT_TRUE(end.notes().empty());
    end = moved;
    EXPECT_EQ(end, each);
    EXPECT_EQ(end.notes(), moved.notes());
  }
  EXPECT_TRUE(Notes::dropped().incomplete());
  EXPECT_FALSE(Notes::dropped().empty());
  EXPECT_EQ(Notes::dropped().size(), 0U);
}

TEST(OutcomeValue, holds_move_only_values) {
  Outcome<std::unique_ptr<int>> owner = ok(std::make_unique<int>(5));
  Outcome<std::unique_ptr<int>> next = std::move(owner);
  Outcome<int> read = std::move(next).map([](std::unique_ptr<int> pointer) { return *pointer; });
  EXPECT_EQ(read.value(), 5);
  Outcome<std::unique_ptr<int>> again = ok(std::make_unique<int>(6));
  const std::unique_ptr<int> taken = std::move(again).value();
  EXPECT_EQ(*taken, 6);
  EXPECT_EQ(Outcome<std::unique_ptr<int>>(err(Errc::io)).value_or(nullptr), nullptr);
}

struct ThrowsOnMove {
  explicit ThrowsOnMove(int number) : value(number) {}
  ThrowsOnMove(const ThrowsOnMove&) = default;
  ThrowsOnMove(ThrowsOnMove&& other) : value(other.value) {
    if (armed) throw std::runtime_error("moved");
  }
  ThrowsOnMove& operator=(const ThrowsOnMove&) = default;
  ThrowsOnMove& operator=(ThrowsOnMove&&) = default;
  ~ThrowsOnMove() = default;
  int value;
  static inline bool armed = false;
};

TEST(OutcomeValue, becomes_panicked_when_moving_a_value_in_throws) {
  Outcome<ThrowsOnMove> target = err(Errc::full);
  Outcome<ThrowsOnMove> source = ok(ThrowsOnMove(1));
  ThrowsOnMove::armed = true;
  EXPECT_THROW(target = std::move(source), std::runtime_error);
  ThrowsOnMove::armed = false;
  ASSERT_TRUE(target.is_panicked());
  EXPECT_EQ(target.panic().what(), "moved");
}

TEST(OutcomeValue, destroys_what_it_held) {
  const auto counted = std::make_shared<int>(1);
  {
    Outcome<std::shared_ptr<int>> holder = ok(counted);
    EXPECT_EQ(counted.use_count(), 2);
    holder = Outcome<std::shared_ptr<int>>(err(Errc::io));
    EXPECT_EQ(counted.use_count(), 1);
    holder = ok(counted);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(OutcomeValue, map_touches_ok_only) {
  for (const auto& end : one_of_each()) {
    const Outcome<std::size_t> size = end.map([](const std::string& text) { return text.size(); });
    EXPECT_EQ(size.kind(), end.kind());
    if (end.is_ok()) {
      EXPECT_EQ(size.value(), 5U);
    }
    if (end.is_err()) {
      EXPECT_EQ(size.error(), end.error());
    }
    if (end.is_cancelled()) {
      EXPECT_EQ(size.reason(), end.reason());
    }
    if (end.is_panicked()) {
      EXPECT_EQ(size.panic(), end.panic());
    }
  }
}

TEST(OutcomeValue, map_err_touches_err_only) {
  for (const auto& end : one_of_each()) {
    const Outcome<std::string, int> coded =
        end.map_err([](const Error& error) { return static_cast<int>(error.code()); });
    EXPECT_EQ(coded.kind(), end.kind());
    if (end.is_ok()) {
      EXPECT_EQ(coded.value(), "value");
    }
    if (end.is_err()) {
      EXPECT_EQ(coded.error(), 26);
    }
    if (end.is_cancelled()) {
      EXPECT_EQ(coded.reason(), end.reason());
    }
  }
}

TEST(OutcomeValue, and_then_goes_on_after_ok_only) {
  for (const auto& end : one_of_each()) {
    int calls = 0;
    const Outcome<int> next = end.and_then([&calls](const std::string& text) -> Outcome<int> {
      ++calls;
      return ok(static_cast<int>(text.size()));
    });
    EXPECT_EQ(calls, end.is_ok() ? 1 : 0);
    EXPECT_EQ(next.kind(), end.kind());
  }
}

TEST(OutcomeValue, works_without_a_value) {
  const Outcome<void> done = ok();
  EXPECT_TRUE(done);
  EXPECT_EQ(done.map([] { return 3; }), Outcome<int>(ok(3)));
  EXPECT_EQ(done.and_then([]() -> Outcome<int> { return err(Errc::full); }), Outcome<int>(err(Errc::full)));
  const Outcome<int> three = ok(3);
  EXPECT_EQ(three.map([](int) {}), done);
  EXPECT_NO_THROW(done.value());
}

TEST(OutcomeValue, visit_calls_the_function_of_its_kind) {
  std::string seen;
  for (const auto& end : one_of_each()) {
    seen += end.visit([](const std::string& value) { return value + ";"; },
                      [](const Error&) { return std::string("err;"); },
                      [](const Reason& reason) { return std::string(reason.message()) + ";"; },
                      [](const Panic& panic) { return panic.what() + ";"; });
  }
  EXPECT_EQ(seen, "value;err;late;boom;");
}

TEST(OutcomeValue, equality_asks_for_kind_and_payload) {
  const auto all = one_of_each();
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < all.size(); ++j) EXPECT_EQ(all[i] == all[j], i == j);
  }
  EXPECT_NE(Outcome<int>(ok(1)), Outcome<int>(ok(2)));
  EXPECT_NE(Outcome<int>(err(Errc::full)), Outcome<int>(err(Errc::full, "text")));
  EXPECT_NE(Outcome<int>(panicked(boom())), Outcome<int>(panicked(std::make_exception_ptr(1))));
}

struct NoText {};

TEST(OutcomeText, is_one_line_or_a_whole_explanation) {
  EXPECT_EQ(to_string(Outcome<int>(ok(3))), "Ok(3)");
  EXPECT_EQ(to_string(Outcome<bool>(ok(true))), "Ok(true)");
  EXPECT_EQ(to_string(Outcome<std::string>(ok(std::string("a\"b")))), "Ok(\"a\\\"b\")");
  EXPECT_EQ(to_string(Outcome<void>(ok())), "Ok");
  EXPECT_EQ(to_string(Outcome<NoText>(ok(NoText()))), "Ok");
  EXPECT_EQ(to_string(Outcome<Duration>(ok(Duration::seconds(2)))), "Ok(2s)");
  EXPECT_EQ(to_string(Outcome<int>(err(Errc::full, "queue of 64"))), "Err(full: queue of 64)");
  EXPECT_EQ(to_string(Outcome<int, NoText>(err(NoText()))), "Err");
  EXPECT_EQ(to_string(Outcome<int>(cancelled(stop()))), "Cancelled(Timeout at 0s: \"late\")");
  EXPECT_EQ(to_string(Outcome<int>(panicked(boom()))), "Panicked(boom)");
  EXPECT_EQ(Outcome<int>(panicked(boom())).explain(), "Panicked: boom");
  EXPECT_EQ(Outcome<void>(ok()).explain(), "Ok");
  EXPECT_EQ(Outcome<int>(cancelled(stop())).explain(), "Cancelled: " + stop().explain());
}

TEST(OutcomeMisuse, asking_for_the_wrong_payload_names_both_kinds) {
  const Outcome<int> value = ok(3);
  EXPECT_DEATH((void)cancelled(Reason()), "law: +OUT-1");
  EXPECT_DEATH((void)value.error(),
               "requirement not met: kind\\(\\) == wanted\n.*values: kind\\(\\) = Ok, wanted = Err");
  EXPECT_DEATH((void)value.reason(), "wanted = Cancelled");
  EXPECT_DEATH((void)value.panic(), "wanted = Panicked");
}

}  // namespace
}  // namespace calm
