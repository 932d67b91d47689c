// mpsc.hpp — bounded many-to-one channel; sending is reserve, then commit.
// Laws:    CHN-1..8, QUI-4
// Threads: the tasks of one runtime, on any of its workers; see sync/line.hpp
// Cancel:  a waiting reserve(), send() or recv() leaves its line; send() on a permit cannot be cancelled
//
//   auto [sender, receiver] = (co_await channel::mpsc<Order>(cx, 16));
//
// It lives as long as one of its ends, its permits or its waits does, whatever regions they are in; the runtime outlives it.
#pragma once

#include <concepts>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "calm/channel/pipe.hpp"
#include "calm/channel/receiver.hpp"
#include "calm/channel/sender.hpp"
#include "calm/cx/cx.hpp"
#include "calm/model/outcome.hpp"

namespace calm::channel {

/// What a channel carries: objects that can be moved; the move may throw.
template <class T>
concept Message = std::is_object_v<T> && !std::is_const_v<T> && std::move_constructible<T> && std::destructible<T>;

/// Gives: the insides of a new channel. Fails: invalid_argument for capacity 0; resource_exhausted.
template <Message T>
Outcome<Hold<Pipe<T>>> make_pipe(CxOf<> cx, std::uint32_t capacity) noexcept {
  if (capacity == 0 || capacity == UINT32_MAX) {
    return err(Errc::invalid_argument,
               "a channel has room for 1 to 4294967294 values; see channel::rendezvous for none");
  }
  try {
    return ok(Hold<Pipe<T>>(new Pipe<T>(cx, capacity)));
  } catch (const std::bad_alloc&) {
    return err(Errc::resource_exhausted, "no memory for a channel");
  }
}

/// Both ends of a channel.
template <class T>
struct Mpsc {
  Sender<T> sender;
  Receiver<T> receiver;
};

/// Makes a channel with room for `capacity` values. Fails: invalid_argument for 0 (CHN-1); resource_exhausted.
template <Message T>
[[nodiscard]] Outcome<Mpsc<T>> mpsc(CxOf<> cx, std::uint32_t capacity) noexcept {
  Outcome<Hold<Pipe<T>>> pipe = make_pipe<T>(cx, capacity);
  if (!pipe) return err(Error(pipe.error()));
  return ok(Mpsc<T>{Sender<T>(pipe.value()), Receiver<T>(pipe.value())});
}

}  // namespace calm::channel
