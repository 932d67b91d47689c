// outcome.hpp — how a piece of work ended: with a value, an error, a cancellation or an exception that escaped.
// Laws:    OUT-1..3, OUT-5
// Threads: a value like its parts
// Cancel:  Cancelled carries the reason
#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

#include "calm/check/require.hpp"
#include "calm/model/error.hpp"
#include "calm/model/notes.hpp"
#include "calm/model/outcome_kind.hpp"
#include "calm/model/outcome_parts.hpp"
#include "calm/model/outcome_storage.hpp"
#include "calm/model/outcome_text.hpp"
#include "calm/model/panic.hpp"
#include "calm/model/reason.hpp"

namespace calm {

template <class T, class E = Error>
class Outcome;

namespace detail {

template <class T>
inline constexpr bool is_outcome = false;
template <class T, class E>
inline constexpr bool is_outcome<Outcome<T, E>> = true;

/// The error type of an outcome; anything else has none, which nothing converts to.
template <class O>
struct ErrorOf {
  using Type = void;
};
template <class T, class E>
struct ErrorOf<Outcome<T, E>> {
  using Type = E;
};

/// Stands where a static_assert has failed, so that the compiler's message ends with it. Never defined.
template <class T>
T not_compiled() noexcept;

/// Calls with the value, or without when there is none to speak of.
template <class F, class V>
constexpr decltype(auto) call_with(F&& f, V&& value) {
  if constexpr (std::same_as<std::remove_cvref_t<V>, Unit>) {
    return std::forward<F>(f)();
  } else {
    return std::forward<F>(f)(std::forward<V>(value));
  }
}

/// The type that stands for a T inside an outcome.
template <class T>
using Held = std::conditional_t<std::is_void_v<T>, Unit, T>;

/// A value that can only be meant as the value, or only as the error.
template <class U, class Wanted, class Other>
concept MeansOnly = std::convertible_to<U, Wanted> && !std::convertible_to<U, Other> &&
                    !is_outcome<std::remove_cvref_t<U>> && !is_outcome_part<std::remove_cvref_t<U>>;

}  // namespace detail

/// Exactly one of Ok(value), Err(error), Cancelled(reason), Panicked(exception), and notes beside it.
template <class T, class E>
class [[nodiscard("an Outcome that nobody looks at loses its error")]] Outcome {
 public:
  using Value = detail::Held<T>;
  static_assert(std::is_object_v<Value> && !std::is_const_v<Value>,
                "an Outcome holds a value: no references, no const");
  static_assert(std::is_object_v<E> && !std::is_const_v<E>,
                "an Outcome holds an error: no references, no const, no void");

  template <class U>
    requires std::convertible_to<U, Value>
  constexpr Outcome(Ok<U> ok)  // NOLINT(google-explicit-constructor): `return ok(3);`
      : storage_(detail::KindTag<OutcomeKind::ok>(), Notes(), std::move(ok.value)) {}
  template <class F>
    requires std::convertible_to<F, E>
  constexpr Outcome(Err<F> err)  // NOLINT(google-explicit-constructor): `return err(Errc::full);`
      : storage_(detail::KindTag<OutcomeKind::err>(), Notes(), std::move(err.error)) {}
  constexpr Outcome(Cancelled cancelled) noexcept  // NOLINT(google-explicit-constructor)
      : storage_(detail::KindTag<OutcomeKind::cancelled>(), Notes(), std::move(cancelled.reason)) {}
  constexpr Outcome(const Panicked& panicked) noexcept  // NOLINT(google-explicit-constructor)
      : storage_(detail::KindTag<OutcomeKind::panicked>(), Notes(), panicked.panic) {}

  /// A plain value or a plain error, where only one of them can be meant.
  template <class U>
    requires detail::MeansOnly<U, Value, E>
  constexpr Outcome(U&& value)  // NOLINT(google-explicit-constructor): `return 3;`
      : storage_(detail::KindTag<OutcomeKind::ok>(), Notes(), std::forward<U>(value)) {}
  template <class F>
    requires detail::MeansOnly<F, E, Value>
  constexpr Outcome(F&& error)  // NOLINT(google-explicit-constructor): `return Error(Errc::full);`
      : storage_(detail::KindTag<OutcomeKind::err>(), Notes(), std::forward<F>(error)) {}

