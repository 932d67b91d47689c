// bounded_channel.hpp — channels with places in a scenario: mpsc, tracked, mpmc.
// Laws:    CHN-1..10
// Threads: one
// Cancel:  as channel.hpp
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/calm/scenario/channel.hpp"
#include "calm/channel/receiver.hpp"
#include "calm/channel/sender.hpp"

namespace calm::scenario {

template <class Sender, class Receiver>
class BoundedChannel final : public Channel {
 public:
  BoundedChannel(Sender sender, Receiver receiver) {
    senders_.push_back(std::move(sender));
    receivers_.emplace_back(std::move(receiver));
  }

  Task<Answer> reserve(Cx cx, HeldPlace& place) override {
    auto permit = co_await sender().reserve(cx);
    place = std::move(permit);
    co_return Answer{};
  }
  Answer try_reserve(Cx cx, HeldPlace& place) override {
    if constexpr (requires(Sender& from) { from.try_reserve(); }) {
      return keep(sender().try_reserve(), place);
    } else {
      return keep(sender().try_reserve(cx), place);
    }
  }
  Task<Answer> send(Cx cx, std::string value) override {
    if constexpr (can_send) {
      auto sent = co_await sender().send(cx, std::move(value));
      co_return answer_of(std::move(sent));
    } else {
      co_return Answer{Errc::unsupported, {}};
    }
  }
  Answer try_send(std::string value) override {
    if constexpr (can_send) return answer_of(sender().try_send(std::move(value)));
    return Channel::try_send(std::move(value));
  }
  Answer send_evict_oldest(std::string value) override {
    if constexpr (can_send) {
      auto sent = sender().send_evict_oldest(std::move(value));
      if (!sent) {
        channel::Unsent<std::string> unsent = std::move(sent).error();
        return {unsent.code, std::move(unsent.value)};
      }
      return {{}, std::move(sent).value().value_or("nothing")};
    }
    return Channel::send_evict_oldest(std::move(value));
  }

  Task<Answer> recv(Cx cx, std::uint64_t number) override {
    std::string value = co_await receiver(number).recv(cx);
    co_return Answer{{}, std::move(value)};
  }
  Answer try_recv(std::uint64_t number) override { return answer_of(receiver(number).try_recv()); }
  Task<Answer> recv_many(Cx cx, std::size_t most) override {
    std::vector<std::string> values;
    co_await receiver(1).recv_many(cx, values, most);
    Answer answer;
    for (const std::string& value : values) {  // NOLINT(calm-long-loop): at most as many as the channel has places
      answer.text.append(answer.text.empty() ? "" : ", ").append(value);
    }
    co_return answer;
  }
  Task<Answer> recv_with_ack(Cx cx, Delivered& delivery) override {
    auto delivered = co_await receiver(1).recv_with_ack(cx);
    delivery.emplace(std::move(delivered));
    co_return Answer{{}, delivery->item()};
  }

  Status close() override {
    receiver(1).close();
    return {};
  }
  Status add_sender() override {
    senders_.push_back(sender());
    return {};
  }
  Status drop_sender() override {
    (void)sender();
    senders_.pop_back();
    return {};
  }
  Status add_receiver() override {
    if constexpr (std::is_copy_constructible_v<Receiver>) {
      receivers_.emplace_back(receiver(1));
      return {};
    }
    return Channel::add_receiver();
  }
  Status drop_receiver(std::uint64_t number) override {
    (void)receiver(number);
    receivers_[number - 1].reset();
    return {};
  }

  [[nodiscard]] std::optional<channel::Counts> counts() const override {
    for (const auto& receiver : receivers_) {
      if (receiver) return receiver->counts();
    }
    if (senders_.empty()) return std::nullopt;
    return senders_.front().counts();
  }

 private:
  static constexpr bool can_send = requires(Sender& from) { from.try_send(std::string()); };

  Sender& sender() {
    if (senders_.empty()) end_is_gone("sender");
    return senders_.back();
  }
  Receiver& receiver(std::uint64_t number) { return numbered_end(receivers_, number, "receiver"); }
  template <class Permit>
  static Answer keep(Outcome<Permit> permit, HeldPlace& place) {
    if (!permit) return {permit.error().code(), {}};
    place = std::move(permit).value();
    return {};
  }

  std::vector<Sender> senders_;
  std::vector<std::optional<Receiver>> receivers_;
};

}  // namespace calm::scenario
