// error.hpp — an expected failure: a code of the closed set, where it arose, and if there is more to say, what and why.
// Laws:    HND-2
// Threads: the text may be shared by any threads; one Error object belongs to one thread at a time
// Cancel:  not applicable
#pragma once

#include <source_location>
#include <string>
#include <string_view>

#include "calm/mem/ref.hpp"
#include "calm/model/error_code.hpp"

namespace calm {

class Error;

namespace detail {

/// Message and cause of an error; most errors have neither.
class ErrorText : public mem::RefCounted {
 public:
  static void destroy(const ErrorText* text) noexcept;

  std::string message;
  const Error* cause = nullptr;  // owned
};

}  // namespace detail

/// The default error type of Outcome. Copies share their text; with a code alone nothing is allocated.
class Error {
 public:
  constexpr Error(Errc code,  // NOLINT(google-explicit-constructor): a code is an error
                  std::source_location where = std::source_location::current()) noexcept
      : code_(code), where_(where) {}

  /// Without memory for the text the error keeps its code and place, and says that the text is lost.
  Error(Errc code, std::string_view message, std::source_location where = std::source_location::current()) noexcept;

  /// Gives: the same error, caused by that one. Without memory the cause is lost and the text says so.
  [[nodiscard]] Error because(const Error& cause) const noexcept;

  [[nodiscard]] constexpr Errc code() const noexcept { return code_; }
  [[nodiscard]] constexpr std::source_location where() const noexcept { return where_; }
  [[nodiscard]] std::string_view message() const noexcept;

  /// Gives: the error that led to this one, or nullptr. Valid while an Error that shares it lives.
  [[nodiscard]] const Error* cause() const noexcept { return text_ ? text_->cause : nullptr; }

  /// Gives: what happened, where, why that happens and what to do about it, with all causes.
  [[nodiscard]] std::string explain() const;

  /// Same code, message and causes; the place does not count.
  friend constexpr bool operator==(const Error& a, const Error& b) noexcept {
    if (a.has_no_text() && b.has_no_text()) return a.code_ == b.code_;
    return same_text(a, b);
  }

 private:
  friend class detail::ErrorText;
  [[nodiscard]] constexpr bool has_no_text() const noexcept { return !text_ && !text_lost_; }
  static bool same_text(const Error& a, const Error& b) noexcept;

  Errc code_;
  bool text_lost_ = false;
  std::source_location where_;
  mem::Ref<detail::ErrorText> text_;
};

/// Gives: one line without the place, `full: no room for order 7`.
std::string to_string(const Error& error);

}  // namespace calm
