// map_reduce.hpp — a function over many inputs, a few at a time, and what it gives combined in the order of the inputs.
// Laws:    COM-1, I5
// Threads: as task_set.hpp says
// Cancel:  the calls under way are cancelled and waited for, no other is begun; what they had given by then is dropped
//
//   const Monoid sum{0, std::plus<>()};
//   int total = co_await map_reduce(cx, std::move(files), count_words, sum, {.parallel = 8});
//
// The operation must be associative; it need not commute: whichever call ends first, it is identity * first * second * ...,
// so what comes out is the same in every schedule. The first call that fails cancels the others, and its failure is the end
// when all have ended; one of them that throws meanwhile is worse and takes its place (OUT-2).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "calm/combinator/task_set.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"

namespace calm {

/// An associative operation and the value that changes nothing. `combine(a, b)` is a plain function.
template <class T, class F>
struct Monoid {
  T identity;
  F combine;
};
template <class T, class F>
Monoid(T, F) -> Monoid<T, F>;

struct MapReduceOptions {
  std::uint32_t parallel = 8;  ///< calls at a time; at least 1
};

namespace combinator {

/// Combines values in the order of their numbers, whichever comes first; those that are early wait.
template <class T, class F>
class InOrder {
 public:
  explicit InOrder(Monoid<T, F>& monoid) : monoid_(monoid), sum_(std::move(monoid.identity)) {}

  void add(std::uint64_t number, T value) {
    early_.emplace(number, std::move(value));
    while (!early_.empty() && early_.begin()->first == next_) {
      auto node = early_.extract(early_.begin());
      sum_ = monoid_.combine(std::move(sum_), std::move(node.mapped()));
      ++next_;
    }
  }
  [[nodiscard]] T take() { return std::move(sum_); }

 private:
  Monoid<T, F>& monoid_;
  T sum_;
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, T> early_;
};

/// The body of the set.
template <class C, class T, class Input, class Map, class F>
struct MapReduceBody {
  C cx;
  std::vector<Input> inputs;
  Map map;
  Monoid<T, F> monoid;
  std::uint32_t parallel;

  template <class Set>
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): with_task_set() keeps it until this has ended
  Task<T> operator()(Set& set) {
    InOrder<T, F> sum(monoid);
    std::size_t begun = 0;
    while (true) {
      while (begun < inputs.size() && set.counts().running < parallel) {
        (void)co_await set.try_spawn(map, std::move(inputs[begun++]));
      }
      std::optional<Finished<T>> done = co_await set.next(cx);
      if (!done) break;
      T value = co_await std::move(done->end);
      sum.add(done->number, std::move(value));
    }
    co_return sum.take();
  }
};

template <class T, class C, class Body>
Task<T> map_reduce_in(C cx, Body body, MapReduceOptions options) {
  if (options.parallel == 0) {
    co_await fail(Error(Errc::invalid_argument,
                        "a map_reduce that makes 0 calls at a time never ends [COM-1]; next: make "
                        "MapReduceOptions::parallel at least 1"));
  }
  const TaskSetOptions set{.limit = options.parallel};
  co_return co_await with_task_set<T>(cx, std::move(body), set);
}

}  // namespace combinator

/// Calls `map(cx, input)`, which gives a Task<T>, for every input, and combines what comes.
/// Needs: inputs and T can be moved, `map` can be copied.
/// Gives: the combination in the order of the inputs; the identity when there are none. Values that come before that of an
///        earlier input are kept until it comes: behind one slow call those of all other inputs, at the most.
/// Fails: as the first call that fails, when all that were begun have ended; invalid_argument for 0 calls at a time.
template <class... Caps, class Input, class Map, class T, class F>
CALM_CORO_WRAPPER Task<T> map_reduce(CxOf<Caps...> cx, std::vector<Input> inputs, Map map, Monoid<T, F> monoid,
                                     MapReduceOptions options = {}) {
  static_assert(std::is_same_v<cx::TaskValue<Map, CxOf<Caps...>, Input>, T>,
                "calm: map(cx, input) gives a Task of what the monoid combines");
  static_assert(std::is_invocable_r_v<T, F&, T, T>, "calm: combine(a, b) takes two values and gives one");
  using Body = combinator::MapReduceBody<CxOf<Caps...>, T, Input, Map, F>;
  return combinator::map_reduce_in<T>(
      cx, Body{cx, std::move(inputs), std::move(map), std::move(monoid), options.parallel}, options);
}

}  // namespace calm
