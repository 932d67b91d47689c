// news.hpp — what watch and broadcast share: those who wait for something new are all told at once, and so is the end.
// Laws:    CHN-11, CHN-4
// Threads: the tasks of one runtime, on any of its workers; see sync/line.hpp
// Cancel:  the waiter leaves the line; there is nothing to pass on: all were told
#pragma once

#include <cstdint>
#include <utility>

#include "calm/channel/hold.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/task_root.hpp"
#include "calm/model/outcome.hpp"
#include "calm/sync/line.hpp"

namespace calm::channel {

template <class State>
class NewsWait;

/// The line of those who wait for news. `State` derives from it and says
///   has_news(at)   whether there is something new for who stands at `at`; asked outside a turn too
///   has_ended()    whether nothing will come any more
template <class State>
class News : public Held {
 public:
  // --- HasLine ---

  [[nodiscard]] sync::Line& line() noexcept { return line_; }
  [[nodiscard]] const sync::Line& line() const noexcept { return line_; }
  [[nodiscard]] bool try_admit(const sync::Waiter& waiter, TaskId /*task*/) noexcept {
    return static_cast<const NewsWait<State>&>(waiter).has_news();
  }
  [[nodiscard]] bool refuses(const sync::Waiter& /*waiter*/, TaskId /*task*/, ChildEnd& end) const noexcept {
    const bool ended = static_cast<const State&>(*this).has_ended();
    if (ended) end = err(Errc::disconnected);
    return ended;
  }
  void left(const sync::Waiter& /*waiter*/) noexcept {}
  void take_back(const sync::Waiter& /*waiter*/) noexcept {}

 protected:
  ~News() = default;

  /// Needs: a turn.
  void wake_all() noexcept {
    line_.writes();
    while (!line_.empty()) line_.grant(*line_.first());
  }

 private:
  friend State;  // only as its base
  explicit News(CxOf<> cx) noexcept : Held(cx::context_of(cx).root()->port().is_shared()), line_(cx) {}

  sync::Line line_;
};

/// Waits for something new to who stands at `*at`, which stays where it is until then. Fails: disconnected when it was woken
/// by the end. Who derives from it adds `result()`, which calls use_grant() and moves on.
template <class State>
class NewsWait : public sync::LineWait<State> {
 public:
  NewsWait(const cx::Context* context, Hold<State> state, std::uint64_t* at) noexcept
      : sync::LineWait<State>(context, &*state), state_(std::move(state)), at_(at) {}

  cx::WaitState step(cx::TaskRoot& root, ChildEnd& end) noexcept override {
    const cx::WaitState state = sync::LineWait<State>::step(root, end);
    if (state != cx::WaitState::ready || has_news()) return state;
    this->use_grant();  // woken by the end
    end = err(Errc::disconnected);
    return cx::WaitState::failed;
  }
  [[nodiscard]] bool has_news() const noexcept { return state_->has_news(*at_); }

 protected:
  ~NewsWait() { sync::LineWait<State>::abandon(); }

  [[nodiscard]] State& state() const noexcept { return *state_; }
  [[nodiscard]] std::uint64_t& at() const noexcept { return *at_; }

 private:
  Hold<State> state_;
  std::uint64_t* at_;
};

}  // namespace calm::channel
