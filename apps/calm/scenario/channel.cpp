#include "apps/calm/scenario/channel.hpp"

#include <deque>

#include "apps/calm/scenario/bounded_channel.hpp"
#include "apps/calm/scenario/problem.hpp"
#include "calm/channel/broadcast.hpp"
#include "calm/channel/mpmc.hpp"
#include "calm/channel/oneshot.hpp"
#include "calm/channel/rendezvous.hpp"
#include "calm/channel/watch.hpp"

namespace calm::scenario {
namespace {

template <class End>
End& alive(std::optional<End>& end, const char* what) {
  if (!end) end_is_gone(what);
  return *end;
}

/// What has one sender and one receiver.
template <class Sender, class Receiver>
class PairChannel : public Channel {
 public:
  template <class Ends>
  explicit PairChannel(Ends ends) : sender_(std::move(ends.sender)), receiver_(std::move(ends.receiver)) {}

  Task<Answer> recv(Cx cx, std::uint64_t /*receiver*/) override {
    std::string value = co_await alive(receiver_, "receiver").recv(cx);
    co_return Answer{{}, std::move(value)};
  }
  Answer try_recv(std::uint64_t /*receiver*/) override { return answer_of(alive(receiver_, "receiver").try_recv()); }
  Status drop_sender() override {
    sender_.reset();
    return {};
  }
  Status drop_receiver(std::uint64_t /*receiver*/) override {
    receiver_.reset();
    return {};
  }

 protected:
  Sender& sender() { return alive(sender_, "sender"); }

 private:
  std::optional<Sender> sender_;
  std::optional<Receiver> receiver_;
};

/// One value, once: the sender is its own permit.
class OneshotChannel final : public PairChannel<channel::OneshotSender<std::string>, channel::Receiver<std::string>> {
 public:
  using PairChannel::PairChannel;

  Answer try_send(std::string value) override { return answer_of(std::move(sender()).send(std::move(value))); }
};

/// Every value to everybody. A receiver stays where it is while it waits.
class BroadcastChannel final : public Channel {
 public:
  explicit BroadcastChannel(channel::Broadcast<std::string> ends) : sender_(std::move(ends.sender)) {
    receivers_.emplace_back(std::move(ends.receiver));
  }

  Answer try_send(std::string value) override { return answer_of(alive(sender_, "sender").send(std::move(value))); }
  Task<Answer> recv(Cx cx, std::uint64_t receiver) override {
    auto heard = co_await numbered_end(receivers_, receiver, "receiver").recv(cx);
    co_return Answer{{}, text_of(std::move(heard))};
  }
  Answer try_recv(std::uint64_t receiver) override {
    auto heard = numbered_end(receivers_, receiver, "receiver").try_recv();
    if (!heard) return {heard.error().code(), {}};
    return {{}, text_of(std::move(heard).value())};
  }
  Status drop_sender() override {
    sender_.reset();
    return {};
  }
  Status add_receiver() override {
    receivers_.emplace_back(alive(sender_, "sender").subscribe());
    return {};
  }
  Status drop_receiver(std::uint64_t receiver) override {
    (void)numbered_end(receivers_, receiver, "receiver");
    receivers_[receiver - 1].reset();
    return {};
  }

 private:
  static std::string text_of(channel::Heard<std::string> heard) {
    if (heard.missed == 0) return std::move(heard.value);
    return heard.value + " after " + std::to_string(heard.missed) + " missed";
  }

  std::optional<channel::BroadcastSender<std::string>> sender_;
  std::deque<std::optional<channel::BroadcastReceiver<std::string>>> receivers_;
};

/// The latest value: receiving waits for one that was not seen.
class WatchChannel final : public Channel {
 public:
  explicit WatchChannel(channel::Watch<std::string> ends) : sender_(std::move(ends.sender)) {
    receivers_.emplace_back(std::move(ends.receiver));
  }

  Answer try_send(std::string value) override { return answer_of(alive(sender_, "sender").send(std::move(value))); }
  Task<Answer> recv(Cx cx, std::uint64_t receiver) override {
    auto& reader = numbered_end(receivers_, receiver, "receiver");
    co_await reader.changed(cx);
    co_return Answer{{}, reader.latest()};
  }
  Status drop_sender() override {
    sender_.reset();
    return {};
  }
  Status add_receiver() override {
    receivers_.emplace_back(numbered_end(receivers_, 1, "receiver"));
    return {};
  }
  Status drop_receiver(std::uint64_t receiver) override {
    (void)numbered_end(receivers_, receiver, "receiver");
    receivers_[receiver - 1].reset();
    return {};
  }

