// stall_watch.hpp — finds polls that do not end: the same one seen for longer than a poll may take.
// Laws:    GHO-3, IO-4, QUI-3, SCH-6 (whose work others take over)
// Threads: one at a time
// Cancel:  not applicable
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "calm/model/time.hpp"
#include "calm/runtime/poll_watch.hpp"

namespace calm::runtime {

class StallWatch {
 public:
  struct Limits {
    Duration tell{};    ///< a poll that takes longer is told; 0: none is
    Duration rescue{};  ///< who is in one poll for so long counts as stuck; 0: nobody does
  };
  /// Needs: the watches outlive this.
  StallWatch(std::vector<const PollWatch*> workers, Limits limits);

  /// Looks at all workers. Gives: what there is to say of polls that have just become too long, a line each with its newline;
  ///        each of them is told once.
  [[nodiscard]] std::string look(Time now);

  struct Stuck {
    std::size_t worker;
    std::uint64_t round;  ///< of the worker, that has this poll
  };
  /// Gives: who was stuck at the last look.
  [[nodiscard]] const std::vector<Stuck>& stuck() const noexcept { return stuck_; }

  /// Gives: true when a worker was awake at the last look: there will be something to look at again.
  [[nodiscard]] bool saw_work() const noexcept { return saw_work_; }
  /// Gives: how long to wait until the next look, so that a stall is told before it lasts half as long again.
  [[nodiscard]] Duration pause() const noexcept;

 private:
  struct Seen {
    std::uint64_t round = 0;
    Time since{};
    bool told = false;
  };

  std::vector<const PollWatch*> workers_;
  std::vector<Seen> seen_;
  std::vector<Stuck> stuck_;
  Limits limits_;
  bool saw_work_ = false;
};

}  // namespace calm::runtime
