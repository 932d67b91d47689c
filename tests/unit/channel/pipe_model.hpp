// pipe_model.hpp — a bounded channel as plain lists: what is queued, promised, handed out, and who waits in which line.
// Laws:    CHN-1..10, as a naive reading of them
// Threads: one
// Cancel:  cancel() takes an operation out of its line
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calm/channel/slots.hpp"
#include "tests/unit/channel/beside_model.hpp"

namespace calm::channel {

class PipeModel {
 public:
  struct Sends {
    int operation;
    std::optional<int> value;  ///< a reserve has none
  };
  struct Receives {
    int operation;
    std::size_t most = 1;
    bool with_ack = false;
  };

  PipeModel(std::uint32_t capacity, Results& results) : capacity_(capacity), results_(results) {}

  std::deque<int> queue;
  std::vector<int> permits;       ///< operations that hold one
  std::map<int, int> handed_out;  ///< what operations have not acknowledged
  std::deque<Sends> senders_in_line;
  std::deque<Receives> receivers_in_line;
  int senders = 1;    ///< handles, and operations that have one
  int receivers = 1;  ///< handles
  bool closed = false;

  [[nodiscard]] Counts counts() const {
    return {.queued = static_cast<std::uint32_t>(queue.size()),
            .reserved = static_cast<std::uint32_t>(permits.size()),
            .unacked = static_cast<std::uint32_t>(handed_out.size()),
            .capacity = capacity_};
  }
  [[nodiscard]] bool has_room() const { return queue.size() + permits.size() + handed_out.size() < capacity_; }

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
    queue.push_back(value);
    return "evicted " + take();
  }
  [[nodiscard]] std::string try_recv() {
    if (!queue.empty()) return take();
    return is_over() ? "disconnected" : "empty";
  }
  void drop_receiver() {
    if (--receivers != 0) return;
    closed = true;
    queue.clear();
  }
  void cancel(int operation) {
    senders -= static_cast<int>(leave(senders_in_line, operation));
    (void)leave(receivers_in_line, operation);
  }
  void settle_permit(int operation, std::optional<int> value) {
    permits.erase(std::find(permits.begin(), permits.end(), operation));
    --senders;
    if (value && receivers != 0) queue.push_back(*value);
    results_[operation] = !value ? "aborted" : receivers != 0 ? "sent" : "disconnected";
  }
  void settle_delivery(int operation, bool commit) {
    if (!commit && receivers != 0) queue.push_front(handed_out.at(operation));
    handed_out.erase(operation);
    results_[operation] = commit ? "committed" : "nacked";
  }

  /// Everybody goes on as far as they can.
  void settle() {
    while (settle_sender() || settle_receiver()) continue;
  }

 private:
  template <class Line>
  static bool leave(Line& line, int operation) {
    return std::erase_if(line, [operation](const auto& waiter) { return waiter.operation == operation; }) != 0;
  }
  [[nodiscard]] bool is_finished() const { return permits.empty() && (senders == 0 || closed); }
  [[nodiscard]] bool is_over() const {
    return receivers == 0 || (is_finished() && queue.empty() && handed_out.empty());
  }
  [[nodiscard]] std::string take() {
    const int value = queue.front();
    queue.pop_front();
    return std::to_string(value);
  }

  bool settle_sender() {
    if (senders_in_line.empty() || (!closed && !has_room())) return false;
    const Sends waiter = senders_in_line.front();
    senders_in_line.pop_front();
    if (!closed && !waiter.value) {
      permits.push_back(waiter.operation);
      results_[waiter.operation] = "permit";
      return true;
    }
    --senders;
    if (!closed) queue.push_back(*waiter.value);  // NOLINT(bugprone-unchecked-optional-access): one of both is so
    results_[waiter.operation] = closed ? "disconnected" : "sent";
    return true;
  }
  bool settle_receiver() {
    if (receivers_in_line.empty() || (queue.empty() && !is_over())) return false;
    const Receives waiter = receivers_in_line.front();
    receivers_in_line.pop_front();
    std::string& result = results_[waiter.operation];
    if (is_over()) {
      result = "disconnected";
    } else if (waiter.with_ack) {
      handed_out[waiter.operation] = queue.front();
      result = "has " + take();
    } else {
      result = take();
      for (std::size_t count = 1; count < waiter.most && !queue.empty(); ++count) result += "," + take();
    }
    return true;
  }

  std::uint32_t capacity_;
  Results& results_;
};

}  // namespace calm::channel
