#include "calm/model/error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "calm/model/panic.hpp"

namespace calm {
namespace {

TEST(ErrorValue, knows_code_message_and_place) {
  const unsigned line = __LINE__ + 1;
  const Error error(Errc::full, "queue of 64");
  EXPECT_EQ(error.code(), Errc::full);
  EXPECT_EQ(error.message(), "queue of 64");
  EXPECT_EQ(error.where().line(), line);
  EXPECT_EQ(to_string(error), "full: queue of 64");
  EXPECT_EQ(to_string(Error(Errc::io)), "io");
}

TEST(ErrorValue, a_code_alone_is_a_constant) {
  constexpr Error error = Errc::busy;
  static_assert(error.code() == Errc::busy && error == Error(Errc::busy));
  EXPECT_TRUE(error.message().empty());
  EXPECT_EQ(error.cause(), nullptr);
}

TEST(ErrorValue, equality_ignores_the_place) {
  const Error here(Errc::full, "text");
  const Error there(Errc::full, "text");
  EXPECT_EQ(here, there);
  EXPECT_NE(here, Error(Errc::full));
  EXPECT_NE(here, Error(Errc::empty, "text"));
  EXPECT_NE(here, here.because(there));
  EXPECT_EQ(here.because(there), there.because(here));
}

TEST(ErrorValue, explains_cause_and_fix_and_what_led_to_it) {
  const unsigned line = __LINE__ + 1;
  const Error root(Errc::io, "read: ECONNRESET");
  const Error error = Error(Errc::degraded, "mail is down").because(root);
  const std::string text = error.explain();
  const std::string file = "tests/unit/model/error_test.cpp:";
  EXPECT_EQ(text.find("degraded: mail is down\n  at:    " + file + std::to_string(line + 1) + " in "), 0U) << text;
  EXPECT_NE(text.find("\n  cause: " + std::string(describe(Errc::degraded).cause)), std::string::npos) << text;
  EXPECT_NE(text.find("\n  fix:   " + std::string(describe(Errc::degraded).fix)), std::string::npos) << text;
  EXPECT_NE(text.find("\n  because of io: read: ECONNRESET at " + file + std::to_string(line)), std::string::npos)
      << text;
}

TEST(ErrorValue, a_long_line_of_causes_costs_no_stack) {
  Error error(Errc::io, "root");
  for (int i = 0; i < 200'000; ++i) error = Error(Errc::degraded, "next").because(error);
  const Error copy = error;
  EXPECT_EQ(copy, error);
  error = Error(Errc::io);
  EXPECT_EQ(copy.cause()->code(), Errc::degraded);
}

TEST(PanicValue, keeps_the_exception) {
  const Panic panic = Panic::with_message("broken");
  EXPECT_EQ(panic.what(), "broken");
  EXPECT_THROW(panic.rethrow(), PanicError);
  EXPECT_EQ(Panic(std::make_exception_ptr(42)).what(), "an exception that is no std::exception");
  Panic other(std::make_exception_ptr(1));
  EXPECT_FALSE(other == panic);
  other = panic;
  EXPECT_EQ(other, panic);
  EXPECT_EQ(to_string(other), "broken");
  EXPECT_DEATH(Panic{std::exception_ptr()}, "law: +OUT-5");
}

}  // namespace
}  // namespace calm
