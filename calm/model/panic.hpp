// panic.hpp — an exception that escaped a task, kept.
// Laws:    OUT-1, OUT-5
// Threads: as std::exception_ptr: may be shared; one Panic object belongs to one thread at a time
// Cancel:  not applicable
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <type_traits>

namespace calm {

/// The exception calm itself throws for a panic that no user exception caused.
class PanicError : public std::exception {
 public:
  explicit PanicError(std::string_view message) : message_(message) {}
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// A std::exception_ptr that is never null. It is kept as bytes so that Outcome can be a constant: the destructor of
/// std::exception_ptr is not constexpr in C++20.
class Panic {
 public:
  /// Needs: an exception.
  explicit Panic(const std::exception_ptr& exception) noexcept;

  /// A panic with a PanicError.
  static Panic with_message(std::string_view message) noexcept;

  Panic(const Panic& other) noexcept;
  Panic& operator=(const Panic& other) noexcept;
  constexpr ~Panic() {
    if (!std::is_constant_evaluated()) destroy();
  }

  [[nodiscard]] const std::exception_ptr& exception() const noexcept;
  [[noreturn]] void rethrow() const;

  /// Gives: the what() of the exception, or a sentence that it has none.
  [[nodiscard]] std::string what() const;

  /// True for the same exception object.
  friend bool operator==(const Panic& a, const Panic& b) noexcept;

 private:
  void destroy() noexcept;

  alignas(std::exception_ptr) unsigned char place_[sizeof(std::exception_ptr)];
};

/// Gives: the same as what().
inline std::string to_string(const Panic& panic) { return panic.what(); }

}  // namespace calm
