#include "calm/runtime/run.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "calm/runtime/control.hpp"
#include "calm/runtime/machine_host.hpp"
#include "calm/runtime/minder.hpp"
#include "calm/runtime/recorder.hpp"
#include "calm/runtime/terminate_teller.hpp"

namespace calm::runtime {
namespace {

constinit thread_local kernel::Worker* this_worker = nullptr;
constinit thread_local Engine* this_engine = nullptr;

template <lockfree::AtomicsPolicy Atomics>
Outcome<void> run_on(const RunOptions& options, std::uint16_t workers, MakeRoot make, void* context, RunWatch* watch) {
  Control control;
  std::optional<TerminateTeller> teller;
  if (options.tells_terminate) teller.emplace();
  Minder minder(options, control);  // outlives the threads that call it
  std::unique_ptr<Recorder> recorder;
  if (options.record.is_wanted()) {
    auto made = Recorder::make(options, workers, Atomics::shared && workers > 1);
    if (!made) return err(std::move(made).error());
    recorder = std::move(made).value();
  }
  Machine<Atomics> machine(options, workers);
  if (auto prepared = machine.prepare(); !prepared) return prepared;
  if (!minder.take_signals()) {
    return err(Errc::busy,
               "another run of this process has the signals; next: leave RunOptions::signals to one of them");
  }
  // Where a run is recorded its workers take turns: one that waits for its turn looks as one that is stuck.
  const bool rescues = workers > 1 && options.rescue_after.ns() > 0 && !recorder;
  // A second thread makes memory dearer: where one worker does not ask for it, there is none before the end.
  const bool watches_at_once = options.stall_limit ? options.stall_limit->ns() > 0 || rescues : workers > 1;
  minder.watch_polls(machine, rescues, watches_at_once);
  machine.tell(minder);
  if (recorder) machine.record_to(*recorder);
  if (auto started = machine.start(); !started) return started;
  const bool is_reachable = options.signals || watch != nullptr;
  if (is_reachable || watches_at_once) {
    if (const Status minded = minder.start(); !minded)
      return err(minded.error(), "the minder's thread was not started");
  }
  if (const Status begun = machine.begin(make(machine.port(), context)); !begun)
    return err(begun.error(), "the main task was not admitted");
  control.attach(machine, is_reachable);
  minder.begin();
  if (watch != nullptr) watch->began(control, minder);
  machine.run();
  if (watch != nullptr) watch->ends();
  control.detach();
  minder.dismiss();
  return ok();
}

constexpr std::uint16_t too_many = Beds::worker_max + 1;

/// Gives: how many workers the environment asks for: a number, or `all` for every core; too_many for any that is larger than
///        there may be; 0 when it says something else.
std::uint16_t workers_of(std::string_view text) {
  if (text == "all") return every_core;
  std::uint16_t workers = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), workers);
  if (end != text.data() + text.size()) return 0;
  if (error == std::errc::result_out_of_range) return too_many;
  return error == std::errc() ? std::min(workers, too_many) : 0;
}

/// Fails: invalid_argument.
Outcome<std::uint16_t> worker_count(const RunOptions& options) {
  std::uint16_t workers = options.workers;
  if (workers == 0) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): only a program that changes its environment meanwhile would notice
    const char* const asked = options.flavour == Flavour::current_thread ? nullptr : std::getenv("CALM_WORKERS");
    workers = asked == nullptr ? 1 : workers_of(asked);
    if (workers == 0) {
      return err(Errc::invalid_argument,
                 "CALM_WORKERS is neither a number of workers nor `all`; next: set it to 1, or unset it");
    }
  }
  if (workers == every_core) {
    workers =
        static_cast<std::uint16_t>(std::clamp(std::thread::hardware_concurrency(), 1U, unsigned{Beds::worker_max}));
  }
  if (workers > Beds::worker_max) {
    static_assert(Beds::worker_max == 56, "the text says so");
    return err(Errc::invalid_argument,
               "a runtime has at most 56 workers; next: set RunOptions::workers or CALM_WORKERS to that or less, or to "
               "all cores");
  }
  if (options.flavour == Flavour::current_thread && workers != 1) {
    return err(Errc::invalid_argument,
               "everything on the calling thread is one worker; next: leave the flavour to the number of workers");
  }
  return ok(workers);
}

}  // namespace

kernel::Worker*& worker_of_this_thread() noexcept { return this_worker; }
Engine*& engine_of_this_thread() noexcept { return this_engine; }

int exit_status(const ChildEnd& end) {
  if (end.is_ok()) return 0;
  std::fprintf(stderr, "calm: the program ended as %s\n", end.explain().c_str());
  return static_cast<int>(end.kind());
}

Outcome<void> run_here(RunOptions options, MakeRoot make, void* context, RunWatch* watch) {
  const auto counted = worker_count(options);
  if (!counted) return err(counted.error());
  const std::uint16_t workers = counted.value();
  if (!clock::is_valid(options.coalescing)) {
    return err(Errc::invalid_argument,
               "timers wait for each other within a window of 0 to 24 h, in groups of 1 or more (TMR-6); next: give "
               "RunOptions::coalescing such a window and group_min");
  }
  if (options.seed == 0) options.seed = std::random_device()() | std::uint64_t{std::random_device()()} << 32U;
  const bool shared = workers > 1 || options.flavour == Flavour::multi_worker;
  return shared ? run_on<lockfree::RealAtomics>(options, workers, make, context, watch)
                : run_on<lockfree::LocalAtomics>(options, workers, make, context, watch);
}

}  // namespace calm::runtime
