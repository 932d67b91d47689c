#include "tests/watched_run.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "calm/cx/port.hpp"
#include "calm/kernel/quiescence.hpp"
#include "calm/runtime/control.hpp"
#include "calm/runtime/minder.hpp"
#include "calm/runtime/run.hpp"
#include "tests/both_worlds.hpp"
#include "tests/stderr_watch.hpp"

namespace calm {
namespace {

/// Minds a run from outside: stops it when that is asked for, does not let it be stuck for ever, and looks at its end.
class Keeper final : public runtime::RunWatch {
 public:
  Keeper(lab::Program& program, const WatchedRun& how, Watched& watched)
      : program_(program), how_(how), watched_(watched) {}
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  ~Keeper() = default;

  static cx::TaskRoot& make(cx::Port& port, void* context) {
    auto& keeper = *static_cast<Keeper*>(context);
    keeper.port_ = &port;
    return keeper.program_.make(port);
  }

  void began(runtime::Control& control, runtime::Minder& minder) override {
    thread_ = std::thread([this, &control, &minder] { mind(control, minder); });
  }

  /// All workers have left: nobody else touches the kernel.
  void ends() override {
    {
      const std::lock_guard hold(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
    with_kernel_of(*port_, [this](auto& kernel) { look_at(kernel); });
  }

 private:
  template <class Kernel>
  void look_at(Kernel& kernel) {
    kernel::Worker& worker = kernel.worker(0);
    watched_.end = kernel.end_of(worker, kernel.root()).value_or(ok());
    watched_.last = kernel.snapshot(worker);
    if (!kernel::quiescent(watched_.last)) watched_.not_quiet = kernel::diagnose(watched_.last);
    auto trace = kernel.trace();
    if (trace.is_ok()) {
      watched_.trace = std::move(trace).value();
    } else {
      watched_.not_quiet += "the trace cannot be put together: " + to_string(trace.error());
    }
  }

  void mind(runtime::Control& control, runtime::Minder& minder) {
    if (how_.stops_after && !over_within(*how_.stops_after)) minder.shut_down(Duration::seconds(1000));
    if (over_within(how_.patience)) return;
    std::fprintf(stderr, "calm: %s on %u workers is stuck, in the %s way\n%s\n", how_.title.c_str(),
                 unsigned{how_.workers}, std::string(to_string(how_.way)).c_str(), control.inspect().c_str());
    std::abort();
  }
  bool over_within(Duration time) {
    std::unique_lock hold(mutex_);
    return changed_.wait_for(hold, std::chrono::nanoseconds(time.ns()), [this] { return over_; });
  }

  lab::Program& program_;
  const WatchedRun& how_;
  Watched& watched_;
  cx::Port* port_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;  // under the mutex
  std::thread thread_;
};

}  // namespace

Watched run_watched(lab::Program& program, const WatchedRun& how) {
  Watched watched;
  RunOptions options = options_for(how.way, how.workers, how.seed);
  options.kernel = how.kernel;
  options.kernel.trace_capacity = std::uint64_t{1} << 14U;
  const StderrWatch said;
  Keeper keeper(program, how, watched);
  const Outcome<void> ran = runtime::run_here(options, &Keeper::make, &keeper, &keeper);
  if (!ran.is_ok()) watched.not_quiet = "it did not run: " + to_string(ran);
  watched.said = said.said();
  return watched;
}

}  // namespace calm
