// pipeline.hpp — stages joined by bounded channels: a slow stage holds up those before it, and nothing piles up.
// Laws:    COM-1, I2, I4, I5, CHN-1, CHN-4, CHN-7, OUT-4
// Threads: the tasks of one worker; the stages are fibers of it
// Cancel:  all stages are cancelled and waited for. What is queued is dropped with its channel; a value that a stage was about
//          to send comes back to that stage (CHN-8)
//
//   co_await pipeline(cx, {.capacity = 4},
//                     from(std::move(orders)),                // or produce<Order>(read_orders)
//                     each(price, {.parallel = 3}),           // price(cx, order) gives a Task<Bill>
//                     through<Batch>(pack),                   // pack(cx, receiver, sender) gives a Task<void>
//                     each(ship));                            // ship(cx, batch) gives a Task<void>: the last one
//
// A stage ends when its input has, and so the next one comes to its end. One that needs no more input just ends: those before
// it find nobody who takes what they send and end, too, and that is no failure. The first failure cancels all stages, and is
// the end of the pipeline when all have ended.
//
// Order: what a stage sends arrives in that order. each() sends in the order of its input while it runs one at a time; with
// more, in the order in which they are done. At most `capacity` values are queued before a stage and `parallel` are in it.
// Each value that is sent into a channel is received, or returned to who sent it, or dropped with the channel: once.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "calm/channel/mpsc.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"

// As in scope.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

namespace calm {

struct PipelineOptions {
  std::uint32_t capacity = 1;  ///< of each channel between two stages; at least 1
};

struct StageOptions {
  std::uint32_t parallel = 1;  ///< values of one stage that are worked on at a time; at least 1
};

namespace combinator {

template <class T, class F>
struct Produce {
  using First = T;
  F function;
};
template <class F>
struct Each {
  F function;
  StageOptions options;
};
template <class Out, class F>
struct Through {
  F function;
};

template <class T>
struct SendAll {
  std::vector<T> values;

  template <class C>
  Task<void> operator()(C cx, channel::Sender<T> out) {
    for (T& value : values) {
      const channel::Sent<T> sent = co_await out.send(cx, std::move(value));
      if (sent) continue;
      if (sent.error().code == Errc::cancelled) co_await fail_with(cancelled(sent.error().reason));
      break;  // nobody takes them any more
    }
  }
};

/// What the workers of one stage share. The last of them ends the channel before it.
template <class In, class F>
struct Workshop {
  channel::Receiver<In> input;
  F function;
};

template <class Out, class C, class Shop>
Task<void> work(C cx, std::shared_ptr<Shop> shop, channel::Sender<Out> out) {
  while (true) {
    auto value = co_await shop->input.next(cx);
    if (!value) break;
    Out made = co_await shop->function(cx, std::move(*value));
    const channel::Sent<Out> sent = co_await out.send(cx, std::move(made));
    if (sent) continue;
    if (sent.error().code == Errc::cancelled) co_await fail_with(cancelled(sent.error().reason));
    break;  // nobody takes them any more
  }
}
template <class C, class Shop>
Task<void> finish_work(C cx, std::shared_ptr<Shop> shop) {
  while (true) {
    auto value = co_await shop->input.next(cx);
    if (!value) break;
    co_await shop->function(cx, std::move(*value));
  }
}

/// The body of the scope: starts the stages from the first to the last, each with its channels.
template <class... Stages>
struct PipelineBody {
  PipelineOptions options;
  std::tuple<Stages...> stages;

  template <class S>
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): scope() keeps it until this has ended
  Task<void> operator()(S& scope) {
    if (options.capacity == 0) {
      co_await fail(Error(Errc::invalid_argument,
                          "a pipeline whose channels have no room passes nothing on [COM-1]; next: make "
                          "PipelineOptions::capacity at least 1"));
    }
    Outcome<void> started = begin(scope);
    co_await std::move(started);
  }

 private:
  template <class S>
  Outcome<void> begin(S& scope) {
    auto& source = std::get<0>(stages);
    using T = typename std::remove_cvref_t<decltype(source)>::First;
    Outcome<channel::Mpsc<T>> link = channel::mpsc<T>(scope.cx(), options.capacity);
    if (!link) return err(Error(link.error()));
    auto begun = scope.fiber(std::move(source.function), std::move(link.value().sender));
    if (!begun) return err(Error(begun.error()));
    return start<1>(scope, std::get<1>(stages), std::move(link.value().receiver));
  }

