// minder.hpp — a thread beside the workers that minds what they cannot: signals, polls that do not end, a shutdown that takes too long.
// Laws:    QUI-2, QUI-3, GHO-3, SCH-6 (who is stuck is rescued), SCH-8 (it sleeps until there is something to mind)
// Threads: shut_down() anywhere
// Cancel:  a signal, or shut_down(), cancels the root with Shutdown
#pragma once

#include <semaphore.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <semaphore>
#include <thread>

#include "calm/lockfree/vigil.hpp"
#include "calm/model/error_code.hpp"
#include "calm/model/time.hpp"
#include "calm/runtime/control.hpp"
#include "calm/runtime/engine.hpp"
#include "calm/runtime/options.hpp"
#include "calm/runtime/stall_watch.hpp"

namespace calm::runtime {

class Minder {
 public:
  Minder(const RunOptions& options, Control& control);
  Minder(const Minder&) = delete;
  Minder& operator=(const Minder&) = delete;
  ~Minder();

  /// Takes the signals of the process over, where the options say so.
  /// Fails: busy when another run has them.
  Status take_signals();

  /// Makes its thread, which keeps what it is told until begin(). After all that says "before", by one at a time.
  /// Fails: resource_exhausted.
  Status start();
  /// The run can be reached by the control: a signal that came before that is heard now (QUI-2).
  void begin() noexcept;
  /// It minds nothing any more. Before what it minds is gone.
  void dismiss() noexcept;

  /// Watches that polls end, as the options say, and has those rescued that are stuck where they say so; without `at_once` from
  /// main_has_ended() or the first request to stop on, and not where nobody is to look. Before the run begins.
  void watch_polls(Engine& engine, bool rescues, bool at_once);
  /// The main task has ended, and something is left. By the thread that began the run: it has a thread from now on.
  void main_has_ended() noexcept;
  /// A worker has work again: there may be polls to watch. Anywhere.
  void work_begins() noexcept;

  /// The program is to stop; its stragglers are told after so long.
  void shut_down(Duration within) noexcept;

 private:
  static constexpr std::uint32_t stop = 1;       ///< first SIGINT or SIGTERM, or shut_down()
  static constexpr std::uint32_t stop_now = 2;   ///< the second signal
  static constexpr std::uint32_t show = 4;       ///< SIGUSR1
  static constexpr std::uint32_t dismissed = 8;  ///< the run has ended
  static constexpr std::uint32_t look = 16;      ///< there are polls to watch
  static constexpr std::uint32_t ending = 32;    ///< main_has_ended()

  static void on_signal(int number) noexcept;

  void call(std::uint32_t what) noexcept;
  void mind();
  void sleep() noexcept;
  void begin_shutdown();
  void watch_from_now_on();
  void tell_stragglers(const char* why);
  void look_at_polls();

  const RunOptions& options_;
  Control& control_;
  sem_t bell_{};
  std::atomic<std::uint32_t> calls_{0};
  std::atomic<int> signal_{0};  // the last one that asked for the end
  std::atomic<std::int64_t> within_ns_;
  std::optional<Time> told_by_;  // of the monotonic clock, as all times here
  StallWatch stalls_{{}, {}};
  Engine* engine_ = nullptr;    // where polls are watched, at once or later
  bool watches_ = false;        // they are by now
  bool watches_later_ = false;  // fixed when the run begins
  std::optional<Time> look_at_;
  lockfree::Vigil<> vigil_;  // it sleeps while no worker has work
  bool has_signals_ = false;
  std::binary_semaphore begins_{0};
  bool has_begun_ = false;
  std::thread thread_;
};

}  // namespace calm::runtime
