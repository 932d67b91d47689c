// The bounded channels beside a model of plain lists: mpsc, work queue, deliveries with acks, tracked permits.
#include <gtest/gtest.h>

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calm/channel/mpmc.hpp"
#include "calm/channel/mpsc.hpp"
#include "calm/channel/tracked.hpp"
#include "tests/unit/channel/beside_model.hpp"
#include "tests/unit/channel/pipe_model.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::channel {
namespace {

// --- the kinds that are driven ---

struct MpscKind {
  static constexpr bool many_receivers = false;
  static constexpr bool sends = true;  // else there are only permits
  static constexpr bool acks = false;
  static auto make(CxOf<> cx, std::uint32_t capacity) { return mpsc<int>(cx, capacity); }
};
struct MpmcKind {
  static constexpr bool many_receivers = true;
  static constexpr bool sends = true;
  static constexpr bool acks = false;
  static auto make(CxOf<> cx, std::uint32_t capacity) { return mpmc<int>(cx, capacity); }
};
struct AckKind : MpmcKind {
  static constexpr bool acks = true;
};
struct TrackedKind : MpscKind {
  static constexpr bool sends = false;
  static auto make(CxOf<> cx, std::uint32_t capacity) { return tracked_mpsc<int>(cx, capacity); }
};

// --- operations that may wait ---

/// What a task is told to do with the permit or the delivery that it has.
struct ModelOrder {
  enum class What : std::uint8_t { nothing, keep, take_back, drop } what = What::nothing;
  int value = 0;
};

template <class S>
struct ReserveByOrder {
  S sender;
  const ModelOrder* order;
  std::string* result;

  Task<void> operator()(Cx cx) {
    auto permit = co_await outcome(sender.reserve(cx));
    *result = "permit";
    if (permit.is_err()) *result = to_string(permit.error().code());
    if (permit.is_cancelled()) *result = "cancelled";
    if (!permit) co_return;
    while (order->what == ModelOrder::What::nothing) co_await sleep(cx, ms(1));
    if (order->what == ModelOrder::What::take_back) {
      *result = std::move(permit.value()).abort() ? "aborted" : "not aborted";
    } else {
      *result = text_of(std::move(permit.value()).send(order->value));
    }
  }
};

struct SendOne {
  Sender<int> sender;
  int value;
  std::string* result;

  Task<void> operator()(Cx cx) {
    const Sent<int> sent = co_await sender.send(cx, value);
    *result = text_of(sent);
    if (!sent && sent.error().value != value) *result = "another value came back";
  }
};

/// The receiver may leave while this waits.
template <class R>
struct ReceiveMany {
  const R* receiver;
  std::size_t most;
  std::string* result;

  Task<void> operator()(Cx cx) const {
    if (most == 1) {
      const Outcome<int> value = co_await outcome(receiver->recv(cx));
      *result = text_of(value);
      co_return;
    }
    std::vector<int> values;
    const Outcome<std::size_t> count = co_await outcome(receiver->recv_many(cx, values, most));
    if (!count) {
      *result = text_of(count);
      co_return;
    }
    std::string all;
    for (const int value : values) all += (all.empty() ? "" : ",") + std::to_string(value);
    *result = count.value() == values.size() ? all : "another count";
  }
};

template <class R>
struct ReceiveByOrder {
  const R* receiver;
  const ModelOrder* order;
  std::string* result;

  Task<void> operator()(Cx cx) const {
    Outcome<Delivery<int>> delivery = co_await outcome(receiver->recv_with_ack(cx));
    if (delivery.is_err()) *result = to_string(delivery.error().code());
    if (delivery.is_cancelled()) *result = "cancelled";
    if (!delivery) co_return;
    *result = "has " + std::to_string(delivery.value().item());
    while (order->what == ModelOrder::What::nothing) co_await sleep(cx, ms(1));
    if (order->what == ModelOrder::What::keep) {
      *result = std::move(delivery.value()).commit() ? "committed" : "not committed";
    } else {
      if (order->what == ModelOrder::What::take_back) (void)std::move(delivery.value()).nack();
      *result = "nacked";
    }
  }
};

// --- both at once ---

template <class Kind>
class PipeBesideModel final : public BesideModel {
 public:
  PipeBesideModel(std::uint64_t seed, Scope& scope)
      : BesideModel(seed, scope), capacity_(static_cast<std::uint32_t>(1 + pick(3))), model_(capacity_, in_model_) {
    auto made = std::move(Kind::make(scope.cx(), capacity_)).value();
    senders_.push_back(std::move(made.sender));
    receivers_.push_back(std::move(made.receiver));
  }

 private:
  using Ends = std::remove_cvref_t<decltype(Kind::make(std::declval<CxOf<>>(), 1).value())>;
  using SenderOf = decltype(Ends::sender);
  using ReceiverOf = decltype(Ends::receiver);

  void step() override {
    const std::uint64_t what = pick(16);
    if (what < 6) {
      send(what);
    } else if (what < 8) {
      start_recv();
    } else if (what < 10) {
      if (!receivers_.empty()) expect("try_recv", model_.try_recv(), text_of(pick_of(receivers_).try_recv()));
    } else if (what < 12) {
      settle_permit();
    } else if (what == 12) {
      settle_delivery();
    } else if (what == 13) {
      cancel_one();
    } else if (what == 14) {
      change_ends();
    } else if (pick(6) == 0) {
      close_or_leave();
    }
  }
  void settle_model() override { model_.settle(); }
  void cancel_in_model(int operation) override { model_.cancel(operation); }
  void compare_state() override {
    if (senders_.empty() && receivers_.empty()) return;
    const Counts real = receivers_.empty() ? senders_.front().counts() : receivers_.front().counts();
    expect("", text_of_counts(model_.counts()), text_of_counts(real));
    require(real.queued + real.reserved + real.unacked <= capacity_, "more than the capacity");
  }
  static std::string text_of_counts(const Counts& counts) {
    return std::to_string(counts.queued) + "+" + std::to_string(counts.reserved) + "+" +
           std::to_string(counts.unacked) + " of " + std::to_string(counts.capacity);
  }

