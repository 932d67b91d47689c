// The rest of the family beside models of plain lists: oneshot, watch, broadcast, rendezvous.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calm/channel/broadcast.hpp"
#include "calm/channel/oneshot.hpp"
#include "calm/channel/rendezvous.hpp"
#include "calm/channel/watch.hpp"
#include "tests/unit/channel/beside_model.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::channel {
namespace {

/// A number that is counted, so that one sees how many a channel keeps.
class Tally {
 public:
  explicit Tally(int number) noexcept : number_(number) { ++alive; }
  Tally(const Tally& other) noexcept : number_(other.number_) { ++alive; }
  Tally& operator=(const Tally& other) noexcept = default;
  ~Tally() { --alive; }
  [[nodiscard]] int number() const noexcept { return number_; }

  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of one thread of tests
  static inline int alive = 0;

 private:
  int number_;
};

/// Receives one, from any receiver; the receiver may leave while this waits.
template <class R>
struct ReceiveOne {
  R* receiver;
  std::string* result;

  Task<void> operator()(Cx cx) const {
    const Outcome<int> value = co_await outcome(receiver->recv(cx));
    *result = text_of(value);
  }
};

// --- oneshot: one after the other ---

class OneshotBesideModel final : public BesideModel {
 public:
  OneshotBesideModel(std::uint64_t seed, Scope& scope) : BesideModel(seed, scope) { renew(); }

 private:
  void renew() {
    Oneshot<int> made = std::move(oneshot<int>(scope().cx())).value();
    sender_.emplace(std::move(made.sender));
    receiver_.emplace(std::move(made.receiver));
    sent_ = false;
    value_.reset();
    note("a oneshot");
  }
  void step() override {
    switch (pick(8)) {
      case 0:
      case 1:
        return send();
      case 2:
      case 3:
        return start_recv();
      case 4:
        return try_recv();
      case 5:
        return cancel_one();
      case 6:
        return leave();
      default:
        if (!waits_) renew();
    }
  }
  void send() {
    if (!sender_) return;
    const int value = new_value();
    std::string model = sent_ ? "obligation_already_resolved" : receiver_ ? "sent" : "disconnected";
    if (model == "sent") value_ = value;
    if (!sent_) expect("is_closed", receiver_ ? "no" : "yes", sender_->is_closed() ? "yes" : "no");
    expect("send", model, text_of(std::move(*sender_).send(value)));
    sent_ = true;
  }
  void start_recv() {
    if (!receiver_ || waits_) return;
    const auto task = [this](std::string* result) { return ReceiveOne<const Receiver<int>>{&*receiver_, result}; };
    waits_ = start("recv", task);
  }
  void try_recv() {
    if (receiver_ && !waits_) expect("try_recv", taken(), text_of(receiver_->try_recv()));
  }
  void leave() {
    if (pick(2) == 0) {
      note("the sender leaves");
      sender_.reset();
      sent_ = true;
    } else {
      note("the receiver leaves");
      receiver_.reset();
      value_.reset();
    }
  }
  [[nodiscard]] std::string taken() {
    if (value_) return std::to_string(*std::exchange(value_, {}));
    return sent_ || !receiver_ ? "disconnected" : "empty";
  }
  void settle_model() override {
    if (!waits_ || (!value_ && !sent_ && receiver_)) return;
    in_model_[*std::exchange(waits_, {})] = taken();
  }
  void cancel_in_model(int /*operation*/) override { waits_.reset(); }
  void compare_state() override {
    if (!receiver_) return;
    const Counts real = receiver_->counts();
    expect("", value_ ? "1" : "0", std::to_string(real.queued));
    require(real.queued + real.reserved <= 1, "more than one value");
  }

