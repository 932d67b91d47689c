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

  template <class... Args>
  constexpr explicit OutcomeStorage(KindTag<OutcomeKind::ok> /*kind*/, Args&&... args)
      : value(std::forward<Args>(args)...), kind(OutcomeKind::ok) {}
  template <class... Args>
  constexpr explicit OutcomeStorage(KindTag<OutcomeKind::err> /*kind*/, Args&&... args)
      : error(std::forward<Args>(args)...), kind(OutcomeKind::err) {}
  constexpr OutcomeStorage(KindTag<OutcomeKind::cancelled> /*kind*/, Reason why) noexcept
      : reason(std::move(why)), kind(OutcomeKind::cancelled) {}
  constexpr OutcomeStorage(KindTag<OutcomeKind::panicked> /*kind*/, const Panic& what) noexcept
      : panic(what), kind(OutcomeKind::panicked) {}

  OutcomeStorage(const OutcomeStorage&) = delete;
  OutcomeStorage& operator=(const OutcomeStorage&) = delete;
  constexpr ~OutcomeStorage() {
    if (kind == OutcomeKind::ok) [[likely]] {
      value.~T();
    } else {
      destroy();
    }
  }

  /// Gives: the same payload, copied from an lvalue or moved from an rvalue, converted where the types differ.
  template <class Other>
  static constexpr OutcomeStorage from(Other&& other) {
    switch (other.kind) {
      case OutcomeKind::ok:
        return OutcomeStorage(KindTag<OutcomeKind::ok>(), std::forward<Other>(other).value);
      case OutcomeKind::err:
        return OutcomeStorage(KindTag<OutcomeKind::err>(), std::forward<Other>(other).error);
      case OutcomeKind::cancelled:
        return OutcomeStorage(KindTag<OutcomeKind::cancelled>(), std::forward<Other>(other).reason);
      case OutcomeKind::panicked:
        break;
    }
    return OutcomeStorage(KindTag<OutcomeKind::panicked>(), other.panic);
  }

  /// Takes over the other's payload. Should moving it throw, this becomes Panicked with that exception, which goes on.
  void replace(OutcomeStorage&& other) noexcept(moves_without_throwing) {
    destroy();
    if constexpr (moves_without_throwing) {
      new (this) OutcomeStorage(from(std::move(other)));
    } else {
      try {
        new (this) OutcomeStorage(from(std::move(other)));
      } catch (...) {
        new (this) OutcomeStorage(KindTag<OutcomeKind::panicked>(), Panic(std::current_exception()));
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
  OutcomeKind kind;

 private:
  constexpr void destroy() noexcept {
    switch (kind) {
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
