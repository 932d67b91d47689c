// explore_progress.hpp — a long exploration tells how far it is, ends when it is asked to, and goes on later.
// Laws:    LAB-5
// Threads: the main thread; the flag is set by a signal
// Cancel:  Ctrl-C ends the exploration and not the program
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "calm/explore/optimal.hpp"

namespace calm::tool {

/// While it lives, Ctrl-C ends the exploration and not the program: what was found by then is shown.
class Interruptible {
 public:
  Interruptible() noexcept;
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  ~Interruptible();

  /// Gives: the flag that is set.
  [[nodiscard]] static const std::atomic<bool>& flag() noexcept;

 private:
  void (*before_)(int);
};

/// Tells on standard error how far it has come, once a second: executions, rate, how many there may be and the time left.
class Progress final : public explore::Listener {
 public:
  /// `known`: how many executions there are, 0 when nobody knows. Without `always` it tells only where a person looks on.
  Progress(std::uint64_t known, bool always) noexcept;

  void ended(const explore::Execution& execution, bool deadlock) override;
  void expects(double executions) override { expected_ = executions; }
  /// So many executions were made before, by another process.
  void begin_at(std::uint64_t executions) noexcept { before_ = executions; }

 private:
  using Clock = std::chrono::steady_clock;

  std::uint64_t known_;
  bool tells_;
  double expected_ = 0;
  std::uint64_t before_ = 0;
  std::uint64_t count_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point told_ = start_;
};

/// Files of an exploration that is made in parts; empty for none.
struct ExploreFiles {
  std::string resume;  ///< where to go on
  std::string save;    ///< where to keep what is left when it is stopped
};

/// Explores, going on from a file and leaving one when it is stopped. `name` says which program it is, with its parameters.
/// Fails: Refused when a file cannot be read or written, is damaged, or is of another program.
explore::Report explore_in_parts(explore::Program& program, const explore::Options& options, Progress& progress,
                                 const std::string& name, const ExploreFiles& files);

}  // namespace calm::tool