  std::optional<OneshotSender<int>> sender_;
  std::optional<Receiver<int>> receiver_;
  bool sent_ = false;  // or will not be
  std::optional<int> value_;
  std::optional<int> waits_;
};

TEST(OneshotModel, CHN_11_random_operations_on_oneshots_do_what_a_model_does) {
  expect_like_model<OneshotBesideModel>();
}

// --- watch ---

struct AwaitChange {
  WatchReceiver<Tally>* receiver;
  std::string* result;

  Task<void> operator()(Cx cx) const {
    const Outcome<void> changed = co_await outcome(receiver->changed(cx));
    *result = "changed";
    if (changed.is_err()) *result = to_string(changed.error().code());
    if (changed.is_cancelled()) *result = "cancelled";
  }
};

class WatchBesideModel final : public BesideModel {
 public:
  WatchBesideModel(std::uint64_t seed, Scope& scope) : BesideModel(seed, scope), alive_before_(Tally::alive) {
    Watch<Tally> made = std::move(watch<Tally>(scope.cx(), Tally(0))).value();
    sender_.emplace(std::move(made.sender));
    readers_.push_back({std::move(made.receiver)});
  }

 private:
  struct Reader {
    WatchReceiver<Tally> receiver;
    int seen = 0;
    std::optional<int> waits{};
  };

  void step() override {
    switch (pick(10)) {
      case 0:
      case 1:
      case 2:
        return send();
      case 3:
      case 4:
      case 5:
        return start_changed();
      case 6:
        return cancel_one();
      case 7:
        return copy();
      case 8:
        return leave();
      default:
        if (pick(8) != 0) return;
        note("the sender leaves");
        sender_.reset();
    }
  }
  void send() {
    if (!sender_) return;
    const int value = new_value();
    if (!readers_.empty()) latest_ = value;
    expect("send", readers_.empty() ? "disconnected" : "sent", text_of(sender_->send(Tally(value))));
  }
  void start_changed() {
    if (readers_.empty()) return;
    Reader& reader = pick_of(readers_);
    if (reader.waits) return;
    reader.waits = start("changed", [&reader](std::string* result) { return AwaitChange{&reader.receiver, result}; });
  }
  void copy() {
    if (readers_.empty() || readers_.size() > 3) return;
    const Reader& original = pick_of(readers_);
    readers_.push_back({original.receiver, original.seen});
    note("one more reader");
  }
  void leave() {
    if (readers_.empty() || readers_.front().waits) return;
    readers_.pop_front();
    note("a reader leaves");
  }
  void settle_model() override {
    for (Reader& reader : readers_) {
      if (!reader.waits || (sender_ && reader.seen == latest_)) continue;
      in_model_[*std::exchange(reader.waits, {})] = reader.seen == latest_ ? "disconnected" : "changed";
      reader.seen = latest_;
    }
  }
  void cancel_in_model(int operation) override {
    for (Reader& reader : readers_) {
      if (reader.waits == operation) reader.waits.reset();
    }
  }
  void compare_state() override {
    for (const Reader& reader : readers_) {
      expect("", std::to_string(latest_), std::to_string(reader.receiver.latest().number()));
      expect("", reader.seen == latest_ ? "seen" : "new", reader.receiver.has_changed() ? "new" : "seen");
    }
    const bool lives = sender_ || !readers_.empty();
    require(Tally::alive - alive_before_ == (lives ? 1 : 0), "a watch keeps one value");
  }

  int alive_before_;
  std::optional<WatchSender<Tally>> sender_;
  std::list<Reader> readers_;
  int latest_ = 0;
};

TEST(WatchModel, CHN_11_random_operations_on_a_watch_do_what_a_model_does) { expect_like_model<WatchBesideModel>(); }

// --- broadcast ---

std::string text_of_heard(const Outcome<Heard<Tally>>& heard) {
  if (heard) return std::to_string(heard.value().value.number()) + " after " + std::to_string(heard.value().missed);
  return heard.is_err() ? std::string(to_string(heard.error().code())) : "cancelled";
}

struct HearOne {
  BroadcastReceiver<Tally>* receiver;
  std::string* result;

