// kept_events.hpp — the whole trace of a run, taken from a ring that is small.
// Laws:    LAB-2
// Threads: one, the worker's
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <vector>

#include "calm/kernel/worker.hpp"
#include "calm/trace/reader.hpp"

namespace calm::lab {

/// In parts: one vector that grows would be copied again and again.
class KeptEvents {
 public:
  /// Takes what is new in the ring, before it can be overwritten, when that is enough for a part.
  void keep_if_many(kernel::Worker& worker);

  /// Gives: all events up to now; those that a single step wrote beyond the ring's capacity are counted as overwritten.
  [[nodiscard]] trace::Trace take(kernel::Worker& worker);

 private:
  void keep(kernel::Worker& worker);

  std::vector<std::vector<trace::Event>> parts_;
  std::uint64_t overwritten_ = 0;
  std::uint64_t kept_ = 0;  // the last event in the parts
};

}  // namespace calm::lab
