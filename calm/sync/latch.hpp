// latch.hpp — lets tasks wait until a number of things have been done; then it stays open.
// Laws:    CHN-12, CAN-13
// Threads: the tasks of one runtime, on any of its workers; see line.hpp
// Cancel:  a waiting wait() leaves the line; what was counted down stays so
#pragma once

#include <cstdint>

#include "calm/check/require.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/wait.hpp"
#include "calm/sync/line.hpp"

namespace calm {

class Latch {
  class LatchWait;

 public:
  /// Needs: the context of the code that makes it; nobody waits when it ends. With 0 it is open.
  Latch(CxOf<> cx, std::uint32_t count) noexcept : line_(cx), left_(count) {}
  Latch(const Latch&) = delete;
  Latch& operator=(const Latch&) = delete;
  ~Latch() = default;

  /// So many are done. Needs: not more than are left.
  void count_down(std::uint32_t count = 1) noexcept {
    const sync::Line::Turn turn(line_);
    CALM_REQUIRE(CHN_12, count <= left_, count, left_);
    line_.writes();
    left_ -= count;
    if (left_ != 0) return;
    while (sync::Waiter* const next = line_.first()) line_.grant(*next);
  }

  /// Ends when nothing is left to be done.
  cx::WaitFor<LatchWait, const cx::Context*, Latch*> wait(CxOf<> cx) noexcept;

  /// Only looks.
  [[nodiscard]] std::uint32_t remaining() const noexcept {
    const sync::Line::Turn turn(line_);
    line_.reads();
    return left_;
  }

  // --- what a LineWait asks ---

  [[nodiscard]] sync::Line& line() noexcept { return line_; }
  [[nodiscard]] bool try_admit(const sync::Waiter& /*waiter*/, TaskId /*task*/) const noexcept { return left_ == 0; }
  [[nodiscard]] static bool refuses(const sync::Waiter& /*waiter*/, TaskId /*task*/, ChildEnd& /*end*/) noexcept {
    return false;
  }
  static void left(const sync::Waiter& /*waiter*/) noexcept {}
  static void take_back(const sync::Waiter& /*waiter*/) noexcept {}

 private:
  class LatchWait : public sync::LineWait<Latch> {
   public:
    using LineWait::LineWait;
    void result() noexcept { use_grant(); }

   protected:
    ~LatchWait() = default;
  };

  sync::Line line_;
  std::uint32_t left_;
};

inline cx::WaitFor<Latch::LatchWait, const cx::Context*, Latch*> Latch::wait(CxOf<> cx) noexcept {
  return cx::WaitFor<LatchWait, const cx::Context*, Latch*>(&cx::context_of(cx), this);
}

}  // namespace calm
