// hold.hpp — who uses the insides of a channel: handles, permits and waits; the last of them ends it.
// Laws:    QUI-4 (a channel lives independently of regions)
// Threads: those of one channel on one worker; the count is a plain number
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <utility>

namespace calm::channel {

/// Base of the insides of a channel.
class Held {
 public:
  Held() noexcept = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 protected:
  ~Held() = default;

 private:
  template <class State>
  friend class Hold;
  std::uint32_t holds_ = 0;
};

template <class State>
class Hold {
 public:
  Hold() noexcept = default;
  /// Needs: made by new; the first hold takes it over.
  explicit Hold(State* state) noexcept : state_(state) { ++state_->holds_; }
  Hold(const Hold& other) noexcept : state_(other.state_) {
    if (state_ != nullptr) ++state_->holds_;
  }
  Hold(Hold&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Hold& operator=(Hold other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  [[gnu::always_inline]] ~Hold() {
    if (state_ != nullptr && --state_->holds_ == 0) [[unlikely]]
      end(state_);
  }

  State* operator->() const noexcept { return state_; }
  State& operator*() const noexcept { return *state_; }
  explicit operator bool() const noexcept { return state_ != nullptr; }

 private:
  [[gnu::noinline]] static void end(State* state) noexcept { delete state; }

  State* state_ = nullptr;
};

}  // namespace calm::channel
