// stall_watch.hpp — finds polls that do not end: the same one seen for longer than a poll may take.
// Laws:    GHO-3, IO-4, QUI-3, SCH-6 (whose work others take over)
// Threads: one at a time
// Cancel:  not applicable
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "calm/kernel/worker.hpp"
#include "calm/model/time.hpp"
#include "calm/runtime/poll_watch.hpp"

namespace calm::runtime {

/// What to do about a poll that does not end.
inline constexpr std::string_view stall_advice =
    "await or co_await checkpoint(cx) in its loops, or give blocking work to calm::blocking";

class StallWatch {
 public:
  struct Limits {
    Duration tell{};    ///< a poll that takes longer is told; 0: none is
    Duration rescue{};  ///< who is in one poll for so long counts as stuck; 0: nobody does
  };
  /// Needs: the watches outlive this.
  StallWatch(std::vector<const PollWatch*> workers, Limits limits);

  /// Looks at all workers, and remembers since when each is in its poll.
  void see(Time now);
  /// Gives: true when at the last look each worker had been in one poll for so long: none is free for anything else.
  [[nodiscard]] bool all_last(Duration duration) const noexcept;
  /// Gives: who had been in one poll for so long at the last look, each behind `lead`: its task, its worker, how long, since which await.
  [[nodiscard]] std::string who_lasts(Duration duration, std::string_view lead) const;

  /// The same as see(). Gives: what there is to say of polls that have just become too long, a line each with its newline;
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
    kernel::Worker::Look poll{};
    Time since{};
    bool told = false;
  };

  [[nodiscard]] bool lasts(const Seen& seen, Duration duration) const noexcept;
  [[nodiscard]] std::string sentence(std::size_t worker) const;

  std::vector<const PollWatch*> workers_;
  std::vector<Seen> seen_;
  std::vector<Stuck> stuck_;
  Limits limits_;
  Time now_{};  // of the last look
  bool saw_work_ = false;
};

}  // namespace calm::runtime