  /// Goes on behind a stage that gives an Out.
  template <std::size_t number, class Out, class S>
  Outcome<void> go_on(S& scope, channel::Receiver<Out> output) {
    static_assert(number + 1 < sizeof...(Stages),
                  "calm: the last stage of a pipeline gives nothing: each() with a Task<void>, or through<void>()");
    if constexpr (number + 1 < sizeof...(Stages)) {
      return start<number + 1>(scope, std::get<number + 1>(stages), std::move(output));
    }
  }

  template <std::size_t number, class S, class In, class F>
  Outcome<void> start(S& scope, Each<F>& stage, channel::Receiver<In> input) {
    using C = typename S::Context;
    using Out = cx::TaskValue<F&, C, In>;
    using Shop = Workshop<In, F>;
    if (stage.options.parallel == 0) {
      return err(Error(Errc::invalid_argument,
                       "a stage that works on 0 values at a time passes nothing on [COM-1]; next: make "
                       "StageOptions::parallel at least 1"));
    }
    const auto shop = std::make_shared<Shop>(Shop{std::move(input), std::move(stage.function)});
    if constexpr (std::is_void_v<Out>) {
      static_assert(number + 1 == sizeof...(Stages), "calm: a stage that gives nothing is the last of its pipeline");
      for (std::uint32_t i = 0; i < stage.options.parallel; ++i) {
        auto begun = scope.fiber(&finish_work<C, Shop>, shop);
        if (!begun) return err(Error(begun.error()));
      }
      return ok();
    } else {
      Outcome<channel::Mpsc<Out>> link = channel::mpsc<Out>(scope.cx(), options.capacity);
      if (!link) return err(Error(link.error()));
      for (std::uint32_t i = 0; i < stage.options.parallel; ++i) {
        auto begun = scope.fiber(&work<Out, C, Shop>, shop, link.value().sender);
        if (!begun) return err(Error(begun.error()));
      }
      return go_on<number>(scope, std::move(link.value().receiver));
    }
  }

  template <std::size_t number, class S, class In, class Out, class F>
  Outcome<void> start(S& scope, Through<Out, F>& stage, channel::Receiver<In> input) {
    if constexpr (std::is_void_v<Out>) {
      static_assert(number + 1 == sizeof...(Stages), "calm: a stage that gives nothing is the last of its pipeline");
      auto begun = scope.fiber(std::move(stage.function), std::move(input));
      if (!begun) return err(Error(begun.error()));
      return ok();
    } else {
      Outcome<channel::Mpsc<Out>> link = channel::mpsc<Out>(scope.cx(), options.capacity);
      if (!link) return err(Error(link.error()));
      auto begun = scope.fiber(std::move(stage.function), std::move(input), std::move(link.value().sender));
      if (!begun) return err(Error(begun.error()));
      return go_on<number>(scope, std::move(link.value().receiver));
    }
  }
};

}  // namespace combinator

/// The first stage: `function(cx, sender)` gives a Task<void> and sends what it makes.
template <class T, class F>
combinator::Produce<T, F> produce(F function) {
  return {std::move(function)};
}
/// The first stage: sends these.
template <class T>
combinator::Produce<T, combinator::SendAll<T>> from(std::vector<T> values) {
  return {{std::move(values)}};
}
/// A stage: `function(cx, value)` gives a Task of what is sent on; the last stage gives a Task<void>.
template <class F>
combinator::Each<F> each(F function, StageOptions options = {}) {
  return {std::move(function), options};
}
/// A stage that takes and sends as it likes: `function(cx, receiver, sender)` gives a Task<void>. With Out void it is the
/// last, `function(cx, receiver)`.
template <class Out, class F>
combinator::Through<Out, F> through(F function) {
  return {std::move(function)};
}

/// Runs the stages, each in tasks of its own, and returns when all have ended.
/// Fails: as the first stage that fails; invalid_argument for a capacity or a stage of 0; resource_exhausted.
template <class... Caps, class First, class Function, class... Stages>
CALM_CORO_WRAPPER Task<void> pipeline(CxOf<Caps...> cx, PipelineOptions options,
                                      combinator::Produce<First, Function> source, Stages... stages) {
  static_assert(sizeof...(Stages) != 0, "calm: a pipeline has a first and a last stage");
  using Body = combinator::PipelineBody<combinator::Produce<First, Function>, Stages...>;
  return scope(cx, Body{options, {std::move(source), std::move(stages)...}});
}

}  // namespace calm

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