  Task<void> operator()(Cx cx) const {
    const Outcome<Heard<Tally>> heard = co_await outcome(receiver->recv(cx));
    *result = text_of_heard(heard);
  }
};

class BroadcastBesideModel final : public BesideModel {
 public:
  BroadcastBesideModel(std::uint64_t seed, Scope& scope)
      : BesideModel(seed, scope), alive_before_(Tally::alive), capacity_(1 + pick(3)) {
    auto made = std::move(broadcast<Tally>(scope.cx(), static_cast<std::uint32_t>(capacity_))).value();
    senders_.push_back(std::move(made.sender));
    listeners_.push_back({std::move(made.receiver)});
  }

 private:
  struct Listener {
    BroadcastReceiver<Tally> receiver;
    std::size_t next = 0;
    std::optional<int> waits{};
  };

  void step() override {
    switch (pick(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return send();
      case 4:
      case 5:
      case 6:
        return start_recv();
      case 7:
        return try_recv();
      case 8:
        return cancel_one();
      case 9:
        return join_in();
      case 10:
        return leave();
      default:
        return change_senders();
    }
  }
  void send() {
    if (senders_.empty()) return;
    const int value = new_value();
    if (!listeners_.empty()) sent_.push_back(value);
    expect("send", listeners_.empty() ? "disconnected" : "sent", text_of(senders_.back().send(Tally(value))));
  }
  /// Gives: what this listener hears next, and moves it on.
  [[nodiscard]] std::string heard(Listener& listener) {
    if (listener.next == sent_.size()) return senders_.empty() ? "disconnected" : "empty";
    const std::size_t oldest = sent_.size() > capacity_ ? sent_.size() - capacity_ : 0;
    const std::size_t number = std::max(oldest, listener.next);
    const std::size_t missed = number - std::exchange(listener.next, number + 1);
    return std::to_string(sent_[number]) + " after " + std::to_string(missed);
  }
  void start_recv() {
    if (listeners_.empty()) return;
    Listener& listener = pick_of(listeners_);
    if (listener.waits) return;
    listener.waits = start("recv", [&listener](std::string* result) { return HearOne{&listener.receiver, result}; });
  }
  void try_recv() {
    if (listeners_.empty()) return;
    Listener& listener = pick_of(listeners_);
    if (!listener.waits) expect("try_recv", heard(listener), text_of_heard(listener.receiver.try_recv()));
  }
  void join_in() {
    if (listeners_.size() > 3) return;
    if (pick(2) == 0 && !senders_.empty()) {
      listeners_.push_back({senders_.back().subscribe(), sent_.size()});
      note("one more subscribes");
    } else if (!listeners_.empty()) {
      const Listener& original = pick_of(listeners_);
      listeners_.push_back({original.receiver, original.next});
      note("one more listener");
    }
  }
  void leave() {
    if (listeners_.empty() || listeners_.front().waits) return;
    listeners_.pop_front();
    note("a listener leaves");
  }
  void change_senders() {
    if (senders_.empty()) return;
    if (pick(2) == 0) {
      senders_.push_back(senders_.front());
    } else {
      senders_.pop_back();
    }
    note(std::to_string(senders_.size()) + " senders");
  }
  void settle_model() override {
    for (Listener& listener : listeners_) {
      if (!listener.waits || (listener.next == sent_.size() && !senders_.empty())) continue;
      in_model_[*std::exchange(listener.waits, {})] = heard(listener);
    }
  }
  void cancel_in_model(int operation) override {
    for (Listener& listener : listeners_) {
      if (listener.waits == operation) listener.waits.reset();
    }
  }
  void compare_state() override {
    require(Tally::alive - alive_before_ <= static_cast<int>(capacity_), "more than the capacity");
  }

  int alive_before_;
  std::size_t capacity_;
  std::vector<BroadcastSender<Tally>> senders_;
  std::list<Listener> listeners_;
  std::vector<int> sent_;
};

TEST(BroadcastModel, CHN_11_random_operations_on_a_broadcast_do_what_a_model_of_lists_does) {
  expect_like_model<BroadcastBesideModel>();
}

// --- rendezvous ---

struct OfferOne {
  MeetingSender<int>* sender;
  int value;
  std::string* result;

