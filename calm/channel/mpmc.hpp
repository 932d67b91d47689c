// mpmc.hpp — bounded work queue: many senders, many receivers, each value goes to one of them.
// Laws:    CHN-11, CHN-1..8, CHN-10
// Threads: the tasks of one runtime, on any of its workers; see sync/line.hpp
// Cancel:  as mpsc.hpp; a receiver that was woken for a value and is cancelled passes it to the next in line
#pragma once

#include <cstdint>
#include <utility>

#include "calm/channel/mpsc.hpp"
#include "calm/channel/receiver.hpp"
#include "calm/channel/sender.hpp"

namespace calm::channel {

/// One of several; a copy is one more. Those who wait are served in the order they came.
template <class T>
class SharedReceiver : public ReceiverBase<T> {
 public:
  /// For who makes channels. Needs: the pipe counts this receiver already.
  explicit SharedReceiver(Hold<Pipe<T>> pipe) noexcept : ReceiverBase<T>(std::move(pipe)) {}
  SharedReceiver(const SharedReceiver&) noexcept = default;
  SharedReceiver(SharedReceiver&&) noexcept = default;
  SharedReceiver& operator=(const SharedReceiver& other) noexcept { return *this = SharedReceiver(other); }
  SharedReceiver& operator=(SharedReceiver&&) noexcept = default;
  ~SharedReceiver() = default;
};

/// Both ends of a work queue.
template <class T>
struct Mpmc {
  Sender<T> sender;
  SharedReceiver<T> receiver;
};

/// Makes a work queue with room for `capacity` values. Fails: invalid_argument for 0; resource_exhausted.
template <Message T>
[[nodiscard]] Outcome<Mpmc<T>> mpmc(CxOf<> cx, std::uint32_t capacity) noexcept {
  Outcome<Hold<Pipe<T>>> pipe = make_pipe<T>(cx, capacity);
  if (!pipe) return err(Error(pipe.error()));
  return ok(Mpmc<T>{Sender<T>(pipe.value()), SharedReceiver<T>(pipe.value())});
}

}  // namespace calm::channel
