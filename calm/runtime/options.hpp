// options.hpp — what a runtime is started with.
// Laws:    SHD-1 (nothing of it changes after the start), SCH-3 (the governor), SCH-7 (the seed), QUI-3, TMR-6
// Threads: values
// Cancel:  not applicable
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "calm/clock/coalescing.hpp"
#include "calm/kernel/config.hpp"
#include "calm/model/time.hpp"
#include "calm/runtime/record_options.hpp"

namespace calm::sched {
class Governor;
}  // namespace calm::sched

namespace calm {

/// Which words tasks are made of.
enum class Flavour : std::uint8_t {
  automatic,       ///< as many as there are workers ask for
  current_thread,  ///< everything on the calling thread, and nothing that only several threads need; one worker
  multi_worker,    ///< words that several threads may use, with one worker too
};

/// What happens when a shutdown, or a poll, takes longer than it may (QUI-3).
enum class OnStall : std::uint8_t {
  report,  ///< what keeps it is told on standard error, and the run goes on until it is quiet
  abort,   ///< the same, and the process ends
};

/// So long a poll may take before it is told, where RunOptions::stall_limit says nothing.
inline constexpr Duration default_stall_limit = Duration::seconds(1);

/// For RunOptions::workers: as many workers as there are cores.
inline constexpr std::uint16_t every_core = UINT16_MAX;

/// Of the threads for calls that block (IO-4); there are none before the first call.
struct BlockingOptions {
  std::uint32_t threads_max = 64;
  std::uint32_t queue_max = 65'536;            ///< so many calls wait for a thread; beyond it resource_exhausted
  Duration idle_time = Duration::seconds(10);  ///< after so long without a call a thread ends
};

/// What a worker without work does before it sleeps (SCH-6).
struct BackOff {
  /// So often at most it looks again at once: half as often after each time that it found nothing, down to once, and as often
  /// as it may again when it has found something;
  std::uint8_t spins = 8;
  std::uint8_t yields = 2;  ///< and then so often when other threads have had the processor

  friend constexpr bool operator==(const BackOff&, const BackOff&) noexcept = default;
};

struct RunOptions {
  kernel::Config kernel{};  ///< its `workers` is set by what follows
  /// The calling thread is the first of them. 0: as many as CALM_WORKERS in the environment says, else one.
  std::uint16_t workers = 0;
  Flavour flavour = Flavour::automatic;
  std::uint64_t seed = 0;  ///< of `Cx` entropy and of who is stolen from; 0: another one every time
  /// Suggests each worker an order among cancelled tasks, deadlines and priorities: sched::find_governor("lyapunov"); an
  /// inspection shows what it said. None: nobody is asked, and nothing is counted for it.
  const sched::Governor* governor = nullptr;
  std::string_view name = "calm";  ///< of the threads that are started, with a number; 11 characters are seen
  /// Polls that take less on average stay on their worker, however many wait there: moving them to another core costs more.
  /// Longer ones are shared; where workers then take tasks and locks away from each other all the time, one of them works
  /// alone for a while. 0: everything is shared, always.
  Duration worth_sharing = Duration::nanoseconds(300);
  /// With several workers: what waits for one that is in the same poll for so long is taken over by another one, with its
  /// timers. Fibers, and tasks with open fibers, stay where they are. 0, and in a run that is recorded: nobody does.
  Duration rescue_after = Duration::milliseconds(10);
  BackOff back_off{};  ///< more of it costs processor time whenever work runs out
  /// Each thread that is started stays on one core: that of worker n, from 1 on, on the n-th after the first of those that the
  /// caller may use, counted around. The calling thread, worker 0, stays as it is.
  bool pin_to_cores = false;
  std::size_t stack_bytes = 0;  ///< of the threads that are started; 0: what the system gives

  /// SIGINT and SIGTERM become a Shutdown of the program; a second one ends the process, after what keeps the program
  /// was told. SIGUSR1 shows its tasks on standard error. One run of a process at a time may have them.
  bool signals = false;
  /// A poll that takes longer is told on standard error, with its task and site. 0: nobody looks. When nothing is said it is
  /// default_stall_limit; one worker is then looked at from the end of the main task on, or once the program is to stop, since
  /// who looks is a thread.
  std::optional<Duration> stall_limit{};
  Duration shutdown_time = Duration::seconds(30);  ///< a shutdown may take so long before its stragglers are told
  OnStall on_stall = OnStall::report;              ///< of a poll: where stall_limit says how long it may take
  /// std::terminate() in a task, by a destructor that throws for example, first tells on standard error which task that is, where it
  /// stands and what was thrown (OUT-5); then the handler is called that the program had.
  bool tells_terminate = false;

  /// Sleeps, ticks, timeouts and deadlines of contexts on one worker may wait for each other, so that it wakes once for many of
  /// them (TMR-6); never early. The deadline that a task was spawned with does not wait. Off unless a window is given.
  clock::Coalescing coalescing{};

  BlockingOptions blocking{};
  RecordOptions record{};  ///< for a run that the lab is to make again (SCH-9)
};

}  // namespace calm