  constexpr Outcome(const Outcome& other)
    requires(std::copy_constructible<Value> && std::copy_constructible<E>)
      : storage_(Storage::from(other.storage_)) {}
  constexpr Outcome(Outcome&& other) noexcept(Storage::moves_without_throwing)
      : storage_(Storage::from(std::move(other.storage_))) {}

  /// From an outcome of other types: only where value and error convert (OUT-5).
  template <class U, class F>
    requires(!std::same_as<Outcome<U, F>, Outcome> && std::convertible_to<detail::Held<U>, Value> &&
             std::convertible_to<F, E>)
  constexpr Outcome(Outcome<U, F> other)  // NOLINT(google-explicit-constructor)
      : storage_(Storage::from(std::move(other.storage_))) {}

  Outcome& operator=(const Outcome& other)
    requires(std::copy_constructible<Value> && std::copy_constructible<E>)
  {
    return *this = Outcome(other);
  }
  Outcome& operator=(Outcome&& other) noexcept(Storage::moves_without_throwing) {
    if (this == &other) return *this;
    storage_.replace(std::move(other.storage_));
    return *this;
  }
  constexpr ~Outcome() = default;

  [[nodiscard]] constexpr OutcomeKind kind() const noexcept { return storage_.kind(); }
  [[nodiscard]] constexpr bool is_ok() const noexcept { return kind() == OutcomeKind::ok; }
  [[nodiscard]] constexpr bool is_err() const noexcept { return kind() == OutcomeKind::err; }
  [[nodiscard]] constexpr bool is_cancelled() const noexcept { return kind() == OutcomeKind::cancelled; }
  [[nodiscard]] constexpr bool is_panicked() const noexcept { return kind() == OutcomeKind::panicked; }
  constexpr explicit operator bool() const noexcept { return is_ok(); }

  /// Gives: the value. Fails: Panicked rethrows its exception (OUT-5); Err and Cancelled throw OutcomeError.
  constexpr Value& value() & { return demand_value(), storage_.value; }
  constexpr const Value& value() const& { return demand_value(), storage_.value; }
  constexpr Value&& value() && { return demand_value(), std::move(storage_.value); }

  /// Gives: the payload. Needs: an outcome of that kind.
  [[nodiscard]] constexpr const E& error() const& noexcept { return demand(OutcomeKind::err), storage_.error; }
  [[nodiscard]] constexpr E&& error() && noexcept { return demand(OutcomeKind::err), std::move(storage_.error); }
  [[nodiscard]] constexpr const Reason& reason() const noexcept {
    return demand(OutcomeKind::cancelled), storage_.reason;
  }
  [[nodiscard]] constexpr const Panic& panic() const noexcept { return demand(OutcomeKind::panicked), storage_.panic; }

  /// Gives: the value of an Ok, else the one given.
  template <class U>
  [[nodiscard]] constexpr Value value_or(U&& otherwise) const& {
    return is_ok() ? storage_.value : static_cast<Value>(std::forward<U>(otherwise));
  }
  template <class U>
  [[nodiscard]] constexpr Value value_or(U&& otherwise) && {
    return is_ok() ? std::move(storage_.value) : static_cast<Value>(std::forward<U>(otherwise));
  }

  /// Gives: the same outcome with f(value) in place of an Ok's value. What f throws is the caller's.
  template <class F>
  constexpr auto map(F&& f) const& {
    return mapped(*this, std::forward<F>(f));
  }
  template <class F>
  constexpr auto map(F&& f) && {
    return mapped(std::move(*this), std::forward<F>(f));
  }

  /// Gives: the same outcome with f(error) in place of an Err's error.
  template <class F>
  constexpr auto map_err(F&& f) const& {
    return error_mapped(*this, std::forward<F>(f));
  }
  template <class F>
  constexpr auto map_err(F&& f) && {
    return error_mapped(std::move(*this), std::forward<F>(f));
  }

  /// Gives: for an Ok the outcome f(value), with these notes before its own; anything else as it is.
  template <class F>
  constexpr auto and_then(F&& f) const& {
    return chained(*this, std::forward<F>(f));
  }
  template <class F>
  constexpr auto and_then(F&& f) && {
    return chained(std::move(*this), std::forward<F>(f));
  }

