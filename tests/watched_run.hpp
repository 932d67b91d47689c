// watched_run.hpp — a program on the production runtime, and everything that can be known of it when it is over.
// Laws:    QUI-1, QUI-3, LAB-1 (a program of the lab is one of threads)
// Threads: run_watched() by one thread at a time in a process: what is said on standard error is read
// Cancel:  a shutdown from another thread, where it is asked for
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "calm/kernel/config.hpp"
#include "calm/kernel/snapshot.hpp"
#include "calm/lab/program.hpp"
#include "calm/model/fold.hpp"
#include "calm/model/time.hpp"
#include "calm/trace/reader.hpp"
#include "tests/run_way.hpp"

namespace calm {

struct WatchedRun {
  std::uint16_t workers = 1;
  RunWay way = RunWay::shared;
  std::uint64_t seed = 1;
  kernel::Config kernel{};
  std::optional<Duration> stops_after{};  ///< a thread outside shuts it down
  std::string title{};                    ///< of the program, for who finds it stuck
  Duration patience =
      Duration::seconds(120);  ///< after so long it is taken for stuck: it is shown, and the process ends
};

/// What is known of a run that is over.
struct Watched {
  ChildEnd end = ok();      ///< of the root region
  kernel::Snapshot last{};  ///< when all workers had left
  trace::Trace trace{};
  std::string said{};       ///< on standard error
  std::string not_quiet{};  ///< why it was not quiet at its end (QUI-1); empty when it was
};

/// Runs the program to its end.
Watched run_watched(lab::Program& program, const WatchedRun& how);

}  // namespace calm
