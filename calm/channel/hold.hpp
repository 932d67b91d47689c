// hold.hpp — who uses the insides of a channel: handles, permits and waits; the last of them ends it.
// Laws:    QUI-4 (a channel lives independently of regions)
// Threads: anywhere; where the runtime has one worker the count is a plain number
// Cancel:  not applicable
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace calm::channel {

/// Base of the insides of a channel.
class Held {
 public:
  /// `shared`: several workers may have holds of it.
  explicit Held(bool shared) noexcept : shared_(shared) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 protected:
  ~Held() = default;

 private:
  template <class State>
  friend class Hold;

  [[gnu::always_inline]] void add_hold() noexcept {
    // relaxed: whoever adds one has one
    if (shared_) [[unlikely]] {
      holds_.fetch_add(1, std::memory_order_relaxed);
    } else {
      holds_.store(holds_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
  }
  /// Gives: true when it was the last.
  [[gnu::always_inline]] bool drop_hold() noexcept {
    // [H1] what others did with it before they let go -> seen by the last, who ends it
    if (shared_) [[unlikely]]
      return holds_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    const std::uint32_t left = holds_.load(std::memory_order_relaxed) - 1;
    holds_.store(left, std::memory_order_relaxed);
    return left == 0;
  }

  std::atomic<std::uint32_t> holds_{0};
  bool shared_;
};

template <class State>
class Hold {
 public:
  Hold() noexcept = default;
  /// Needs: made by new; the first hold takes it over.
  explicit Hold(State* state) noexcept : state_(state) { state_->add_hold(); }
  Hold(const Hold& other) noexcept : state_(other.state_) {
    if (state_ != nullptr) state_->add_hold();
  }
  Hold(Hold&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Hold& operator=(Hold other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  [[gnu::always_inline]] ~Hold() {
    if (state_ != nullptr && state_->drop_hold()) [[unlikely]]
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
