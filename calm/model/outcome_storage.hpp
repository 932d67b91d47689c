// outcome_storage.hpp — one of four payloads in place: the machinery under Outcome.
// Laws:    OUT-1
// Threads: a value like its parts
// Cancel:  not applicable
//
// Copies and moves are factory functions whose result is built in place (guaranteed elision); that keeps them constexpr
// without std::construct_at, whose header would double the compile time of Outcome.
#pragma once

#include <exception>
#include <new>
#include <type_traits>
#include <utility>

#include "calm/model/notes.hpp"
#include "calm/model/outcome_kind.hpp"
#include "calm/model/panic.hpp"
#include "calm/model/reason.hpp"

namespace calm::detail {

template <OutcomeKind kind>
struct KindTag {};

template <class T, class E>
class OutcomeStorage {
 public:
  static constexpr bool moves_without_throwing =
      std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_constructible_v<E>;

  // Each with its notes, which are taken last: should the payload throw, they stay where they are.
  template <class Given, class... Args>
  constexpr OutcomeStorage(KindTag<OutcomeKind::ok> /*kind*/, Given&& given, Args&&... args)
      : value(std::forward<Args>(args)...), notes(OutcomeKind::ok, std::forward<Given>(given)) {}
  template <class Given, class... Args>
  constexpr OutcomeStorage(KindTag<OutcomeKind::err> /*kind*/, Given&& given, Args&&... args)
      : error(std::forward<Args>(args)...), notes(OutcomeKind::err, std::forward<Given>(given)) {}
  template <class Given>
  constexpr OutcomeStorage(KindTag<OutcomeKind::cancelled> /*kind*/, Given&& given, Reason why) noexcept
      : reason(std::move(why)), notes(OutcomeKind::cancelled, std::forward<Given>(given)) {}
  template <class Given>
  constexpr OutcomeStorage(KindTag<OutcomeKind::panicked> /*kind*/, Given&& given, const Panic& what) noexcept
      : panic(what), notes(OutcomeKind::panicked, std::forward<Given>(given)) {}

  OutcomeStorage(const OutcomeStorage&) = delete;
  OutcomeStorage& operator=(const OutcomeStorage&) = delete;
  constexpr ~OutcomeStorage() {
    if (kind() == OutcomeKind::ok) [[likely]] {
      value.~T();
    } else {
      destroy();
    }
  }

  [[nodiscard]] constexpr OutcomeKind kind() const noexcept { return notes.kind(); }

  /// Gives: the same payload and notes, copied from an lvalue or moved from an rvalue, converted where the types differ.
  template <class Other>
  static constexpr OutcomeStorage from(Other&& other) {
    // NOLINTBEGIN(bugprone-use-after-move): its payload and its notes are two parts of it
    switch (other.kind()) {
      case OutcomeKind::ok:
        return OutcomeStorage(KindTag<OutcomeKind::ok>(), std::forward<Other>(other).notes,
                              std::forward<Other>(other).value);
      case OutcomeKind::err:
        return OutcomeStorage(KindTag<OutcomeKind::err>(), std::forward<Other>(other).notes,
                              std::forward<Other>(other).error);
      case OutcomeKind::cancelled:
        return OutcomeStorage(KindTag<OutcomeKind::cancelled>(), std::forward<Other>(other).notes,
                              std::forward<Other>(other).reason);
      case OutcomeKind::panicked:
        break;
    }
    return OutcomeStorage(KindTag<OutcomeKind::panicked>(), std::forward<Other>(other).notes, other.panic);
    // NOLINTEND(bugprone-use-after-move)
  }

  /// Takes over the other's payload and notes. Should moving it throw, this becomes Panicked with that exception, which goes on,
  /// and each keeps its notes.
  void replace(OutcomeStorage&& other) noexcept(moves_without_throwing) {
    Notes before = std::move(notes);
    destroy();
    if constexpr (moves_without_throwing) {
      new (this) OutcomeStorage(from(std::move(other)));
    } else {
      try {
        new (this) OutcomeStorage(from(std::move(other)));
      } catch (...) {
        new (this) OutcomeStorage(KindTag<OutcomeKind::panicked>(), std::move(before), Panic(std::current_exception()));
        throw;
      }
    }
  }

  union {
    T value;
    E error;
    Reason reason;
    Panic panic;
  };
  Notes notes;  // and the kind

 private:
  constexpr void destroy() noexcept {
    switch (kind()) {
      case OutcomeKind::ok:
        value.~T();
        break;
      case OutcomeKind::err:
        error.~E();
        break;
      case OutcomeKind::cancelled:
        reason.~Reason();
        break;
      case OutcomeKind::panicked:
        panic.~Panic();
        break;
    }
  }
};

}  // namespace calm::detail