  void send(std::uint64_t what) {
    if (senders_.empty()) return;
    if constexpr (Kind::sends) {
      if (what == 0) return try_send();
      if (what == 1) return evict();
      if (what < 4) return start_send();
    }
    start_reserve();
  }
  void try_send() {
    const int value = new_value();
    expect("try_send", model_.try_send(value), text_of(senders_.back().try_send(value)));
  }
  void evict() {
    const int value = new_value();
    const auto sent = senders_.back().send_evict_oldest(value);
    std::string real = text_of(sent);
    if (sent && sent.value()) real = "evicted " + std::to_string(*sent.value());
    expect("evict", model_.evict(value), real);
  }
  void start_reserve() {
    auto order = std::make_unique<ModelOrder>();
    const auto task = [this, &order](std::string* result) {
      return ReserveByOrder<SenderOf>{senders_.back(), order.get(), result};
    };
    const int operation = start("reserve", task);
    order_of_[operation] = std::move(order);
    model_.senders_in_line.push_back({operation, std::nullopt});
    ++model_.senders;
  }
  void start_send() {
    const int value = new_value();
    const auto task = [this, value](std::string* result) { return SendOne{senders_.back(), value, result}; };
    model_.senders_in_line.push_back({start("send", task), value});
    ++model_.senders;
  }
  void start_recv() {
    if (receivers_.empty() || (!Kind::many_receivers && !model_.receivers_in_line.empty())) return;
    const ReceiverOf* const receiver = &pick_of(receivers_);
    if (Kind::acks && pick(2) == 0) {
      auto order = std::make_unique<ModelOrder>();
      const auto task = [receiver, &order](std::string* result) {
        return ReceiveByOrder<ReceiverOf>{receiver, order.get(), result};
      };
      const int operation = start("recv_with_ack", task);
      order_of_[operation] = std::move(order);
      model_.receivers_in_line.push_back({.operation = operation, .with_ack = true});
      return;
    }
    // Several senders that are let in at once run in any order.
    const std::size_t most = model_.senders_in_line.size() > 1 ? 1 : 1 + pick(3);
    const auto task = [receiver, most](std::string* result) { return ReceiveMany<ReceiverOf>{receiver, most, result}; };
    model_.receivers_in_line.push_back({.operation = start("recv up to " + std::to_string(most), task), .most = most});
  }
  void settle_permit() {
    if (model_.permits.empty()) return;
    const int operation = pick_of(model_.permits);
    const bool abort = pick(3) == 0;
    const int value = new_value();
    note((abort ? "abort " : "commit ") + std::to_string(operation));
    *order_of_[operation] = {abort ? ModelOrder::What::take_back : ModelOrder::What::keep, value};
    model_.settle_permit(operation, abort ? std::nullopt : std::optional(value));
  }
  void settle_delivery() {
    if (model_.handed_out.empty()) return;
    const int operation = pick_of(model_.handed_out).first;
    static constexpr ModelOrder::What orders[] = {ModelOrder::What::keep, ModelOrder::What::take_back,
                                                  ModelOrder::What::drop};
    const ModelOrder::What order = orders[pick(3)];
    const bool commit = order == ModelOrder::What::keep;
    note((commit ? "ack " : "nack ") + std::to_string(operation));
    order_of_[operation]->what = order;
    model_.settle_delivery(operation, commit);
  }
  void change_ends() {
    if constexpr (Kind::many_receivers) {
      if (pick(2) == 0 && !receivers_.empty()) {
        receivers_.push_back(receivers_.front());
        ++model_.receivers;
        return note("one more receiver");
      }
    }
    if (senders_.empty()) return;
    if (pick(3) != 0) {
      senders_.push_back(senders_.front());
      ++model_.senders;
    } else {
      senders_.pop_back();
      --model_.senders;
    }
    note(std::to_string(senders_.size()) + " senders");
  }
  void close_or_leave() {
    if (receivers_.empty()) return;
    if (pick(2) == 0) {
      note("close");
      receivers_.front().close();
      model_.closed = true;
    } else {
      note("a receiver leaves");
      receivers_.pop_front();
      model_.drop_receiver();
    }
  }

  std::uint32_t capacity_;
  PipeModel model_;
  std::vector<SenderOf> senders_;
  std::list<ReceiverOf> receivers_;
  std::map<int, std::unique_ptr<ModelOrder>> order_of_;  // by operation
};

TEST(MpscModel, CHN_1_random_operations_do_what_a_model_of_lists_does_and_never_pass_the_capacity) {
  expect_like_model<PipeBesideModel<MpscKind>>();
}
TEST(MpmcModel, CHN_11_random_operations_on_a_work_queue_do_what_a_model_of_lists_does) {
  expect_like_model<PipeBesideModel<MpmcKind>>();
}
TEST(AckModel, CHN_10_random_deliveries_acks_and_nacks_do_what_a_model_of_lists_does) {
  expect_like_model<PipeBesideModel<AckKind>>();
}
TEST(TrackedModel, CHN_9_random_operations_with_tracked_permits_do_what_a_model_of_lists_does) {
  expect_like_model<PipeBesideModel<TrackedKind>>();
}

}  // namespace
}  // namespace calm::channel
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
