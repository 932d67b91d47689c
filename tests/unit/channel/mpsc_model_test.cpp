// Random operations on a channel, and beside it a model of plain lists: after every step both must look the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calm/channel/mpsc.hpp"
#include "calm/cx/scope.hpp"
#include "calm/lab/lab.hpp"
#include "calm/model/split_mix.hpp"
#include "tests/unit/channel/channel_bench.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm::channel {
namespace {

using Results = std::map<int, std::string>;

// --- the model: no tasks, no grants; whoever can go on does so at once ---

struct ModelWaiter {
  int operation;
  std::optional<int> value;  // of a send; a reserve has none
};

class MpscModel {
 public:
  explicit MpscModel(std::uint32_t capacity) : capacity_(capacity) {}

  std::deque<int> queue;
  std::vector<int> permits;  // operations that hold one
  std::deque<ModelWaiter> senders_in_line;
  std::optional<int> receiver_in_line;
  int senders = 1;  // handles, and operations that have one
  bool closed = false;
  bool receiver = true;
  Results results;

  [[nodiscard]] bool has_room() const { return queue.size() + permits.size() < capacity_; }
  [[nodiscard]] std::string try_send(int value) {
    if (closed) return "disconnected";
    if (!senders_in_line.empty() || !has_room()) return "full";
    queue.push_back(value);
    return "sent";
  }
  [[nodiscard]] std::string evict(int value) {
    if (closed) return "disconnected";
    if (senders_in_line.empty() && has_room()) {
      queue.push_back(value);
      return "sent";
    }
    if (queue.empty()) return "full";
    const int oldest = queue.front();
    queue.pop_front();
    queue.push_back(value);
    return "evicted " + std::to_string(oldest);
  }
  [[nodiscard]] std::string try_recv() {
    if (queue.empty()) return is_finished() ? "disconnected" : "empty";
    const int value = queue.front();
    queue.pop_front();
    return std::to_string(value);
  }
  void drop_receiver() {
    receiver = false;
    closed = true;
    queue.clear();
  }
  void cancel(int operation) {
    const auto is_it = [operation](const ModelWaiter& waiter) { return waiter.operation == operation; };
    if (const auto at = std::find_if(senders_in_line.begin(), senders_in_line.end(), is_it);
        at != senders_in_line.end()) {
      senders_in_line.erase(at);
      --senders;
    } else if (receiver_in_line == operation) {
      receiver_in_line.reset();
    } else {
      return;
    }
    results[operation] = "cancelled";
  }
  void settle_permit(int operation, std::optional<int> value) {
    permits.erase(std::find(permits.begin(), permits.end(), operation));
    --senders;
    if (value && receiver) queue.push_back(*value);
    results[operation] = !value ? "aborted" : receiver ? "sent" : "disconnected";
  }
  /// Everybody goes on as far as they can.
  void settle() {
    for (bool changed = true; changed;) {
      changed = false;
      if (closed && !senders_in_line.empty()) {
        results[senders_in_line.front().operation] = "disconnected";
        senders_in_line.pop_front();
        --senders;
        changed = true;
      } else if (!senders_in_line.empty() && has_room()) {
        const ModelWaiter waiter = senders_in_line.front();
        senders_in_line.pop_front();
        if (waiter.value) {
          queue.push_back(*waiter.value);
          results[waiter.operation] = "sent";
          --senders;
        } else {
          permits.push_back(waiter.operation);
          results[waiter.operation] = "permit";
        }
        changed = true;
      }
      if (receiver_in_line && (!queue.empty() || is_finished())) {
        results[*receiver_in_line] = try_recv();
        receiver_in_line.reset();
        changed = true;
      }
    }
  }

 private:
  [[nodiscard]] bool is_finished() const { return permits.empty() && (senders == 0 || closed); }

  std::uint32_t capacity_;
};

// --- the channel, driven by the same operations ---

enum class Order : std::uint8_t { none, send, abort };

/// What a task with a permit is told to do with it.
struct PermitOrder {
  Order order = Order::none;
  int value = 0;
};

struct ReserveTask {
  Sender<int> sender;
  std::string* result;
  const PermitOrder* order;

