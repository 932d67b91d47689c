// place.hpp — shows a source place the same way on every machine and with every compiler.
// Laws:    none
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <cstddef>

namespace calm::check {

/// Gives: the part of `path` from its last calm/, tests/, apps/ or examples/ on; `path` itself when it has none or is
///        relative and does not climb. apps/calm/ stays whole: there calm is a program, not the library.
constexpr const char* short_file(const char* path) noexcept;

/// The name of a function without return type, parameters, template arguments and outer namespaces.
struct FunctionName {
  struct Part {
    const char* data = nullptr;
    std::size_t size = 0;
  };
  Part scope;  // class or innermost namespace; empty when there is none
  Part name;
  bool in_lambda = false;  // the place is in a lambda written in this function
};

/// Needs: __PRETTY_FUNCTION__ of g++ or clang.
/// Gives: void calm::kernel::Box<T>::put(T) [with T = int] as scope Box, name put.
constexpr FunctionName short_function(const char* pretty) noexcept;

namespace detail {

constexpr bool begins_with(const char* text, const char* start) noexcept {
  while (*start != '\0' && *text == *start) {
    ++text;
    ++start;
  }
  return *start == '\0';
}

constexpr bool is_outer_folder(const char* component) noexcept {
  return begins_with(component, "tests/") || begins_with(component, "apps/") || begins_with(component, "examples/");
}

constexpr bool is_any(char c, const char* set) noexcept {
  while (*set != '\0' && *set != c) ++set;
  return *set != '\0';
}

/// Gives: the position after the bracket that closes the one at `open`, or the end of the text.
constexpr const char* after_bracket(const char* open) noexcept {
  int depth = 0;
  for (; *open != '\0'; ++open) {
    if (is_any(*open, "(<{")) ++depth;
    if (is_any(*open, ")>}")) --depth;
    if (depth == 0) return open + 1;
  }
  return open;
}

/// Reads a pretty function name from left to right, one component (the text between two ::) at a time.
class FunctionReader {
 public:
  constexpr explicit FunctionReader(const char* pretty) noexcept : at_(pretty) {}

  constexpr FunctionName read() noexcept {
    while (*at_ != '\0' && component()) {
    }
    return found_;
  }

 private:
  /// Gives: false when the name is complete.
  constexpr bool component() noexcept {
    // No names: (anonymous namespace), {anonymous}, (anonymous class), <lambda(int)>.
    if (is_any(*at_, "({<")) {
      found_.in_lambda =
          begins_with(at_, "<lambda") || begins_with(at_, "(anonymous class)") || begins_with(at_, "(lambda");
      at_ = after_bracket(at_);
    } else if (begins_with(at_, "operator")) {
      return take_operator();
    } else {
      take(identifier_end());
    }
    if (*at_ == '<') at_ = after_bracket(at_);
    const bool parameters = *at_ == '(';
    if (parameters) at_ = after_bracket(at_);
    if (begins_with(at_, "::")) {
      at_ += 2;
      return true;
    }
    if (parameters || found_.in_lambda) return false;
    skip_type();
    return true;
  }

  constexpr const char* identifier_end() const noexcept {
    const char* end = at_;
    while (*end != '\0' && !is_any(*end, ":<( *&")) ++end;
    return end;
  }

  constexpr bool take_operator() noexcept {
    const char* end = at_ + (begins_with(at_, "operator()") ? 10 : 8);
    while (*end != '\0' && *end != '(') ++end;
    if (!found_.in_lambda) take(end);  // the call operator of a lambda is no name of its own
    return false;
  }

  constexpr void take(const char* end) noexcept {
    found_.scope = found_.name;
    found_.name = {.data = at_, .size = static_cast<std::size_t>(end - at_)};
    found_.in_lambda = false;
    at_ = end;
  }

  /// What was read so far was a return type or a keyword.
  constexpr void skip_type() noexcept {
    while (is_any(*at_, " *&")) ++at_;
    if (*at_ != '\0') found_ = {};
    if (*at_ == ':') ++at_;
  }

  const char* at_;
  FunctionName found_;
};

}  // namespace detail

constexpr const char* short_file(const char* path) noexcept {
  if (*path != '/' && *path != '.') return path;
  const char* start = path;
  const char* previous = path;  // the component before the one looked at
  for (const char* at = path; *at != '\0'; ++at) {
    if (*at != '/') continue;
    const char* component = at + 1;
    if (detail::is_outer_folder(component)) start = component;
    if (detail::begins_with(component, "calm/")) start = detail::begins_with(previous, "apps/") ? previous : component;
    previous = component;
  }
  return start;
}

constexpr FunctionName short_function(const char* pretty) noexcept { return detail::FunctionReader(pretty).read(); }

}  // namespace calm::check
