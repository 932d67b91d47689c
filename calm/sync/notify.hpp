// notify.hpp — wakes tasks that wait for something to happen: one of them, or all.
// Laws:    CHN-12, CAN-13
// Threads: the tasks of one runtime, on any of its workers; see line.hpp
// Cancel:  a waiting wait() leaves the line; a wake of one that was not taken goes to the next, or is kept
//
// notify_one() is never lost: when nobody waits, the next who comes does not wait. It is kept once, however often it was
// said. notify_all() is for those who wait now, and nothing of it is kept.
#pragma once

#include <cstdint>
#include <utility>

#include "calm/cx/cx.hpp"
#include "calm/cx/wait.hpp"
#include "calm/sync/line.hpp"

namespace calm {

class Notify {
  class NotifyWait;

 public:
  /// Needs: the context of the code that makes it; nobody waits when it ends.
  explicit Notify(CxOf<> cx) noexcept : line_(cx) {}
  Notify(const Notify&) = delete;
  Notify& operator=(const Notify&) = delete;
  ~Notify() = default;

  /// Ends with the next notify_one() that is this one's turn, with notify_all(), or at once when a notify_one() is kept.
  cx::WaitFor<NotifyWait, const cx::Context*, Notify*> wait(CxOf<> cx) noexcept;

  /// Wakes who waits longest; when nobody does, the next who comes.
  void notify_one() noexcept {
    const sync::Line::Turn turn(line_);
    line_.writes();
    wake_one();
  }
  /// Wakes all who wait.
  void notify_all() noexcept {
    const sync::Line::Turn turn(line_);
    line_.writes();
    while (sync::Waiter* const next = line_.first()) {
      next->set_other_way();
      line_.grant(*next);
    }
  }

  // --- what a LineWait asks ---

  [[nodiscard]] sync::Line& line() noexcept { return line_; }
  [[nodiscard]] bool try_admit(const sync::Waiter& /*waiter*/, TaskId /*task*/) noexcept {
    return std::exchange(kept_, false);
  }
  [[nodiscard]] static bool refuses(const sync::Waiter& /*waiter*/, TaskId /*task*/, ChildEnd& /*end*/) noexcept {
    return false;
  }
  static void left(const sync::Waiter& /*waiter*/) noexcept {}
  void take_back(const sync::Waiter& waiter) noexcept {
    if (!waiter.is_other_way()) wake_one();  // that was for one, and not for all
  }

 private:
  class NotifyWait : public sync::LineWait<Notify> {
   public:
    using LineWait::LineWait;
    void result() noexcept { use_grant(); }

   protected:
    ~NotifyWait() = default;
  };

  void wake_one() noexcept {
    if (line_.empty()) {
      kept_ = true;
    } else {
      line_.grant(*line_.first());
    }
  }

  sync::Line line_;
  bool kept_ = false;  // CHN-12: never while somebody waits
};

static_assert(sizeof(sync::LineWait<Notify>) == 5 * sizeof(void*), "what a frame has for a wait in line");

inline cx::WaitFor<Notify::NotifyWait, const cx::Context*, Notify*> Notify::wait(CxOf<> cx) noexcept {
  return cx::WaitFor<NotifyWait, const cx::Context*, Notify*>(&cx::context_of(cx), this);
}

}  // namespace calm