  Task<void> operator()(Cx cx) {
    Outcome<Permit<int>> permit = co_await outcome(sender.reserve(cx));
    if (!permit) {
      *result = permit.is_err() ? to_string(permit.error().code()) : "cancelled";
      co_return;
    }
    *result = "permit";
    while (order->order == Order::none) co_await sleep(cx, ms(1));
    if (order->order == Order::abort) {
      *result = std::move(permit.value()).abort() ? "aborted" : "wrong";
    } else {
      const Sent<int> sent = std::move(permit.value()).send(order->value);
      *result = sent ? "sent" : to_string(sent.error().code);
    }
  }
};

struct SendTask {
  Sender<int> sender;
  std::string* result;
  int value;

  Task<void> operator()(Cx cx) {
    const Sent<int> sent = co_await sender.send(cx, value);
    *result = sent ? "sent" : to_string(sent.error().code);
    if (!sent && sent.error().value != value) *result = "another value came back";
  }
};

struct ReceiveTask {
  const Receiver<int>* receiver;
  std::string* result;

  Task<void> operator()(Cx cx) const {
    const Outcome<int> value = co_await outcome(receiver->recv(cx));
    *result = value ? std::to_string(value.value()) : "cancelled";
    if (value.is_err()) *result = to_string(value.error().code());
  }
};

class MpscBesideModel {
 public:
  MpscBesideModel(std::uint64_t seed, Scope& scope)
      : numbers_(seed),
        scope_(scope),
        capacity_(static_cast<std::uint32_t>(1 + numbers_.next() % 3)),
        model_(capacity_) {
    Mpsc<int> made = std::move(mpsc<int>(scope.cx(), capacity_)).value();
    senders_.push_back(std::move(made.sender));
    receiver_.emplace(std::move(made.receiver));
  }

  Task<void> run(int steps) {
    for (int i = 0; i < steps && problem_.empty(); ++i) {
      step();
      co_await sleep(scope_.cx(), ms(2));
      model_.settle();
      compare();
    }
    for (auto& [operation, order] : orders_) order->order = Order::abort;
    for (auto& [operation, handle] : handles_) handle.cancel();
  }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  [[nodiscard]] std::uint64_t pick(std::uint64_t bound) { return numbers_.next() % bound; }
  void expect(const std::string& what, std::string_view model, std::string_view real) {
    story_ += what + "; ";
    if (problem_.empty() && model != real) {
      problem_ = story_ + "the model says " + std::string(model) + ", the channel " + std::string(real);
    }
  }

  void step() {
    switch (pick(16)) {
      case 0:
      case 1:
        try_send();
        break;
      case 2:
      case 3:
        start_reserve();
        break;
      case 4:
      case 5:
        start_send();
        break;
      case 6:
      case 7:
        start_recv();
        break;
      case 8:
      case 9:
        if (receiver_) expect("try_recv", model_.try_recv(), text_of(receiver_->try_recv()));
        break;
      case 10:
      case 11:
        settle_permit();
        break;
      case 12:
        evict();
        break;
      case 13:
        cancel_one();
        break;
      case 14:
        change_senders();
        break;
      default:
        if (pick(6) == 0) close_or_leave();
    }
  }