  /// Gives: what the function for its kind returns. All four return one type; nothing can be forgotten.
  template <class OnOk, class OnErr, class OnCancelled, class OnPanicked>
  constexpr auto visit(OnOk&& on_ok, OnErr&& on_err, OnCancelled&& on_cancelled, OnPanicked&& on_panicked) const {
    using Result = decltype(detail::call_with(on_ok, storage_.value));
    static_assert(std::same_as<Result, decltype(on_err(storage_.error))> &&
                      std::same_as<Result, decltype(on_cancelled(storage_.reason))> &&
                      std::same_as<Result, decltype(on_panicked(storage_.panic))>,
                  "the four functions of visit return one type");
    switch (kind()) {
      case OutcomeKind::ok:
        return detail::call_with(on_ok, storage_.value);
      case OutcomeKind::err:
        return on_err(storage_.error);
      case OutcomeKind::cancelled:
        return on_cancelled(storage_.reason);
      case OutcomeKind::panicked:
        break;
    }
    return on_panicked(storage_.panic);
  }

  [[nodiscard]] constexpr const Notes& notes() const noexcept { return storage_.notes; }
  void add_note(const Note& note) noexcept { storage_.notes.add(note); }

  /// Gives: the same outcome with these notes in place of its own.
  [[nodiscard]] constexpr Outcome with_notes(Notes notes) && noexcept(Storage::moves_without_throwing) {
    storage_.notes = std::move(notes);
    return std::move(*this);
  }

  /// Gives: everything there is to say, over several lines.
  [[nodiscard]] std::string explain() const {
    const auto say = [](const auto& payload) { return detail::payload_explanation(payload); };
    return detail::outcome_explanation(kind(), visit(unless_unit(say), say, say, say), notes());
  }

  /// Same kind and payload. Notes are remarks and do not count; compare notes() for them.
  friend constexpr bool operator==(const Outcome& a, const Outcome& b)
    requires(std::equality_comparable<Value> && std::equality_comparable<E>)
  {
    if (a.kind() != b.kind()) return false;
    switch (a.kind()) {
      case OutcomeKind::ok:
        return a.storage_.value == b.storage_.value;
      case OutcomeKind::err:
        return a.storage_.error == b.storage_.error;
      case OutcomeKind::cancelled:
        return a.storage_.reason == b.storage_.reason;
      case OutcomeKind::panicked:
        break;
    }
    return a.storage_.panic == b.storage_.panic;
  }

  /// Gives: one line, `Ok(3)`.
  friend std::string to_string(const Outcome& outcome) {
    const auto say = [](const auto& payload) { return detail::payload_text(payload); };
    return detail::outcome_line(outcome.kind(), outcome.visit(unless_unit(say), say, say, say));
  }

 private:
  template <class U, class F>
  friend class Outcome;
  using Storage = detail::OutcomeStorage<Value, E>;

  constexpr void demand(OutcomeKind wanted) const noexcept { CALM_REQUIRE(OUT_1, kind() == wanted, kind(), wanted); }

  constexpr void demand_value() const {
    if (!is_ok()) [[unlikely]]
      throw_for_value();
  }
  [[noreturn]] void throw_for_value() const {
    if (is_panicked()) storage_.panic.rethrow();
    throw OutcomeError(kind(), explain());
  }

  /// A function for visit that takes an absent value as well.
  template <class F>
  static constexpr auto unless_unit(F f) {
    if constexpr (std::same_as<Value, Unit>) {
      return [] { return std::string(); };
    } else {
      return f;
    }
  }

  /// Payload and notes in place: a chain of steps moves nothing twice.
  template <OutcomeKind made, class... Args>
  constexpr Outcome(detail::KindTag<made> kind, Notes notes, Args&&... payload)
      : storage_(kind, std::move(notes), std::forward<Args>(payload)...) {}

  /// What is not Ok, under another value or error type.
  template <class Result, class Self>
  static constexpr Result failure(Self&& self) {
    if (!self.is_err()) return stopped<Result>(self);
    Notes notes = self.storage_.notes;
    return Result(detail::KindTag<OutcomeKind::err>(), std::move(notes), std::forward<Self>(self).storage_.error);
  }

