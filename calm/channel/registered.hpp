// registered.hpp — channels that belong to a scope: it is not left before they are drained.
// Laws:    QUI-1, QUI-2, QUI-4, CHN-7, HND-3
// Threads: made by the task of the scope; used as any channel
// Cancel:  a cancelled scope does not wait for what is left: that stays with the receiver
//
//   auto [sender, receiver] = co_await channel::mpsc<Order>(scope, 16);
//
// Once everything in the scope has ended no place is given away any more, so who still sends from elsewhere learns
// `disconnected`, and the scope waits until what is queued, promised or handed out was received or came back, or the last receiver
// has left. Meanwhile an inspection counts the channel as not drained. Such a channel is kept until then even if nobody else has it:
// one that comes and goes while its scope stays belongs to no scope. Whoever receives what is left must not itself wait for
// the scope.
#pragma once

#include <cstdint>
#include <utility>

#include "calm/channel/mpmc.hpp"
#include "calm/channel/mpsc.hpp"
#include "calm/channel/pipe.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"

namespace calm::channel {

/// Parks until a channel is drained, or the region is cancelled that it belongs to.
template <class T>
class DrainWait : public sync::LineWait<Drain<T>> {
 public:
  DrainWait(const cx::Context* context, Pipe<T>* pipe) noexcept : sync::LineWait<Drain<T>>(context, &pipe->drain()) {}

  cx::WaitState step(cx::TaskRoot& root, ChildEnd& end) noexcept override {
    if (!root.port().is_cancelled(root.region())) return this->step_of_line(root, end);
    this->abandon();
    return cx::WaitState::ready;
  }
  void result() noexcept {
    if (this->place() == sync::Place::granted) this->use_grant();
  }

 protected:
  ~DrainWait() = default;
};

/// While it lives a channel counts as not drained.
class Undrained {
 public:
  explicit Undrained(cx::Port& port) noexcept : port_(port) { port_.add_undrained_channel(); }
  Undrained(const Undrained&) = delete;
  Undrained& operator=(const Undrained&) = delete;
  ~Undrained() { port_.take_undrained_channel(); }

 private:
  cx::Port& port_;
};

/// What the scope of a channel does in the end.
template <class T>
Task<void> drain(CxOf<> cx, Hold<Pipe<T>> pipe) {
  pipe->close();
  const Undrained undrained(cx::context_of(cx).root()->port());
  co_await cx::WaitFor<DrainWait<T>, const cx::Context*, Pipe<T>*>(&cx::context_of(cx), &*pipe);
}

/// Gives: the insides of a new channel of the scope. Fails: as make_pipe(), and region_not_open when the scope ends already.
template <Message T, class... Caps>
Outcome<Hold<Pipe<T>>> make_registered_pipe(ScopeOf<Caps...>& scope, std::uint32_t capacity) {
  Outcome<Hold<Pipe<T>>> pipe = make_pipe<T>(scope.cx(), capacity);
  if (!pipe) return pipe;
  if (Outcome<void> kept = scope.defer_async(&drain<T>, pipe.value()); !kept) return err(std::move(kept).error());
  return pipe;
}

/// As mpsc(cx, capacity), and the channel belongs to the scope.
template <Message T, class... Caps>
[[nodiscard]] Outcome<Mpsc<T>> mpsc(ScopeOf<Caps...>& scope, std::uint32_t capacity) {
  Outcome<Hold<Pipe<T>>> pipe = make_registered_pipe<T>(scope, capacity);
  if (!pipe) return err(std::move(pipe).error());
  return ok(Mpsc<T>{Sender<T>(pipe.value()), Receiver<T>(pipe.value())});
}

/// As mpmc(cx, capacity), and the channel belongs to the scope.
template <Message T, class... Caps>
[[nodiscard]] Outcome<Mpmc<T>> mpmc(ScopeOf<Caps...>& scope, std::uint32_t capacity) {
  Outcome<Hold<Pipe<T>>> pipe = make_registered_pipe<T>(scope, capacity);
  if (!pipe) return err(std::move(pipe).error());
  return ok(Mpmc<T>{Sender<T>(pipe.value()), SharedReceiver<T>(pipe.value())});
}

}  // namespace calm::channel
