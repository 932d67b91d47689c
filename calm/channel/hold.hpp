// hold.hpp — who uses the insides of a channel: handles, permits and waits; the last of them ends it.
// Laws:    QUI-4 (a channel lives independently of regions)
// Threads: anywhere; where the runtime has one worker, and in a turn of who is alone, the count is a plain number
// Cancel:  not applicable
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "calm/cx/wait.hpp"

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
      add_hold_in_turn();
    }
  }
  /// Gives: true when it was the last.
  [[gnu::always_inline]] bool drop_hold() noexcept {
    // [H1] what others did with it before they let go -> seen by the last, who ends it
    if (shared_) [[unlikely]]
      return holds_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    return drop_hold_in_turn();
  }

  // The same in a short turn (sync/line.hpp): nobody else is at work.
  [[gnu::always_inline]] void add_hold_in_turn() noexcept {
    holds_.store(holds_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  [[nodiscard, gnu::always_inline]] bool drop_hold_in_turn() noexcept {
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
  /// One more. Needs: a hold that lasts, and a short turn, which goes on.
  Hold(State* state, cx::InTurn /*now*/) noexcept : state_(state) { state_->add_hold_in_turn(); }
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

  /// Needs: a hold, and a short turn. Gives: what the caller has to end() when the turn is over; nullptr where others hold it.
  [[nodiscard, gnu::always_inline]] State* let_go_in_turn() noexcept {
    State* const state = std::exchange(state_, nullptr);
    return state->drop_hold_in_turn() ? state : nullptr;
  }
  [[gnu::noinline]] static void end(State* state) noexcept { delete state; }

  State* operator->() const noexcept { return state_; }
  State& operator*() const noexcept { return *state_; }
  explicit operator bool() const noexcept { return state_ != nullptr; }

 private:
  State* state_ = nullptr;
};

}  // namespace calm::channel
