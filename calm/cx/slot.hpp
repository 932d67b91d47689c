// slot.hpp — where a coroutine leaves what it ends with: with the one who awaits it.
// Laws:    OUT-5
// Threads: touched by whoever polls the task
// Cancel:  a coroutine that is left leaves nothing
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include "calm/check/require.hpp"
#include "calm/cx/rare_call.hpp"
#include "calm/model/outcome.hpp"

namespace calm::cx {

/// Nothing, a value or an exception, told by one byte: whoever awaits looks once.
template <class T>
class Slot {
 public:
  using Value = detail::Held<T>;

  Slot() noexcept = default;
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  ~Slot() { clear(); }

  template <class... Arguments>
  void emplace(Arguments&&... arguments) {
    // A coroutine may end a second time, when a destructor throws at the first.
    if (holds_ != Holds::nothing) [[unlikely]]
      clear_again();
    std::construct_at(&content_.value, std::forward<Arguments>(arguments)...);
    holds_ = Holds::value;
  }
  void fail(std::exception_ptr exception) noexcept {
    clear();
    std::construct_at(&content_.exception, std::move(exception));
    holds_ = Holds::exception;
  }

  [[nodiscard]] bool has_value() const noexcept { return holds_ == Holds::value; }
  [[nodiscard]] bool has_exception() const noexcept { return holds_ == Holds::exception; }
  /// Needs: has_value().
  [[nodiscard]] Value& value() noexcept {
    CALM_REQUIRE(OUT_5, has_value());
    return content_.value;
  }
  /// Needs: has_exception().
  [[nodiscard]] const std::exception_ptr& exception() const noexcept {
    CALM_REQUIRE(OUT_5, has_exception());
    return content_.exception;
  }

 private:
  enum class Holds : std::uint8_t { nothing, value, exception };

  void clear() noexcept {
    const Holds held = std::exchange(holds_, Holds::nothing);
    if (held == Holds::value) std::destroy_at(&content_.value);
    if (held == Holds::exception) std::destroy_at(&content_.exception);
  }

  CALM_RARE_CALL void clear_again() noexcept { clear(); }

  /// The slot begins and ends what lives in it.
  union Content {
    Content() noexcept {}  // NOLINT(modernize-use-equals-default): it would be deleted
    Content(const Content&) = delete;
    Content& operator=(const Content&) = delete;
    ~Content() {}  // NOLINT(modernize-use-equals-default): it would be deleted

    Value value;
    std::exception_ptr exception;
  };

  Content content_;
  Holds holds_ = Holds::nothing;
};

}  // namespace calm::cx
