// channel.hpp — a channel of texts as the steps of a scenario use it, whichever of the family it is.
// Laws:    CHN-1..11, LAB-11
// Threads: one
// Cancel:  as the channel behind it; a deed that is cancelled answers `cancelled`
//
// The scenario holds the ends, and the task that a step names uses them in its own poll.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "calm/channel/delivery.hpp"
#include "calm/channel/mpsc.hpp"
#include "calm/channel/permit.hpp"
#include "calm/channel/tracked.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/task.hpp"
#include "calm/model/error_code.hpp"

namespace calm::scenario {

/// Which of the family; the words are in words.cpp.
enum class ChannelKind : std::uint8_t { mpsc, tracked, mpmc, oneshot, broadcast, watch, rendezvous };

/// What came of a deed, and the text it gave: what was received, or came back.
struct Answer {
  Status status{};
  std::string text{};
};

/// A place that was reserved; nothing when the reservation did not come to its end.
using HeldPlace = std::variant<std::monostate, channel::Permit<std::string>, channel::TrackedPermit<std::string>>;
using Delivered = std::optional<channel::Delivery<std::string>>;

/// Each kind can do some of these; the others answer `unsupported`. Ends have numbers, from 1, in the order they were made.
/// Fails: Problem when an end is used that is gone.
class Channel {
 public:
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  virtual ~Channel() = default;

  virtual Task<Answer> reserve(Cx cx, HeldPlace& place);
  virtual Answer try_reserve(Cx cx, HeldPlace& place);
  virtual Task<Answer> send(Cx cx, std::string value);
  virtual Answer try_send(std::string value);
  virtual Answer send_evict_oldest(std::string value);

  virtual Task<Answer> recv(Cx cx, std::uint64_t receiver);
  virtual Answer try_recv(std::uint64_t receiver);
  virtual Task<Answer> recv_many(Cx cx, std::size_t most);
  virtual Task<Answer> recv_with_ack(Cx cx, Delivered& delivery);

  virtual Status close();
  virtual Status add_sender();
  virtual Status drop_sender();
  virtual Status add_receiver();
  virtual Status drop_receiver(std::uint64_t receiver);

  /// Gives: how full it is; nothing for kinds without places, and when all ends are gone.
  [[nodiscard]] virtual std::optional<channel::Counts> counts() const { return std::nullopt; }
};

struct OpenedChannel {
  Status status{};
  std::unique_ptr<Channel> channel{};
};

/// Makes a channel; `first` is what a watch begins with.
OpenedChannel open_channel(Cx cx, ChannelKind kind, std::uint32_t capacity, std::string first);

/// Gives: the answer of a send: what could not be sent comes back with it (CHN-8).
inline Answer answer_of(channel::Sent<std::string> sent) {
  if (sent) return {};
  channel::Unsent<std::string> unsent = std::move(sent).error();
  return {unsent.code, std::move(unsent.value)};
}
/// Gives: the answer of something that gives a text.
inline Answer answer_of(Outcome<std::string> got) {
  if (got) return {{}, std::move(got).value()};
  return {got.error().code(), {}};
}

[[noreturn]] void end_is_gone(const char* end);

/// Gives: the end with this number among those that were made; each is an optional. Fails: as end_is_gone().
template <class Ends>
auto& numbered_end(Ends& ends, std::uint64_t number, const char* what) {
  if (number == 0 || number > ends.size() || !ends[number - 1]) end_is_gone(what);
  return *ends[number - 1];  // NOLINT(bugprone-unchecked-optional-access): it is there
}

}  // namespace calm::scenario
