// notes.hpp — what an outcome has to say beside its payload, such as a race loser that panicked.
// Laws:    OUT-5
// Threads: the notes may be shared by any threads; one Notes object belongs to one thread at a time
// Cancel:  not applicable
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "calm/mem/ref.hpp"
#include "calm/model/outcome_kind.hpp"
#include "calm/model/panic.hpp"

namespace calm {

/// One remark: how bad, what, and the exception if there was one.
class Note {
 public:
  Note(OutcomeKind kind, std::string text) : kind_(kind), text_(std::move(text)) {}
  Note(std::string text, const Panic& panic)
      : kind_(OutcomeKind::panicked), text_(std::move(text)), exception_(panic.exception()) {}

  [[nodiscard]] OutcomeKind kind() const noexcept { return kind_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// Gives: the exception, or null.
  [[nodiscard]] const std::exception_ptr& exception() const noexcept { return exception_; }

  friend bool operator==(const Note&, const Note&) noexcept = default;

 private:
  OutcomeKind kind_;
  std::string text_;
  std::exception_ptr exception_;
};

namespace detail {

/// The notes themselves are out of sight: <vector> would add a sixth to the price of outcome.hpp.
struct NoteList : mem::RefCounted {
  static void destroy(const NoteList* list) noexcept;
};

}  // namespace detail

/// Notes in the order they were made, each once, 64 at most. None costs nothing; copies share.
class Notes {
 public:
  static constexpr std::size_t limit = 64;

  constexpr Notes() noexcept = default;
  constexpr Notes(const Notes& other) noexcept : word_(other.word_) {
    if (has_list()) list()->retain();
  }
  constexpr Notes(Notes&& other) noexcept : word_(std::exchange(other.word_, 0)) {}
  constexpr Notes& operator=(Notes other) noexcept {
    std::swap(word_, other.word_);
    return *this;
  }
  constexpr ~Notes() {
    if (has_list() && list()->release()) detail::NoteList::destroy(list());
  }

  /// Adds a note that is not there yet. At the limit or without memory it is dropped, and incomplete() says so.
  void add(const Note& note) noexcept;

  /// Adds the other's notes behind these. Associative and idempotent.
  void merge(const Notes& other) noexcept;

  [[nodiscard]] constexpr bool empty() const noexcept { return word_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] const Note* begin() const noexcept;
  [[nodiscard]] const Note* end() const noexcept;

  /// Gives: true when a note was dropped.
  [[nodiscard]] constexpr bool incomplete() const noexcept { return (word_ & incomplete_bit) != 0; }

  friend bool operator==(const Notes& a, const Notes& b) noexcept;

 private:
  // The address of the list and, in a bit that no address has, whether a note was dropped: every Outcome has this word.
  static constexpr std::uintptr_t incomplete_bit = 1;

  [[nodiscard]] constexpr bool has_list() const noexcept { return (word_ & ~incomplete_bit) != 0; }
  [[nodiscard]] detail::NoteList* list() const noexcept {
    const std::uintptr_t address = word_ & ~incomplete_bit;
    return reinterpret_cast<detail::NoteList*>(address);  // NOLINT(performance-no-int-to-ptr): it was made from one
  }
  void set_list(detail::NoteList* list) noexcept;

  std::uintptr_t word_ = 0;
};

/// Gives: `Panicked: loser 2: boom`.
std::string to_string(const Note& note);

}  // namespace calm