  Task<void> operator()(Cx cx) const {
    const Sent<int> sent = co_await sender->send(cx, value);
    *result = text_of(sent);
    if (!sent && sent.error().value != value) *result = "another value came back";
  }
};

class RendezvousBesideModel final : public BesideModel {
 public:
  RendezvousBesideModel(std::uint64_t seed, Scope& scope) : BesideModel(seed, scope) {
    Rendezvous<int> made = std::move(rendezvous<int>(scope.cx())).value();
    senders_.push_back(std::move(made.sender));
    receivers_.push_back(std::move(made.receiver));
  }

 private:
  struct Offer {
    int operation;
    int value;
  };

  void step() override {
    switch (pick(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return start_send();
      case 4:
      case 5:
      case 6:
        return start_recv();
      case 7:
      case 8:
        if (!receivers_.empty()) expect("try_recv", taken(), text_of(pick_of(receivers_).try_recv()));
        return;
      case 9:
        return cancel_one();
      case 10:
        return change(senders_, "senders");
      default:
        return change(receivers_, "receivers");
    }
  }
  void start_send() {
    if (senders_.empty()) return;
    const int value = new_value();
    MeetingSender<int>* const sender = &pick_of(senders_);
    const int operation =
        start("send", [sender, value](std::string* result) { return OfferOne{sender, value, result}; });
    offers_.push_back({operation, value});
  }
  void start_recv() {
    if (receivers_.empty()) return;
    MeetingReceiver<int>* const receiver = &pick_of(receivers_);
    takers_.push_back(
        start("recv", [receiver](std::string* result) { return ReceiveOne<MeetingReceiver<int>>{receiver, result}; }));
  }
  template <class Handles>
  void change(Handles& handles, const std::string& name) {
    if (handles.empty()) return;
    if (pick(3) != 0) {
      handles.push_back(handles.front());
    } else {
      handles.pop_back();
    }
    note(std::to_string(handles.size()) + " " + name);
  }
  [[nodiscard]] bool is_over() const { return receivers_.empty() || (senders_.empty() && offers_.empty()); }
  [[nodiscard]] std::string taken() {
    if (is_over()) return "disconnected";
    if (offers_.empty()) return "empty";
    const Offer offer = offers_.front();
    offers_.pop_front();
    in_model_[offer.operation] = "sent";
    return std::to_string(offer.value);
  }
  void settle_model() override {
    while (receivers_.empty() && !offers_.empty()) {
      in_model_[offers_.front().operation] = "disconnected";
      offers_.pop_front();
    }
    while (!takers_.empty() && (!offers_.empty() || is_over())) {
      in_model_[takers_.front()] = taken();
      takers_.pop_front();
    }
  }
  void cancel_in_model(int operation) override {
    std::erase_if(offers_, [operation](const Offer& offer) { return offer.operation == operation; });
    std::erase(takers_, operation);
  }
  void compare_state() override {
    // Without room: a value is with who offers it, or with who took it.
    require(offers_.empty() || takers_.empty(), "somebody offers and somebody waits");
  }

  std::list<MeetingSender<int>> senders_;
  std::list<MeetingReceiver<int>> receivers_;
  std::deque<Offer> offers_;
  std::deque<int> takers_;
};

TEST(RendezvousModel, CHN_11_random_operations_on_a_rendezvous_do_what_a_model_of_lists_does) {
  expect_like_model<RendezvousBesideModel>();
}

}  // namespace
}  // namespace calm::channel
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
