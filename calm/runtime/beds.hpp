// beds.hpp — where the workers of one runtime sleep, and whom to wake.
// Laws:    SCH-6 (back-off and park), SCH-8 (who sleeps uses no CPU)
// Threads: search(), lie_down(), get_up() and sleep() by the worker itself; the rest anywhere
// Cancel:  not applicable
//
// What must be seen by a worker before it sleeps is written before call…() and read after lie_down(): see idle_set.hpp.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>

#include "calm/lockfree/idle_set.hpp"
#include "calm/lockfree/parker.hpp"

namespace calm::runtime {

class Beds {
 public:
  static constexpr std::uint16_t worker_max = lockfree::IdleSet<>::worker_max;

  explicit Beds(std::uint16_t workers) : workers_(workers), parkers_(std::make_unique<Padded[]>(workers)) {}

  // --- a worker ---

  /// Gives: true when it may look for work at others; false when enough do.
  [[nodiscard]] bool search() noexcept { return workers_ > 1 && idle_.begin_search(workers_); }
  /// It has found work. Gives: true when nobody searches now: another one is to be called if there is more.
  [[nodiscard]] bool end_search() noexcept { return idle_.end_search(); }
  /// It will sleep, and may be called from now on. Gives: true when nobody searches now: it must look everywhere once more.
  [[nodiscard]] bool lie_down(std::uint16_t worker, bool searching, std::uint64_t now_ns) noexcept {
    return idle_.begin_park(worker, searching, now_ns);
  }
  /// It sleeps no more, or not at all. Gives: true when it was called: it is searching.
  [[nodiscard]] bool get_up(std::uint16_t worker) noexcept { return !idle_.leave(worker); }
  /// Needs: lying. Returns when it was called, or at that time of the monotonic clock.
  void sleep(std::uint16_t worker, std::uint64_t until_ns) noexcept { (void)parkers_[worker].parker.park(until_ns); }

  // --- who has work for others ---

  /// Wakes one, unless one searches or all are awake. Gives: true when it did.
  bool call_one() noexcept { return unpark(idle_.wake_one()); }
  /// The same for a worker with work of its own, which will not sleep before it is done.
  bool call_help() noexcept { return unpark(idle_.wake_one_to_help()); }
  /// Wakes this one, or spares it its next sleep.
  void call(std::uint16_t worker) noexcept { parkers_[worker].parker.unpark(); }
  void call_all() noexcept {
    for (std::uint64_t who = idle_.wake_all(); who != 0; who &= who - 1) {
      call(static_cast<std::uint16_t>(std::countr_zero(who)));
    }
  }

  /// Gives: true when all lie down, a moment ago.
  [[nodiscard]] bool all_lie() const noexcept { return idle_.sleepers() == workers_; }

 private:
  struct alignas(128) Padded {
    lockfree::Parker<> parker;
  };

  bool unpark(std::optional<lockfree::IdleSet<>::Index> who) noexcept {
    if (who) call(static_cast<std::uint16_t>(*who));
    return who.has_value();
  }

  std::uint16_t workers_;
  lockfree::IdleSet<> idle_;
  std::unique_ptr<Padded[]> parkers_;
};

}  // namespace calm::runtime
