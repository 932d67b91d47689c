// graded.hpp — promises that the compiler follows: a body that gets a token must return the token, spent.
// Laws:    OBL-8, OBL-1, OBL-4
// Threads: as a promise: by one task at a time, in its own poll
// Cancel:  a cancel that leaves the body drops its token, as any promise: it aborts, and a run of the lab names it (OBL-4);
//          a body that waits asks with outcome(), or masks the wait
//
//   calm::Task<calm::Spent<calm::ObligationKind::ack>> answer(calm::Cx cx, calm::GradedToken<calm::ObligationKind::ack> token) {
//     co_await handle(cx);
//     co_return std::move(token).commit();
//   }
//   co_await calm::with_graded<calm::ObligationKind::ack>(cx, answer);
//
// Any compiler: a body that does not return Spent does not compile, and only commit() and abort() make one. clang with
// -Werror=consumed (CMake: link calm::graded) also refuses code that drops a token, branches past it or uses it twice; it
// does not follow a token into containers, nor does it see a parameter that is never used. What no compiler sees is an
// error when it runs: see with_graded().
#pragma once

#include <source_location>
#include <type_traits>
#include <utility>

#include "calm/cx/cx.hpp"
#include "calm/cx/obligation.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/obligation_kind.hpp"
#include "calm/model/outcome.hpp"

#if defined(__clang__)
#define CALM_GRADED [[clang::consumable(unconsumed)]]
#define CALM_GRADED_MADE [[clang::return_typestate(unconsumed)]]
#define CALM_GRADED_SPENDS [[clang::callable_when("unconsumed"), clang::set_typestate(consumed)]]
#define CALM_GRADED_END [[clang::callable_when("consumed")]]
#else
#define CALM_GRADED
#define CALM_GRADED_MADE
#define CALM_GRADED_SPENDS
#define CALM_GRADED_END
#endif

namespace calm {

template <ObligationKind kind>
class GradedToken;

namespace cx {
struct GradedAccess;
}  // namespace cx

/// The proof that a token was spent, and with it the value that the body has to give, if any.
template <ObligationKind kind, class T = void>
class [[nodiscard("it is what a graded body returns")]] Spent {
 public:
  Spent(Spent&&) noexcept(std::is_nothrow_move_constructible_v<T>) = default;
  Spent& operator=(Spent&&) = delete;
  ~Spent() = default;

 private:
  friend GradedToken<kind>;
  friend cx::GradedAccess;
  Spent(ObligationId id, Status status, T value) : id_(id), status_(status), value_(std::move(value)) {}

  ObligationId id_;
  Status status_;
  T value_;
};
template <ObligationKind kind>
class [[nodiscard("it is what a graded body returns")]] Spent<kind, void> {
 public:
  Spent(Spent&&) noexcept = default;
  Spent& operator=(Spent&&) = delete;
  ~Spent() = default;

 private:
  friend GradedToken<kind>;
  friend cx::GradedAccess;
  Spent(ObligationId id, Status status) noexcept : id_(id), status_(status) {}

  ObligationId id_;
  Status status_;
};

/// A promise that must be spent: kept or taken back, once. Dropped, it aborts by itself, is counted and fails a run of the
/// lab (OBL-4).
template <ObligationKind kind>
class CALM_GRADED GradedToken {
 public:
  GradedToken(GradedToken&&) noexcept = default;
  GradedToken& operator=(GradedToken&&) = delete;
  CALM_GRADED_END ~GradedToken() = default;

  /// The promise is kept. Gives: what the body returns, with a value if one is passed.
  CALM_GRADED_SPENDS Spent<kind> commit() && noexcept {
    const ObligationId id = promise_.id();
    return Spent<kind>(id, promise_.commit());
  }
  template <class T>
  CALM_GRADED_SPENDS Spent<kind, T> commit(T value) && {
    const ObligationId id = promise_.id();
    return Spent<kind, T>(id, promise_.commit(), std::move(value));
  }

  /// The promise is taken back. Gives: as commit().
  CALM_GRADED_SPENDS Spent<kind> abort() && noexcept {
    const ObligationId id = promise_.id();
    return Spent<kind>(id, promise_.abort());
  }
  template <class T>
  CALM_GRADED_SPENDS Spent<kind, T> abort(T value) && {
    const ObligationId id = promise_.id();
    return Spent<kind, T>(id, promise_.abort(), std::move(value));
  }

 private:
  friend cx::GradedAccess;
  CALM_GRADED_MADE explicit GradedToken(Obligation promise) noexcept : promise_(std::move(promise)) {}

  Obligation promise_;
};

namespace cx {

struct GradedAccess {
  template <ObligationKind kind>
  static GradedToken<kind> token(Obligation promise) noexcept {
    return GradedToken<kind>(std::move(promise));
  }

  /// Gives: why this is not what was to be spent, or nothing.
  template <ObligationKind kind, class T>
  static Status check(const Spent<kind, T>& spent, ObligationId promised) noexcept {
    if (!spent.status_) return spent.status_;
    return spent.id_ == promised ? Status() : Status(Errc::unresolved_obligations);
  }

  template <ObligationKind kind, class T>
  static T value(Spent<kind, T>&& spent) {
    return std::move(spent.value_);
  }
};

/// What a graded body gives, and whether it is one at all.
template <ObligationKind kind, class Returned>
struct GradedBody {
  static constexpr bool returns_spent = false;
  using Value = void;
};
template <ObligationKind kind, class T>
struct GradedBody<kind, Task<Spent<kind, T>>> {
  static constexpr bool returns_spent = true;
  using Value = T;
};
template <ObligationKind kind, class F, class Cx>
using GradedBodyOf = GradedBody<kind, std::invoke_result_t<F, Cx, GradedToken<kind>>>;

}  // namespace cx

// clang does not follow an argument through a pointer to a function, which the body may be.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wconsumed"
#endif

/// Promises something and runs `body(cx, token)`, which must return `Task<Spent<kind>>` or `Task<Spent<kind, T>>`.
/// Gives: the T that was passed to commit() or abort().
/// Fails: as reserve(); as the body; obligation_already_resolved when the token was spent twice; obligation_leaked when the
///        task it was handed to has ended; unresolved_obligations when the body returned what was left of another token.
template <ObligationKind kind, class... Caps, class F>
auto with_graded(CxOf<Caps...> cx, F body, std::source_location site = std::source_location::current())
    -> Task<typename cx::GradedBodyOf<kind, F, CxOf<Caps...>>::Value> {
  using Body = cx::GradedBodyOf<kind, F, CxOf<Caps...>>;
  static_assert(Body::returns_spent,
                "calm: a graded body returns its token spent: Task<Spent<kind>>, from commit() or abort() (OBL-8)");
  static_assert(has_record(kind, true),
                "calm: tokens of this kind are only counted and have no promise to follow (OBL-2)");
  Obligation promise = co_await reserve(cx, kind, {}, site);
  const ObligationId promised = promise.id();
  auto running = body(cx, cx::GradedAccess::token<kind>(std::move(promise)));
  auto spent = co_await std::move(running);
  if (const Status status = cx::GradedAccess::check(spent, promised); !status) {
    co_await fail(Error(status.error(), "a graded body did not spend its own token once", site));
  }
  if constexpr (!std::is_void_v<typename Body::Value>) co_return cx::GradedAccess::value(std::move(spent));
}

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

}  // namespace calm
