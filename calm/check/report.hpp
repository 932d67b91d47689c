// report.hpp — what a failed check says, and who hears it.
// Laws:    none of its own; the report names the law that was broken
// Threads: set_handler anywhere; the handler runs on the thread whose check failed, on several at once if several fail
// Cancel:  not applicable
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string_view>

#include "calm/check/require.hpp"

namespace calm::check {

/// A failed check as text and as its parts. Holds everything itself, so a handler may copy it out:
///   calm: invariant broken: live_ == count_live()
///     values: live_ = 3, count_live() = 2
///     at:     calm/kernel/region.cpp:88 in Region::verify
///     law:    REG-4
///     next:   this is a bug in calm: report it with this text
class Report {
 public:
  /// Gives: the finished report; parts that are too long end in "…".
  Report(const Site& site, std::initializer_list<Value> values) noexcept;

  Kind kind() const noexcept { return kind_; }
  std::string_view law() const noexcept { return view(law_); }
  std::string_view condition() const noexcept { return view(condition_); }
  std::string_view values() const noexcept { return view(values_); }  // a = 1, b = 2
  std::string_view file() const noexcept { return view(file_); }      // see short_file in place.hpp
  int line() const noexcept { return line_; }
  std::string_view function() const noexcept { return view(function_); }  // Region::verify
  std::string_view text() const noexcept { return view(text_); }          // every line, each ended by a newline

 private:
  struct Part {  // a piece of buffer_, as positions: a copied report points into itself
    std::size_t start = 0;
    std::size_t size = 0;
  };
  std::string_view view(Part part) const noexcept { return {buffer_ + part.start, part.size}; }

  Kind kind_;
  int line_;
  Part law_, condition_, values_, file_, function_, text_;
  char buffer_[2048];
};

/// Hears of a failed check. May throw: the exception leaves the check, but at a noexcept function C++ terminates the
/// program. If it returns, the process aborts. A check that fails inside it prints one line and aborts.
using Handler = void (*)(const Report&);

/// Needs: a handler that several threads may call, or nullptr for the default: write the text to stderr.
/// Gives: the handler until now, nullptr for the default.
Handler set_handler(Handler handler) noexcept;

/// Installs a handler and puts the previous one back at the end of its block.
class [[nodiscard]] ScopedHandler {
 public:
  explicit ScopedHandler(Handler handler) noexcept : previous_(set_handler(handler)) {}
  ~ScopedHandler() { set_handler(previous_); }

  ScopedHandler(const ScopedHandler&) = delete;
  ScopedHandler& operator=(const ScopedHandler&) = delete;

 private:
  Handler previous_;
};

}  // namespace calm::check
