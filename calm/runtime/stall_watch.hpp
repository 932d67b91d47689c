// stall_watch.hpp — finds polls that do not end: the same one seen for longer than a poll may take.
// Laws:    GHO-3, IO-4, QUI-3
// Threads: one at a time
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calm/model/time.hpp"
#include "calm/runtime/poll_watch.hpp"

namespace calm::runtime {

class StallWatch {
 public:
  /// Needs: the watches outlive this.
  StallWatch(std::vector<const PollWatch*> workers, Duration limit);

  /// Looks at all workers. Gives: what there is to say of polls that have just become too long, a line each with its newline;
  ///        each of them is told once.
  [[nodiscard]] std::string look(Time now);

  /// Gives: true when a worker was awake at the last look: there will be something to look at again.
  [[nodiscard]] bool saw_work() const noexcept { return saw_work_; }
  /// Gives: how long to wait until the next look, so that a stall is told before it lasts half as long again.
  [[nodiscard]] Duration pause() const noexcept { return Duration::nanoseconds(limit_.ns() / 4 + 1); }

 private:
  struct Seen {
    std::uint64_t number = 0;
    Time since{};
    bool told = false;
  };

  std::vector<const PollWatch*> workers_;
  std::vector<Seen> seen_;
  Duration limit_;
  bool saw_work_ = false;
};

}  // namespace calm::runtime