 private:
  std::optional<channel::WatchSender<std::string>> sender_;
  std::deque<std::optional<channel::WatchReceiver<std::string>>> receivers_;
};

/// Hand to hand: a send has ended when somebody has the value.
class RendezvousChannel final
    : public PairChannel<channel::MeetingSender<std::string>, channel::MeetingReceiver<std::string>> {
 public:
  using PairChannel::PairChannel;

  Task<Answer> send(Cx cx, std::string value) override {
    auto sent = co_await sender().send(cx, std::move(value));
    co_return answer_of(std::move(sent));
  }
};

template <class Made, class Ends>
OpenedChannel opened(Outcome<Ends> ends) {
  if (!ends) return {ends.error().code(), nullptr};
  return {{}, std::make_unique<Made>(std::move(ends).value())};
}

template <class Ends>
OpenedChannel opened_bounded(Outcome<Ends> made) {
  if (!made) return {made.error().code(), nullptr};
  Ends ends = std::move(made).value();
  using Made = BoundedChannel<decltype(ends.sender), decltype(ends.receiver)>;
  return {{}, std::make_unique<Made>(std::move(ends.sender), std::move(ends.receiver))};
}

}  // namespace

void end_is_gone(const char* end) { throw Problem({}, std::string("this ") + end + " of the channel is gone"); }

Task<Answer> Channel::reserve(Cx /*cx*/, HeldPlace& /*place*/) { co_return Answer{Errc::unsupported, {}}; }
Answer Channel::try_reserve(Cx /*cx*/, HeldPlace& /*place*/) { return {Errc::unsupported, {}}; }
Task<Answer> Channel::send(Cx /*cx*/, std::string /*value*/) { co_return Answer{Errc::unsupported, {}}; }
Answer Channel::try_send(std::string /*value*/) { return {Errc::unsupported, {}}; }
Answer Channel::send_evict_oldest(std::string /*value*/) { return {Errc::unsupported, {}}; }
Task<Answer> Channel::recv(Cx /*cx*/, std::uint64_t /*receiver*/) { co_return Answer{Errc::unsupported, {}}; }
Answer Channel::try_recv(std::uint64_t /*receiver*/) { return {Errc::unsupported, {}}; }
Task<Answer> Channel::recv_many(Cx /*cx*/, std::size_t /*most*/) { co_return Answer{Errc::unsupported, {}}; }
Task<Answer> Channel::recv_with_ack(Cx /*cx*/, Delivered& /*delivery*/) { co_return Answer{Errc::unsupported, {}}; }
Status Channel::close() { return Errc::unsupported; }
Status Channel::add_sender() { return Errc::unsupported; }
Status Channel::drop_sender() { return Errc::unsupported; }
Status Channel::add_receiver() { return Errc::unsupported; }
Status Channel::drop_receiver(std::uint64_t /*receiver*/) { return Errc::unsupported; }

OpenedChannel open_channel(Cx cx, ChannelKind kind, std::uint32_t capacity, std::string first) {
  switch (kind) {
    case ChannelKind::mpsc:
      return opened_bounded(channel::mpsc<std::string>(cx, capacity));
    case ChannelKind::tracked:
      return opened_bounded(channel::tracked_mpsc<std::string>(cx, capacity));
    case ChannelKind::mpmc:
      return opened_bounded(channel::mpmc<std::string>(cx, capacity));
    case ChannelKind::oneshot:
      return opened<OneshotChannel>(channel::oneshot<std::string>(cx));
    case ChannelKind::broadcast:
      return opened<BroadcastChannel>(channel::broadcast<std::string>(cx, capacity));
    case ChannelKind::watch:
      return opened<WatchChannel>(channel::watch<std::string>(cx, std::move(first)));
    case ChannelKind::rendezvous:
      return opened<RendezvousChannel>(channel::rendezvous<std::string>(cx));
  }
  return {Errc::unsupported, nullptr};
}

}  // namespace calm::scenario