  /// What is Cancelled or Panicked: the same under any types.
  template <class Result>
  static constexpr Result stopped(const Outcome& self) {
    if (self.is_cancelled()) {
      return Result(detail::KindTag<OutcomeKind::cancelled>(), self.storage_.notes, self.storage_.reason);
    }
    return Result(detail::KindTag<OutcomeKind::panicked>(), self.storage_.notes, self.storage_.panic);
  }

  template <class Self, class F>
  static constexpr auto mapped(Self&& self, F&& f) {
    using Returned = decltype(detail::call_with(f, std::forward<Self>(self).storage_.value));
    using Result = Outcome<std::remove_cvref_t<Returned>, E>;
    constexpr detail::KindTag<OutcomeKind::ok> made;
    if (!self.is_ok()) return failure<Result>(std::forward<Self>(self));
    Notes notes = self.storage_.notes;
    if constexpr (std::is_void_v<Returned>) {
      detail::call_with(f, std::forward<Self>(self).storage_.value);
      return Result(made, std::move(notes));
    } else {
      return Result(made, std::move(notes), detail::call_with(f, std::forward<Self>(self).storage_.value));
    }
  }

  template <class Self, class F>
  static constexpr auto error_mapped(Self&& self, F&& f) {
    using Result = Outcome<T, std::remove_cvref_t<decltype(f(std::forward<Self>(self).storage_.error))>>;
    Notes notes = self.storage_.notes;
    if (self.is_ok()) {
      return Result(detail::KindTag<OutcomeKind::ok>(), std::move(notes), std::forward<Self>(self).storage_.value);
    }
    if (self.is_err()) {
      return Result(detail::KindTag<OutcomeKind::err>(), std::move(notes), f(std::forward<Self>(self).storage_.error));
    }
    return stopped<Result>(self);
  }

  template <class Self, class F>
  static constexpr auto chained(Self&& self, F&& f) {
    using Result = std::remove_cvref_t<decltype(detail::call_with(f, std::forward<Self>(self).storage_.value))>;
    static_assert(detail::is_outcome<Result>,
                  "and_then takes a function that returns an Outcome; use map for a plain value");
    constexpr bool crosses = std::convertible_to<E, typename detail::ErrorOf<Result>::Type>;
    static_assert(!detail::is_outcome<Result> || crosses,
                  "OUT-5: this Err does not convert to the error type of the next step; use map_err first");
    if constexpr (crosses) {
      return chained_to<Result>(std::forward<Self>(self), std::forward<F>(f));
    } else {
      return detail::not_compiled<Result>();
    }
  }

  template <class Result, class Self, class F>
  static constexpr Result chained_to(Self&& self, F&& f) {
    if (!self.is_ok()) return failure<Result>(std::forward<Self>(self));
    if (self.storage_.notes.empty()) return detail::call_with(f, std::forward<Self>(self).storage_.value);
    Notes notes = self.storage_.notes;
    Result result = detail::call_with(f, std::forward<Self>(self).storage_.value);
    notes.merge(result.storage_.notes);
    return std::move(result).with_notes(std::move(notes));
  }

  Storage storage_;
};

/// Gives: the worse of both; of equals the left one, except that two Cancelled strengthen; the notes of both (OUT-2, OUT-3).
/// Fails: std::bad_alloc as strengthen does.
template <class T, class E>
constexpr Outcome<T, E> join(Outcome<T, E> a, Outcome<T, E> b) {
  if (a.is_cancelled() && b.is_cancelled()) {
    Notes notes = a.notes();
    notes.merge(b.notes());
    return Outcome<T, E>(calm::cancelled(strengthen(a.reason(), b.reason()))).with_notes(std::move(notes));
  }
  const bool keep_left = join(a.kind(), b.kind()) == a.kind();
  if (a.notes().empty() && b.notes().empty()) return std::move(keep_left ? a : b);
  Notes notes = a.notes();
  notes.merge(b.notes());
  return std::move(keep_left ? a : b).with_notes(std::move(notes));
}

}  // namespace calm
