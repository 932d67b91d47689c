// floor_channel.hpp — a ring of numbers, and frames that wait for room or for a number.
#pragma once

#include <vector>

#include "bench/peers/floor.hpp"

namespace bench::peers::floor {

class Channel {
  /// A frame that waits, with what it sends or gets.
  struct Waiting : Node {
    Node* self = nullptr;
    std::uint64_t number = 0;

    template <class Other>
    void wait_in(Queue& line, std::coroutine_handle<Other> waiting) noexcept {
      self = &waiting.promise();
      line.push(*this);
    }
  };

 public:
  explicit Channel(std::size_t capacity) : ring_(capacity) {}

  struct Send : Waiting {
    Channel& channel;

    Send(Channel& to, std::uint64_t sent) noexcept : channel(to) { this->number = sent; }
    [[nodiscard]] bool await_ready() noexcept {
      if (auto* const receiver = static_cast<Waiting*>(channel.receivers_.pop())) {
        receiver->number = this->number;
        ready.push(*receiver->self);
        return true;
      }
      if (channel.count_ == channel.ring_.size()) return false;
      channel.put(this->number);
      return true;
    }
    template <class Other>
    void await_suspend(std::coroutine_handle<Other> waiting) noexcept {
      this->wait_in(channel.senders_, waiting);
    }
    void await_resume() const noexcept {}
  };
  struct Receive : Waiting {
    Channel& channel;

    explicit Receive(Channel& from) noexcept : channel(from) {}
    [[nodiscard]] bool await_ready() noexcept {
      if (channel.count_ == 0) return false;
      this->number = channel.take();
      if (auto* const sender = static_cast<Waiting*>(channel.senders_.pop())) {
        channel.put(sender->number);
        ready.push(*sender->self);
      }
      return true;
    }
    template <class Other>
    void await_suspend(std::coroutine_handle<Other> waiting) noexcept {
      this->wait_in(channel.receivers_, waiting);
    }
    [[nodiscard]] std::uint64_t await_resume() const noexcept { return this->number; }
  };

  [[nodiscard]] Send send(std::uint64_t number) noexcept { return {*this, number}; }
  [[nodiscard]] Receive receive() noexcept { return Receive(*this); }

 private:
  void put(std::uint64_t number) noexcept {
    ring_[last_] = number;
    if (++last_ == ring_.size()) last_ = 0;
    ++count_;
  }
  [[nodiscard]] std::uint64_t take() noexcept {
    const std::uint64_t number = ring_[first_];
    if (++first_ == ring_.size()) first_ = 0;
    --count_;
    return number;
  }

  std::vector<std::uint64_t> ring_;
  std::size_t first_ = 0;
  std::size_t last_ = 0;
  std::size_t count_ = 0;
  Queue senders_;
  Queue receivers_;
};

}  // namespace bench::peers::floor
