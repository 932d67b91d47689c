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
struct alignas(8) NoteList : mem::RefCounted {
  static void destroy(const NoteList* list) noexcept;
};

template <class T, class E>
class OutcomeStorage;

}  // namespace detail

/// Notes in the order they were made, each once, 64 at most. None costs nothing; copies share.
class Notes {
 public:
  static constexpr std::size_t limit = 64;

  constexpr Notes() noexcept = default;
  constexpr Notes(const Notes& other) noexcept : word_(other.word_ & ~kind_bits) {
    if (has_list()) list()->retain();
  }
  constexpr Notes(Notes&& other) noexcept : word_(other.leave()) {}
  constexpr Notes& operator=(Notes other) noexcept {
    const std::uintptr_t before = leave();
    word_ |= other.leave();
    other.word_ |= before;
    return *this;
  }
  constexpr ~Notes() {
    if (has_list() && list()->release()) detail::NoteList::destroy(list());
  }

  /// Gives: none, of which some were dropped.
  static constexpr Notes dropped() noexcept {
    Notes notes;
    notes.word_ = incomplete_bit;
    return notes;
  }

  /// Adds a note that is not there yet. At the limit or without memory it is dropped, and incomplete() says so.
  void add(const Note& note) noexcept;

  /// Adds the other's notes behind these. Associative and idempotent.
  void merge(const Notes& other) noexcept;

  [[nodiscard]] constexpr bool empty() const noexcept { return (word_ & ~kind_bits) == 0; }
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] const Note* begin() const noexcept;
  [[nodiscard]] const Note* end() const noexcept;

  /// Gives: true when a note was dropped.
  [[nodiscard]] constexpr bool incomplete() const noexcept { return (word_ & incomplete_bit) != 0; }

  friend bool operator==(const Notes& a, const Notes& b) noexcept;

 private:
  template <class T, class E>
  friend class detail::OutcomeStorage;  // whose kind lies here
  // The address of the list and, in bits that no address has, whether a note was dropped, and of which kind the outcome is that
  // these are the notes of: every Outcome has this word. The kind is no part of the notes, and does not go with them.
  static constexpr std::uintptr_t incomplete_bit = 1;
  static constexpr unsigned kind_shift = 1;
  static constexpr std::uintptr_t kind_bits = std::uintptr_t{3} << kind_shift;
  static_assert(alignof(detail::NoteList) > (incomplete_bit | kind_bits), "an address has no such bits");

  /// For an outcome of this kind, which takes over those notes.
  constexpr Notes(OutcomeKind kind, Notes&& of) noexcept
      : word_((static_cast<std::uintptr_t>(kind) << kind_shift) | of.leave()) {}
  constexpr Notes(OutcomeKind kind, const Notes& of) noexcept : Notes(kind, Notes(of)) {}
  [[nodiscard]] constexpr OutcomeKind kind() const noexcept {
    return static_cast<OutcomeKind>((word_ & kind_bits) >> kind_shift);
  }
  /// Gives: the notes, which are no more here.
  constexpr std::uintptr_t leave() noexcept {
    const std::uintptr_t notes = word_ & ~kind_bits;
    word_ &= kind_bits;
    return notes;
  }

  [[nodiscard]] constexpr bool has_list() const noexcept { return (word_ & ~(incomplete_bit | kind_bits)) != 0; }
  [[nodiscard]] detail::NoteList* list() const noexcept {
    const std::uintptr_t address = word_ & ~(incomplete_bit | kind_bits);
    return reinterpret_cast<detail::NoteList*>(address);  // NOLINT(performance-no-int-to-ptr): it was made from one
  }
  void set_list(detail::NoteList* list) noexcept;

  std::uintptr_t word_ = 0;
};

/// Gives: `Panicked: loser 2: boom`.
std::string to_string(const Note& note);

}  // namespace calm
