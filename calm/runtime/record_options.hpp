// record_options.hpp — where a run is recorded to, for the lab to make it again.
// Laws:    SCH-9
// Threads: values; a sink is written to by one thread at a time
// Cancel:  not applicable
#pragma once

#include <string_view>

namespace calm {

/// Takes a recording piece by piece, in order, from whichever worker has something to write.
class RecordSink {
 public:
  RecordSink(const RecordSink&) = delete;
  RecordSink& operator=(const RecordSink&) = delete;

  /// Gives: false when it cannot take the piece: the recording ends there, and the run goes on without.
  virtual bool write(std::string_view piece) noexcept = 0;

 protected:
  RecordSink() noexcept = default;
  ~RecordSink() = default;
};

/// The scheduling choices of a run and what came in from outside, as sched/recorded_run.hpp says. While a run is recorded its
/// workers poll one at a time, in turns, so that there is one order of all that happened. Everything else is as ever.
struct RecordOptions {
  std::string_view file{};     ///< is written anew; empty: none
  RecordSink* sink = nullptr;  ///< takes it in place of a file; outlives the run
  std::string_view program{};  ///< a name for it, one word, by which `calm replay` finds examples
  /// Every step is written before it is made. Slow; for a program that crashes: what it wrote is read with sched::Cut::accept.
  bool at_once = false;

  [[nodiscard]] constexpr bool is_wanted() const noexcept { return sink != nullptr || !file.empty(); }
};

}  // namespace calm
