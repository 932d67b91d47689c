#include "calm/model/panic.hpp"

#include <memory>
#include <new>

#include "calm/check/require.hpp"

namespace calm {

Panic::Panic(const std::exception_ptr& exception) noexcept {
  CALM_REQUIRE(OUT_5, exception != nullptr);
  new (place_) std::exception_ptr(exception);
}

Panic Panic::with_message(std::string_view message) noexcept {
  try {
    return Panic(std::make_exception_ptr(PanicError(message)));
  } catch (...) {
    return Panic(std::current_exception());  // std::bad_alloc: no memory for the text, still a panic
  }
}

Panic::Panic(const Panic& other) noexcept { new (place_) std::exception_ptr(other.exception()); }

// NOLINTNEXTLINE(bugprone-unhandled-self-assignment): std::exception_ptr handles it
Panic& Panic::operator=(const Panic& other) noexcept {
  *std::launder(reinterpret_cast<std::exception_ptr*>(place_)) = other.exception();
  return *this;
}

void Panic::destroy() noexcept { std::destroy_at(std::launder(reinterpret_cast<std::exception_ptr*>(place_))); }

const std::exception_ptr& Panic::exception() const noexcept {
  return *std::launder(reinterpret_cast<const std::exception_ptr*>(place_));
}

void Panic::rethrow() const { std::rethrow_exception(exception()); }

std::string Panic::what() const {
  try {
    rethrow();
  } catch (const std::exception& exception) {
    return exception.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

bool operator==(const Panic& a, const Panic& b) noexcept { return a.exception() == b.exception(); }

}  // namespace calm
