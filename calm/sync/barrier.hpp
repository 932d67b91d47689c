// barrier.hpp — a number of tasks wait for each other, again and again; one of each round is its leader.
// Laws:    CHN-12, CAN-13
// Threads: the tasks of one runtime, on any of its workers; see line.hpp
// Cancel:  a waiting arrive() leaves the line, and it is as if it had not arrived; who was let through is through
//
// A party that is cancelled and does not come again keeps the others waiting: cancel them too, as a scope does with its tasks.
#pragma once

#include <cstdint>

#include "calm/check/require.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/wait.hpp"
#include "calm/sync/line.hpp"

namespace calm {

class Barrier {
  class ArriveWait;

 public:
  /// Needs: the context of the code that makes it; at least one party; nobody waits when it ends.
  Barrier(CxOf<> cx, std::uint32_t parties) noexcept : line_(cx), parties_(parties) {
    CALM_REQUIRE(CHN_12, parties != 0);
  }
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;
  ~Barrier() = default;

  /// Ends when all parties have arrived. Gives: true for one of them, the last to come.
  cx::WaitFor<ArriveWait, const cx::Context*, Barrier*> arrive(CxOf<> cx) noexcept;

  /// Only looks. Gives: how many have arrived and wait.
  [[nodiscard]] std::uint32_t waiting() const noexcept {
    const sync::Line::Turn turn(line_);
    line_.reads();
    return line_.size();
  }

  // --- what a LineWait asks ---

  [[nodiscard]] sync::Line& line() noexcept { return line_; }
  /// The last of a round does not wait, so it cannot be cancelled: every round has its leader.
  [[nodiscard]] bool try_admit(const sync::Waiter& /*waiter*/, TaskId /*task*/) noexcept {
    if (line_.size() + 1 < parties_) return false;
    while (sync::Waiter* const next = line_.first()) {
      next->set_other_way();
      line_.grant(*next);
    }
    return true;
  }
  [[nodiscard]] static bool refuses(const sync::Waiter& /*waiter*/, TaskId /*task*/, ChildEnd& /*end*/) noexcept {
    return false;
  }
  static void left(const sync::Waiter& /*waiter*/) noexcept {}
  static void take_back(const sync::Waiter& /*waiter*/) noexcept {}

 private:
  class ArriveWait : public sync::LineWait<Barrier> {
   public:
    using LineWait::LineWait;
    bool result() noexcept {
      use_grant();
      return !is_other_way();  // those who had to wait are
    }

   protected:
    ~ArriveWait() = default;
  };

  sync::Line line_;
  std::uint32_t parties_;
};

inline cx::WaitFor<Barrier::ArriveWait, const cx::Context*, Barrier*> Barrier::arrive(CxOf<> cx) noexcept {
  return cx::WaitFor<ArriveWait, const cx::Context*, Barrier*>(&cx::context_of(cx), this);
}

}  // namespace calm