  static std::string text_of(const Outcome<int>& value) {
    return value ? std::to_string(value.value()) : std::string(to_string(value.error().code()));
  }
  void try_send() {
    if (senders_.empty()) return;
    const int value = ++values_;
    const Sent<int> sent = senders_.back().try_send(value);
    expect("try_send", model_.try_send(value), sent ? "sent" : to_string(sent.error().code));
  }
  void evict() {
    if (senders_.empty()) return;
    const int value = ++values_;
    const auto sent = senders_.back().send_evict_oldest(value);
    std::string real = "sent";
    if (!sent) {
      real = to_string(sent.error().code);
    } else if (sent.value()) {
      real = "evicted " + std::to_string(*sent.value());
    }
    expect("evict", model_.evict(value), real);
  }
  /// Starts a task; what it comes to stands in results_.
  template <class F>
  void start(int operation, F task) {
    handles_.emplace(operation, std::move(scope_.fiber(std::move(task))).value());
  }
  [[nodiscard]] int new_operation(const std::string& what) {
    story_ += what + " " + std::to_string(++operations_) + "; ";
    model_.results[operations_] = results_[operations_] = "pending";
    return operations_;
  }
  void start_reserve() {
    if (senders_.empty()) return;
    const int operation = new_operation("reserve");
    ++model_.senders;
    model_.senders_in_line.push_back({operation, std::nullopt});
    auto& order = orders_[operation] = std::make_unique<PermitOrder>();
    start(operation, ReserveTask{senders_.back(), &results_[operation], order.get()});
  }
  void start_send() {
    if (senders_.empty()) return;
    const int operation = new_operation("send");
    ++model_.senders;
    model_.senders_in_line.push_back({operation, ++values_});
    start(operation, SendTask{senders_.back(), &results_[operation], values_});
  }
  void start_recv() {
    if (!receiver_ || model_.receiver_in_line) return;
    const int operation = new_operation("recv");
    model_.receiver_in_line = operation;
    start(operation, ReceiveTask{&*receiver_, &results_[operation]});
  }
  void settle_permit() {
    if (model_.permits.empty()) return;
    const int operation = model_.permits[pick(model_.permits.size())];
    const bool abort = pick(3) == 0;
    story_ += (abort ? "abort " : "commit ") + std::to_string(operation) + "; ";
    *orders_[operation] = {abort ? Order::abort : Order::send, ++values_};
    model_.settle_permit(operation, abort ? std::nullopt : std::optional(values_));
  }
  void cancel_one() {
    if (operations_ == 0) return;
    const int operation = 1 + static_cast<int>(pick(static_cast<std::uint64_t>(operations_)));
    if (model_.results[operation] != "pending") return;
    story_ += "cancel " + std::to_string(operation) + "; ";
    handles_.at(operation).cancel();
    model_.cancel(operation);
  }
  void change_senders() {
    if (senders_.empty()) return;
    if (pick(3) != 0) {
      senders_.push_back(senders_.front());
      ++model_.senders;
    } else {
      senders_.pop_back();
      --model_.senders;
    }
    story_ += std::to_string(senders_.size()) + " senders; ";
  }
  void close_or_leave() {
    if (!receiver_) return;
    if (pick(2) == 0) {
      story_ += "close; ";
      receiver_->close();
      model_.closed = true;
    } else if (!model_.receiver_in_line) {
      story_ += "the receiver leaves; ";
      receiver_.reset();
      model_.drop_receiver();
    }
  }

  void compare() {
    if (!problem_.empty()) return;
    for (const auto& [operation, result] : model_.results) {
      expect("operation " + std::to_string(operation), result, results_[operation]);
    }
    if (senders_.empty() && !receiver_) return;
    const Counts counts = receiver_ ? receiver_->counts() : senders_.front().counts();
    const std::string model = std::to_string(model_.queue.size()) + "+" + std::to_string(model_.permits.size());
    expect("", model, std::to_string(counts.queued) + "+" + std::to_string(counts.reserved));
    if (counts.queued + counts.reserved + counts.unacked > capacity_) problem_ = story_ + "more than the capacity";
    story_ += "| ";
  }

  SplitMix numbers_;
  Scope& scope_;
  std::uint32_t capacity_;
  MpscModel model_;
  std::vector<Sender<int>> senders_;
  std::optional<Receiver<int>> receiver_;
  Results results_;
  std::map<int, std::unique_ptr<PermitOrder>> orders_;
  std::map<int, Handle<void>> handles_;
  std::string story_;
  std::string problem_;
  int operations_ = 0;
  int values_ = 0;
};

/// Gives: what went wrong, or nothing.
std::string compare_with_model(std::uint64_t seed, int steps) {
  std::string problem;
  const lab::LabReport report = lab::run({.seed = seed}, [&problem, seed, steps](Cx cx) -> Task<void> {
    const auto body = [&problem, seed, steps](Scope& scope) -> Task<void> {
      MpscBesideModel both(seed, scope);
      co_await both.run(steps);
      co_await sleep(scope.cx(), ms(2));
      problem = both.problem();
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect}));
  });
  if (problem.empty() && !report.is_clean()) problem = to_string(report);
  return problem;
}

std::uint64_t number_in(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): of one thread
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// ./dev soak looks further than the thousand sequences of every day.
TEST(MpscModel, CHN_1_random_operations_do_what_a_model_of_lists_does_and_never_pass_the_capacity) {
  const std::uint64_t first = number_in("CALM_REFERENCE_SEED", 1);
  const std::uint64_t count = number_in("CALM_REFERENCE_SEQUENCES", 1000);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::string problem = compare_with_model(seed, 25);
    ASSERT_EQ(problem, "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace calm::channel
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
