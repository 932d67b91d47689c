// outcome_text.hpp — outcomes in words, for people and for the exception that value() throws.
// Laws:    OUT-5, OBS-3
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <concepts>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "calm/model/notes.hpp"
#include "calm/model/outcome_kind.hpp"
#include "calm/model/text.hpp"

namespace calm {

/// What value() throws on an outcome that is Err or Cancelled; what() is the explanation.
class OutcomeError : public std::exception {
 public:
  OutcomeError(OutcomeKind kind, std::string explanation) : kind_(kind), explanation_(std::move(explanation)) {}

  [[nodiscard]] OutcomeKind kind() const noexcept { return kind_; }
  [[nodiscard]] const char* what() const noexcept override { return explanation_.c_str(); }

 private:
  OutcomeKind kind_;
  std::string explanation_;
};

namespace detail {

/// Gives: the payload in words, empty when its type has none: to_string() found by its namespace, numbers and strings do.
template <class T>
std::string payload_text(const T& payload) {
  if constexpr (std::same_as<T, bool>) {
    return payload ? "true" : "false";
  } else if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(payload);
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    return calm::quoted(payload);  // std::quoted would be found by its argument
  } else if constexpr (requires { std::string(to_string(payload)); }) {
    return std::string(to_string(payload));
  } else {
    return {};
  }
}

/// Gives: the payload in as many lines as it wants.
template <class T>
std::string payload_explanation(const T& payload) {
  if constexpr (requires { std::string(payload.explain()); }) {
    return payload.explain();
  } else {
    return payload_text(payload);
  }
}

/// Gives: `Ok(3)`, or `Ok` when the payload has no text.
std::string outcome_line(OutcomeKind kind, std::string_view payload);

/// Gives: the kind, the payload's explanation and the notes, one thing a line.
std::string outcome_explanation(OutcomeKind kind, std::string_view payload, const Notes& notes);

}  // namespace detail
}  // namespace calm
