// bulkhead.hpp — so many calls at a time, so many that wait, and an error for the rest: one slow callee sinks no ship.
// Laws:    COM-1, CHN-4, CHN-12 (first come, first served), CAN-13, OBL-2 (a place is counted), OBL-4
// Threads: the tasks of one runtime, on any of its workers; see line.hpp
// Cancel:  a waiting call leaves the line and has called nothing; a call that is cancelled ends as it does, and its place goes
//          to the next
//
//   Bulkhead database(cx, {.limit = 4, .waiting = 16});
//   Row row = co_await database.call(cx, query, id);           // full: 4 run and 16 wait
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "calm/check/require.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/error.hpp"
#include "calm/model/obligation_kind.hpp"
#include "calm/sync/counted.hpp"
#include "calm/sync/line.hpp"

namespace calm {

struct BulkheadOptions {
  std::uint32_t limit = 1;    ///< calls at a time; at least 1
  std::uint32_t waiting = 0;  ///< calls that may wait for a place; 0: none does
};

class Bulkhead {
  class EnterWait;

 public:
  /// Needs: the context of the code that makes it; nobody is in it or waits when it ends.
  Bulkhead(CxOf<> cx, BulkheadOptions options) noexcept : line_(cx), options_(options), free_(options.limit) {}
  Bulkhead(const Bulkhead&) = delete;
  Bulkhead& operator=(const Bulkhead&) = delete;
  ~Bulkhead() { CALM_REQUIRE(COM_1, free_ == options_.limit, free_, options_.limit); }

  /// One of the calls at a time; it is given back when this ends.
  class [[nodiscard("a place that is dropped at once is given back")]] Place {
   public:
    Place(Place&& other) noexcept
        : bulkhead_(std::exchange(other.bulkhead_, nullptr)), promise_(std::move(other.promise_)) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(bulkhead_, other.bulkhead_);
      std::swap(promise_, other.promise_);
      return *this;
    }
    ~Place() { leave(); }

    /// Before its end. A second time it does nothing.
    void leave() noexcept {
      if (bulkhead_ == nullptr) return;
      promise_.settle(bulkhead_->line_.port(), ObligationKind::semaphore_permit);
      std::exchange(bulkhead_, nullptr)->give_back();
    }

   private:
    friend class Bulkhead;
    explicit Place(Bulkhead& bulkhead) noexcept
        : bulkhead_(&bulkhead), promise_(bulkhead.line_.port(), ObligationKind::semaphore_permit) {}

    Bulkhead* bulkhead_;
    sync::Counted promise_;
  };

  /// Gives: a place, when all who came before have had theirs.
  /// Fails: full when the line is as long as it may be; invalid_argument for a limit of 0.
  cx::WaitFor<EnterWait, const cx::Context*, Bulkhead*> enter(CxOf<> cx) noexcept;

  /// Runs `callable(cx, arguments...)`, which gives a Task, in a place. Gives: what it gives. Fails: as it does; as enter().
  template <class... Caps, class F, class... Arguments>
  auto call(CxOf<Caps...> cx, F callable, Arguments... arguments)
      -> Task<cx::TaskValue<F, CxOf<Caps...>, Arguments...>>;

  /// Only look. Give: how many are called, and wait, now.
  [[nodiscard]] std::uint32_t inside() const noexcept {
    const sync::Line::Turn turn(line_);
    line_.reads();
    return options_.limit - free_;
  }
  [[nodiscard]] std::uint32_t waiting() const noexcept {
    const sync::Line::Turn turn(line_);
    line_.reads();
    return line_.size();
  }

  // --- what a LineWait asks ---

  [[nodiscard]] sync::Line& line() noexcept { return line_; }
  [[nodiscard]] bool try_admit(const sync::Waiter& /*waiter*/, TaskId /*task*/) noexcept {
    if (free_ == 0) return false;  // COM-1: nobody waits while a place is free, so nobody is overtaken
    --free_;
    return true;
  }
  [[nodiscard]] bool refuses(const sync::Waiter& /*waiter*/, TaskId /*task*/, ChildEnd& end) const noexcept {
    if (options_.limit != 0 && line_.size() < options_.waiting) return false;
    end = options_.limit == 0
              ? err(Error(Errc::invalid_argument,
                          "a bulkhead with a limit of 0 lets nobody in, ever [COM-1]; next: allow at least 1 call"))
              : err(Error(Errc::full,
                          "the bulkhead is full: as many calls run and wait as it was made for [COM-1]; next: try "
                          "again later, shed load, or raise BulkheadOptions"));
    return true;
  }
  static void left(const sync::Waiter& /*waiter*/) noexcept {}
  void take_back(const sync::Waiter& /*waiter*/) noexcept { serve(); }

 private:
  class EnterWait : public sync::LineWait<Bulkhead> {
   public:
    using LineWait::LineWait;
    [[nodiscard]] Place result() noexcept {
      use_grant();
      return Place(primitive());
    }

   protected:
    ~EnterWait() = default;
  };

  void give_back() noexcept {
    const sync::Line::Turn turn(line_);
    line_.writes();
    serve();
  }
  /// A place has come free: it is the next one's, or nobody's.
  void serve() noexcept {
    if (sync::Waiter* const waiter = line_.first()) {
      line_.grant(*waiter);
    } else {
      ++free_;
    }
  }

  sync::Line line_;
  BulkheadOptions options_;
  std::uint32_t free_;  // without those that are granted and not taken yet
};

inline cx::WaitFor<Bulkhead::EnterWait, const cx::Context*, Bulkhead*> Bulkhead::enter(CxOf<> cx) noexcept {
  return cx::WaitFor<EnterWait, const cx::Context*, Bulkhead*>(&cx::context_of(cx), this);
}

template <class... Caps, class F, class... Arguments>
auto Bulkhead::call(CxOf<Caps...> cx, F callable, Arguments... arguments)
    -> Task<cx::TaskValue<F, CxOf<Caps...>, Arguments...>> {
  const Place place = co_await enter(cx);
  if constexpr (std::is_void_v<cx::TaskValue<F, CxOf<Caps...>, Arguments...>>) {
    co_await callable(cx, std::move(arguments)...);
  } else {
    co_return co_await callable(cx, std::move(arguments)...);
  }
}

}  // namespace calm
